"""Standardised results are assembled into a `Fit`: coefficients in units of columns, who counts for whom, notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.simulate.data.encoding import Encoding
from suffice.simulate.data.folds import Sums, Units

from .fitted import Fit
from .gain import PER_COEFFICIENT, Gains
from .model_averaging import Fitted
from .similar_sites import Likeness, typically_scaled
from .site_models import LEFT_OUT, POPULATION, SiteModel
from .table import findings

if TYPE_CHECKING:
    from suffice.simulate import Quadratics
    from suffice.simulate.data.sites import Sites


def encode(sites: Sites, sums: Sums, trusted: Sums) -> tuple[Encoding, Sums, Units, list[str]]:
    """The encoding that the `trusted` messages settle, all in it, their units, and what is said of columns."""
    encoding = Encoding.of(sites.design, trusted.pooled[0][:-1])
    encoded = encoding.sums(sums)
    units = Units.pooled(encoded)
    return encoding, encoded, units, encoding.remarks(sites.design, units.constant)


def typically_filled(sites: Sites, sums: Sums) -> Sums:
    """Encoded messages in which gaps are filled with the median of the sites' means, which a wrong unit cannot move."""
    names, (_, gaps) = sites.design.names, sites.design.categories
    mean, each = sums.pooled[0][:-1].copy(), sums.sites[1][:, :-1]
    for name, gap in gaps.items():
        there = 1 - each[:, names.index(gap)]
        known = each[there > 0, names.index(name)] / there[there > 0]
        mean[names.index(name)] = (1 - mean[names.index(gap)]) * (np.median(known) if len(known) else 0.0)
    return Encoding.of(sites.design, mean).sums(sums)


def assemble(
    sites: Sites,
    client: str,
    loss: str,
    fitted: Fitted,
    found: Gains,
    models: tuple[np.ndarray, np.ndarray],
    shared: tuple[np.ndarray, np.ndarray],
    *,
    scale: float,
    encoding: Encoding,
    left_out: Sequence[str],
    rule: dict[str, Any],
    expected: Callable[[], Quadratics] | None = None,
) -> Fit:
    """The `Fit` of standardised results; losses are multiplied by `scale`. `models` are slopes (K, N, q) and intercepts
    (K, N), K the classes or 1, `shared` those of the population, (K, q) and (K,); `rule` is what was exchanged and
    found."""
    names, kinds = sites.names, (encoding.columns, sites.classes)
    whole: Any = _averaged(fitted, found, names, scale) | rule
    apart = {entry["site"] for entry in whole["suspects"] if entry["left_out"] == "site"}
    clients = []
    for at, (name, rows) in enumerate(zip(names, sites.counts.tolist())):
        influence = fitted.influences[at]
        # more than half of the equal share
        chosen = tuple(names[k] for k in np.argsort(-influence) if k != at and influence[k] > 0.5 / len(names))
        clients.append(
            SiteModel(
                name=name,
                rows=rows,
                collaborators=chosen,
                weights=dict(zip(names, influence.tolist())),
                expected_loss=_number(found.together[at], scale),
                expected_loss_alone=_number(found.alone[at], scale),
                expected_loss_constant=_number(found.constant[at], scale),
                gain=_number(found.gain[at], scale),
                gain_se=_number(found.error[at], scale),
                notes=_site_notes(rows, found, at, apart=name in apart),
                **_model(*kinds, models[0][:, at], models[1][:, at]),
            )
        )
    whole["groups"] = [entry | _gain_of(entry["sites"], clients) for entry in whole["groups"]]
    population = SiteModel(
        name=POPULATION, rows=0, collaborators=(), weights={}, expected_loss=None, expected_loss_alone=None, gain=None,
        gain_se=None, **_model(*kinds, *shared),
    )  # fmt: skip
    fit = Fit(
        loss=loss, client=client, target=sites.target, classes=sites.classes, clients=tuple(clients),
        population=population, rule=whole, left_out=tuple(left_out), notes=sites.notes, design=sites.design,
        encoding=encoding, expected=expected,
    )  # fmt: skip
    return replace(fit, notes=(*findings(fit), *fit.notes))


def _model(
    columns: Sequence[str], classes: Sequence[str], slopes: np.ndarray, intercepts: np.ndarray
) -> dict[str, Any]:
    """Slopes (K, q) and intercepts (K,) by column, and by class where there are several of them."""
    each, levels = [dict(zip(columns, row)) for row in slopes.tolist()], intercepts.tolist()
    several = len(each) > 1
    return {
        "coefficients": dict(zip(classes, each)) if several else each[0],
        "intercept": dict(zip(classes, levels)) if several else levels[0],
    }


def _averaged(fitted: Fitted, found: Gains, names: Sequence[str], scale: float) -> dict[str, Any]:
    """The candidates that were averaged, and the gain of all sites."""
    families = dict.fromkeys((family for family, *_ in fitted.candidates), 0.0)
    for family, _, weight, _ in fitted.candidates:
        families[family] += weight
    return {
        "name": "candidates from all alike to nobody alike, averaged by held-out folds",
        "candidates": [
            {"family": family, "setting": setting, "weight": weight, "score": score * scale}
            for family, setting, weight, score in sorted(fitted.candidates, key=lambda entry: -entry[2])
        ],
        "families": families,
        "network_gain": _number(found.network, scale),
        "network_gain_se": _number(found.network_error, scale),
        "network_gain_sites": found.among,
        "network_gain_decided_by": None if found.decisive is None else names[found.decisive[0]],
        "network_gain_without": None if found.decisive is None else _number(found.decisive[1], scale),
    }


def _site_notes(count: int, found: Gains, at: int, *, apart: bool) -> tuple[str, ...]:
    if apart:
        return (LEFT_OUT,)
    if np.isnan(found.together[at]):
        return ("no row of this site was held out: its losses are not known",)
    if len(found.gain) == 1:
        return ("there is only one site, so there is nothing to gain",)
    if np.isnan(found.gain[at]):
        return (f"{count} rows are fewer than {PER_COEFFICIENT} per coefficient: see the network's gain",)
    return ()


def named(
    found: Likeness, sums: Sums, names: Sequence[str], columns: Sequence[str], group: np.ndarray
) -> list[dict[str, Any]]:
    """The groups, where there are several, perhaps of a single site, the largest first, each with the column whose
    slopes are the most standard errors from those of the other sites of `group`, and both; from `sums` without
    suspected folds."""
    scaled, units = typically_scaled(sums)
    n, _, second = scaled.sites
    clusters = [found.at[found.group == value] for value in range(found.group.max(initial=-1) + 1)]
    entries = []
    for each in sorted(clusters, key=lambda each: (-len(each), each[0])) if len(found.far) and columns else ():
        others = np.setdiff1d(found.at[np.isin(found.at, group)], each)
        if len(others):
            (own, own_variance), (rest, variance) = (_slopes(second[k].sum(0), n[k].sum()) for k in (each, others))
            most = int((np.abs(own - rest) / np.sqrt(own_variance + variance)).argmax())
            unit = float(units[-1] / units[most])
            entry = {"sites": [names[k] for k in each], "column": columns[most]}
            entries.append(entry | {"own": unit * float(own[most]), "others": unit * float(rest[most])})
    return entries


def _slopes(second: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray]:
    """The slopes of several sites with a level each, and their variances, huge where a column does not vary."""
    whole = second[:-1, :-1] + np.diag(1e-9 * np.diagonal(second)[:-1] + 1e-300)
    inverse = np.linalg.inv(whole)
    slopes = inverse @ second[:-1, -1]
    noise = max(second[-1, -1] - second[:-1, -1] @ slopes, 1e-12 * second[-1, -1]) / max(n - len(slopes), 1.0)
    return slopes, noise * np.diagonal(inverse) + 1e-300


def _gain_of(group: Sequence[str], clients: Sequence[SiteModel]) -> dict[str, float | None]:
    """The gain per row of the group's sites with known gains, and its standard error, as if these were independent."""
    known = [one for one in clients if one.name in group and one.gain is not None and one.gain_se is not None]
    rows = sum(one.rows for one in known)
    if not rows:
        return {"gain": None, "gain_se": None}
    gain = sum(one.rows * (one.gain or 0.0) for one in known) / rows
    return {"gain": gain, "gain_se": sum((one.rows * (one.gain_se or 0.0)) ** 2 for one in known) ** 0.5 / rows}


def _number(value: float, scale: float) -> float | None:
    return None if np.isnan(value) else float(value * scale)
