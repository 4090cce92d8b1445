"""Rows that a fit has not seen: read in pieces, scored by their sites' models, and what these do not know of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suffice.simulate.data.csv_file import TextFile
from suffice.simulate.data.frame import Frame, frame_of
from suffice.simulate.data.memory import as_path
from suffice.support.errors import InputError
from suffice.support.tables import some


@dataclass(kw_only=True)
class NewRows:
    """`scores` (n, K), linear predictions; the site of each row, and its line in a file; of each category the `levels`
    that no row of the fit had; of each column that had no gaps there the rows whose gap is `filled` with the mean; the
    numbers in which a column is `far` outside the range that it had, by more than its width."""

    scores: np.ndarray
    sites: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    levels: dict[str, dict[str, None]] = field(default_factory=dict)
    filled: Counter[str] = field(default_factory=Counter)
    far: dict[str, list[float]] = field(default_factory=dict)

    def warnings(self, models: Any) -> list[str]:
        """Lines for a user on what the models do not know of these rows."""
        lines = []
        for name, levels in self.levels.items():
            reference = models.encoding.references.get(name, "the reference level")
            lines.append(f"no row of the fit had {name} = {some(list(levels))}: predicted as {reference}")
        for name, count in self.filled.items():
            mean = models.encoding.means.get(name)
            value = "the shares of its levels" if mean is None else f"its mean {mean:.6g}"
            rows = f"{count} rows" if count > 1 else "1 row"
            lines.append(f"{name} is missing in {rows}, but in none of the fit: filled with {value}")
        if self.far:
            cases = []
            for name, values in self.far.items():
                least, most = models.design.ranges[name]
                rows = f" and {len(values) - 1} more" if len(values) > 1 else ""
                cases.append(f"{name} = {values[0]:.6g}{rows} (in the fit {least:.6g} to {most:.6g})")
            lines.append(f"far outside the numbers of the fit, so that predictions are extrapolated: {some(cases)}")
        return lines


def new_rows(models: Any, table: Any, site: str | None) -> NewRows:
    """All rows of a table: a data frame, a mapping of columns, or the path of a CSV, read in pieces. They are of one
    `site`, or name theirs in a column."""
    known: dict[str, set[str | None]] = {}  # levels of categories when the models were fitted
    for column in models.design.columns:
        if column.level is not None:
            known.setdefault(column.source, {None}).add(column.level)
    if isinstance(table, str | Path):
        pieces = TextFile(as_path("file", table), models.needed.__contains__, (models.client,)).frames()
    else:
        pieces = (frame_of(table, models.needed.__contains__, [models.client, *models.design.categories[0]]),)
    rows, scores = NewRows(scores=np.empty((0, 1))), []
    for frame in pieces:
        for name in known.keys() & frame.columns:
            new = [text for text in frame.texts(name).unique(maintain_order=True).to_list() if text not in known[name]]
            rows.levels.setdefault(name, {}).update(dict.fromkeys(new))
        X = models.design.apply(frame)
        for name, (least, most) in models.design.ranges.items():
            values = frame.numbers(name)
            if values is not None and least < most:
                away = np.abs(values - (least + most) / 2) > 1.5 * (most - least)  # NaN, a gap, is not
                rows.far.setdefault(name, []).extend(values[away].tolist())
        gaps = np.isnan(X).sum(0).tolist()  # of a category's columns, all the same
        rows.filled.update({one.source: count for one, count in zip(models.design.columns, gaps) if count})
        X, sites = models.encoding.apply(X), sites_of(models, frame, site)
        scores.append(models.scores(X, sites))
        rows.sites += ["" if name is None else name for name in sites.tolist()]
        rows.lines += frame.lines.tolist()
    rows.levels = {name: rows.levels[name] for name in known if rows.levels.get(name)}
    rows.far = {name: values for name, values in rows.far.items() if values}
    rows.scores = np.concatenate(scores)
    return rows


def sites_of(models: Any, frame: Frame, site: str | None) -> np.ndarray:
    """The site of each row (n,), None where it has none."""
    if site is not None:
        try:
            return np.full(frame.rows, str(site), dtype=object)
        except ValueError:  # a number of more digits than Python writes
            raise InputError("site", "a long number", "give the site's name") from None
    if models.client not in frame.columns:
        remedy = "the table has no such column; name the column of sites by client, or the site of all rows by site"
        raise InputError("client", models.client, remedy)
    return frame.texts(models.client).to_numpy()
