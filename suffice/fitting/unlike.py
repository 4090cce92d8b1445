"""What to look at in the data: sites and folds that were left out, rows and sites with most of the loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.simulate.data.folds import FOLDS

if TYPE_CHECKING:
    from suffice.simulate.data.encoding import Encoding
    from suffice.simulate.data.site_rows import Sites

    from .robust import Robust

MOST = 0.5
"""A share of the squared error above this is most of it."""
FEWEST = 2 * FOLDS
"""A site of fewer rows has one with most of its loss by chance."""
LOOKED_AT = 5
"""Rows are read once more for so many sites, to name one."""
WRONG = 10.0
"""A site whose residuals, or deviations of a column, are so many times the others' is told to look at its data: one of
another law is seldom so far."""
SLIP = 0.01
"""No row of a table is called a slip with more than this probability where tails are heavy."""


def unlike(found: Robust, sites: Sites, encoding: Encoding) -> list[dict[str, Any]]:
    """An entry per site, those with most of the squared error first: `left_out` "site", "fold", or None where there is
    only something to look at; `fold` from 1, `times` by how much its root mean square residuals are larger than the
    others', `share` the site's of all squared errors, `row` the place of the row with most of the site's, `row_share`,
    and `slip` whether it is beyond the tail of the site's other rows, and has no gap that would explain it.
    """
    out, names = found.out, sites.names
    counts = np.array([site.count for site in sites.sites])
    loss = found.losses.sum(1)
    share = loss / max(loss.sum(), 1e-300)
    # folds whose rows are a fifth of the site's and more than half of its loss
    heavy = (found.losses.max(1) > MOST * loss) & (counts >= FEWEST) & (loss > 0)
    much = (share > MOST) & (share > 2 * counts / counts.sum()) & (len(names) > 2)
    entries = []
    chosen = [k for k in np.argsort(-share, kind="stable") if out.sites[k] or out.folds[k].any() or heavy[k] or much[k]]
    for looked, k in enumerate(chosen):
        folds = np.flatnonzero(out.folds[k])
        place, row_share, slip = None, None, False
        if sites.again is not None and looked < LOOKED_AT:
            X, y, fold, places = sites.again(names[k])
            slopes, intercepts = (values[k] for values in found.held_out)
            off = (y - intercepts[fold] - ((X @ encoding.matrix) * slopes[fold]).sum(1)) ** 2
            most = int(off.argmax())
            if len(y) >= FEWEST and off[most] > MOST * off.sum() > 0:
                place, row_share = places[most], float(off[most] / off.sum())
                gap = any(X[most, at] for at, column in enumerate(sites.design.columns) if column.gap)
                slip = not gap and beyond_tail(off, SLIP / len(names))
        left = "site" if out.sites[k] else "fold" if len(folds) else None
        if left is None and place is None and not much[k]:
            continue
        times = out.site_times[k] if left == "site" else out.fold_times[k, folds].max() if len(folds) else None
        entries.append({
            "site": names[k], "left_out": left, "folds": [int(fold) + 1 for fold in folds],
            "times": None if times is None else float(times), "units": float(out.units[k]), "share": float(share[k]),
            "row": place, "row_share": row_share, "slip": slip,
        })  # fmt: skip
    return entries


def beyond_tail(squares: np.ndarray, chance: float) -> bool:
    """Whether the largest of these (n,) is beyond the tail of the others, which may be as heavy as a power's.

    Of a tail P(e > t) ~ t^-a, the logarithm of the largest over the second is exponential of mean 1/a, and independent
    of the logarithms of the 2nd, ..., k-th over the (k + 1)-th, whose sum over k - 1 is an estimate of 1/a, a gamma
    variable (Renyi; Hill, Annals of Statistics 3, 1975). So their ratio exceeds (k - 1)(chance^(-1/(k - 1)) - 1) with
    this probability. Lighter tails (normal, lognormal) exceed it less often.
    """
    logs = np.log(np.sort(squares)[::-1] + 1e-300)
    k = max(len(logs) // 4, 3)
    spread = (logs[1:k] - logs[k]).mean()
    return bool(logs[0] - logs[1] > (k - 1) * (chance ** (-1 / (k - 1)) - 1) * spread)


def words(entries: Iterable[Mapping[str, Any]], rows_of: Mapping[str, int], *, grows: bool) -> list[str]:
    """A sentence or two for each; `rows_of` every site. One that is only apart is not said to be wrong, nor where the
    target `grows` noisier with its size."""
    lines, sites = [], len(rows_of)
    for entry in entries:
        name, share, row = entry["site"], entry["share"], entry["row"]
        most = f"{name} has {_percent(share)} of the squared error of all sites" if share > MOST else ""
        if entry["left_out"] == "site" and sites == 2:
            lines.append(
                f"{name} is fitted apart: the other's model is {_times(entry)} as far from its rows as one of its own. "
                "Of two sites nobody can tell which is wrong: compare their units, signs and labels."
            )
        elif entry["left_out"] == "site":
            few = rows_of[name] <= FOLDS
            which = "its row is" if rows_of[name] == 1 else "a row of it is" if few else "its rows are"
            text = f"{name} is left out of the others' models: {which} {_times(entry)} as far from them as others'"
            text += f", with {_percent(share)} of the squared error" if most else ""
            two = " Of three sites, two that are wrong alike would be believed." if sites == 3 else ""
            remedy = "; look for a slip, or a line of sums" if few else "; check its units, signs and labels"
            if not few and (grows or max(entry["times"] or 1.0, entry.get("units", 1.0)) < WRONG):
                text = text.replace("is left out of the others' models", "is alone", 1)
                text, remedy = text.replace("as far from them", "as far from the others' models", 1), ""
            lines.append(f"{text}{remedy}.{two}")
        elif most:
            lines.append(f"{most}.")
        if row is not None:
            more = "; look for a slip" if entry.get("slip") else ""
            lines.append(f"{row} has {_percent(entry['row_share'])} of the squared error of {name}{more}.")
        if entry["left_out"] == "fold" or entry["folds"]:
            for fold in entry["folds"]:
                rows = f"its rows {fold}, {fold + FOLDS}, {fold + 2 * FOLDS} and so on"
                lines.append(f"Fold {fold} of {name} ({rows}) is left out: it is {_times(entry)} as far from the "
                             "models as its other rows.")  # fmt: skip
    return lines


def _times(entry: Mapping[str, Any]) -> str:
    times = entry["times"] or 1.0
    return f"{float(f'{times:.2g}'):,.6g} times"


def _percent(share: float) -> str:
    """Never 100 % of what is less."""
    return f"{min(100 * share, 99.9):.3g} %"
