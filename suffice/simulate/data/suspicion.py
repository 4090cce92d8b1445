"""Suspicions are what a person would ask about a table before believing a model of it: a line each, which names the
column and the value. Nothing is changed by it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
from polars import DataFrame, concat, lit

from .column_facts import FEW_LEVELS, MOST_LEVELS, ColumnFacts
from .design import Design
from .frame import Frame, place_of

if TYPE_CHECKING:
    from .sites import Sites

AWAY = 1 - 1e-5
"""A column whose squared correlation with the target is larger gives it away."""
SAME = 1e-9
"""Means and products that differ by less than this share are those of the same rows."""
FEWEST = 10
"""The least number of rows about which more is said than what sites are called."""
SAMPLE = 4096
"""Among so many rows at most a column is looked for that counts them, or that rises as the target does."""
STEADY = 0.9
"""The share of steps of one size in a column that counts its rows."""
MOST_ROWS = 1 << 18
"""Copies are looked for among so many rows."""
EXCEL = (36526, 54788)
"""Excel's days of 2000 to 2049, counted from 1899-12-30."""
YEARS = (1900, 2099)
"""Years of dates such as 20240131."""
CODES = frozenset((0.0, -1.0, *(sign * (10.0**k - 1) for k in range(1, 8) for sign in (-1, 1))))
"""Numbers that stand for what was not measured: 0, -1, 9, -99, 999 and so on."""


def _seen(name: str) -> str:
    """The characters of a name that have a width."""
    return "".join(one for one in unicodedata.normalize("NFKC", name) if unicodedata.category(one) != "Cf")


def spelling(name: str) -> str:
    """The rest of a name without capitals, blanks, forms of letters, zeros about a number, or a # in front."""
    text = "".join(_seen(name).casefold().lstrip("#").split())
    text = re.sub(r"(?<=[^\W\d])[-_]|[-_](?=[^\W\d])", "", text)
    number = text.rstrip("0").rstrip(".") if re.fullmatch(r"\d+\.\d*", text) else text
    return number.lstrip("0") or "0" if re.fullmatch(r"[\d.]+", number) else unicodedata.normalize("NFKC", text)


def alike(names: Sequence[str]) -> list[list[str]]:
    """Names of one `spelling`."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(spelling(name), []).append(name)
    return [some for some in found.values() if len(some) > 1]


def named(names: Sequence[str], most: int = 3) -> str:
    """Some names, short; letters beyond ASCII by their codes where they alone tell names apart."""
    same = len({_seen(name) for name in names}) < len(names)
    shown = [(name if not same else ascii(name)[1:-1]) for name in names[:most]]
    shown = [name if len(name) <= 20 else f"{name[:17]}..." for name in shown]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


class Copies:
    """Rows that are exact copies of others, whatever their sites, by 64 bits of each."""

    def __init__(self) -> None:
        self.parts: list[DataFrame] = []

    def see(self, frame: Frame, client: str | None) -> None:
        if sum(map(len, self.parts)) < MOST_ROWS and len(frame.columns) > 1:  # of one, none is client and target
            numbers = {name: frame.numbers(name) for name in frame.columns if name != client}
            cells = {name: frame.texts(name) if own is None else own + 0 for name, own in numbers.items()}  # no -0
            rows = {"hash": DataFrame(cells).hash_rows(), "line": frame.lines}
            self.parts.append(DataFrame(rows).with_columns(file=lit(frame.file)))

    def notes(self, facts: Mapping[str, ColumnFacts], client: str | None) -> list[str]:
        """None where rows may be alike by chance: by the number of pairs, and of what each column may be."""
        rows = concat(self.parts)
        first = rows["hash"].is_first_distinct()
        kinds, different = 1.0, int(first.sum())
        for name, seen in facts.items():
            levels = len(seen.levels)
            if levels > MOST_LEVELS:  # to more digits than three, 300 at least are told apart
                kinds *= 300 if seen.numeric and (seen.values % 1 != 0).mean() > 0.5 else levels
            elif name != client:
                again = different - levels  # of few, those of as many kinds as have so many pairs alike
                kinds *= max(1, different**2 / max(1, 2 * again) if again < different / 4 else levels)
        if different == len(rows) or len(rows) ** 2 / 2 > 0.05 * kinds:
            return []
        copy, line, file = rows.row(int(first.arg_min() or 0))
        _, own, origin = rows.row(int((rows["hash"] == copy).arg_max() or 0))
        copies = "1 row is a copy" if len(rows) == different + 1 else f"{len(rows) - different} rows are copies"
        place = place_of(file, line).removesuffix(f" of {origin}")
        return [f"{copies} of another, such as {place} of {place_of(origin, own)}: entered twice?"]


def suspicions(
    sites: Sites,
    facts: Mapping[str, ColumnFacts],
    frames: Callable[[], Iterator[Frame]],
    sample: tuple[np.ndarray, np.ndarray],
    *,
    divided: bool,
) -> list[str]:
    """Questions about all sites, whose rows are sums or kept; `divided`: by a rule. The `frames` are gone through once
    more where a number may stand for what was not measured; `sample` is X (n, p) and y (n,) of some rows."""
    names, rows, design, target, classes = sites.names, sites.counts, sites.design, sites.target, sites.classes
    notes = [f"sites {named(some)} look alike: if they are one site, write one name" for some in alike(names)[:3]]
    if divided and (single := [name for name, count in zip(names, rows) if count == 1]):
        notes.append(f"the split leaves one row to {named(single)}: take fewer sites, or another split")
    if rows.sum() < FEWEST:
        return notes
    means, squares, with_target = _moments(sites)
    same = squares <= SAME**2 * means**2  # by column, whether a site's rows do not differ
    numbers = {one.source: at for at, one in enumerate(design.columns) if one.level is None and not one.gap}
    numbers |= {} if classes else {target: -1}
    asked = []
    for name, at in numbers.items():
        seen = facts[name]
        if said := _identity(name, seen):
            notes += said
            continue
        for value, other in ((seen.low, seen.high), (seen.high, seen.low)):
            alone = same[:, at] & (means[:, at] == value) & (rows > 1)
            if (alone.sum() == 1 and len(names) > 2) or (value in CODES and len(seen.levels) > FEW_LEVELS):
                asked.append((name, value, other, bool(alone.any())))
        if name == target:
            continue
        every = len(seen.levels) == seen.rows == 1 + seen.high - seen.low  # in whatever order
        steps, spacing = np.diff(sample[0][:, at]), np.spacing(max(abs(seen.low), abs(seen.high)))
        usual = np.median(steps)
        if every or (usual and (np.abs(steps - usual) <= 4 * spacing).mean() >= STEADY):
            ends = f"from {seen.low:.6g} to {seen.high:.6g}"
            notes.append(f"{named([name])} counts the rows, {ends}: drop it if it numbers them")
    notes += _missing(frames, sites.client, asked)
    sources = [column.source for column in design.columns]
    notes += [f"columns {named(some)} look alike: is one a copy?" for some in alike([*sources, target])[:3]]
    at = list(numbers.values())
    notes += _footers(rows, means[:, at], squares[:, at], names)
    notes += _site_again(design, names, means, same & (rows[:, None] > 1))
    notes += _twins(rows, np.hstack((means, squares, with_target)), names)
    if classes:
        notes += [f"classes {named(some)} look alike: if they are one, write one name" for some in alike(classes)[:3]]
        return [*notes, *_of_classes(sites)]
    off = means - rows @ means / rows.sum()
    total = (parts.sum(0) + rows @ (off * by) for parts, by in ((squares, off), (with_target, off[:, -1:])))
    away = list(_away(*total, rows @ means / rows.sum(), design, target))
    return [*notes, *(away or _monotone(*sample, numbers, target))]


def _footers(rows: np.ndarray, means: np.ndarray, squares: np.ndarray, names: Sequence[str]) -> Iterator[str]:
    """Sites of one row, whose numbers are the sums or the means of all others."""
    total = rows @ means
    near = 2e-3 * np.sqrt((squares.sum(0) + rows @ means**2) / rows.sum())  # as rounded as means are
    for at in np.flatnonzero(rows == 1):
        row, rest = means[at], total - means[at]
        for kind, values in (("sum", rest), ("mean", rest / (rows.sum() - 1))):
            if (row != 0).sum() > 1 and ((np.abs(row - values) <= near) | (row == 0)).all():
                yield f"{named([names[at]])} is one row, the {kind} of all others: a footer?"


def _monotone(X: np.ndarray, y: np.ndarray, numbers: Mapping[str, int], target: str) -> Iterator[str]:
    """Notes on numbers that rise or fall as the target does in all rows; ten do by chance in one case of millions."""
    y = y[known := ~np.isnan(y)]
    for name, at in numbers.items() if len(np.unique(y)) > FEW_LEVELS else ():
        x = X[known, at]
        for way, sign in (("rises", 1), ("falls", -1)) if name != target and len(np.unique(x)) > FEW_LEVELS else ():
            if (np.diff(sign * x[np.lexsort((sign * x, y))]) >= 0).all():
                rows = "all" if len(y) < SAMPLE else len(y)
                yield f"{named([name])} {way} with {named([target])} in {rows} rows: does the column give it away?"


def _moments(sites: Sites) -> tuple[np.ndarray, ...]:
    """The sites' means (N, p) of columns and target, their centred squares, and their products with the target."""
    if not sites.X:
        _, means, products = sites.sums.sites
        return means, np.diagonal(products, axis1=1, axis2=2), products[..., -1]
    parts = []
    for z in map(np.column_stack, zip(sites.X, sites.y)):
        mean = z.mean(0)
        z -= mean
        parts.append((mean, (z**2).sum(0), z.T @ z[:, -1]))
    return tuple(map(np.array, zip(*parts)))


def _identity(name: str, seen: ColumnFacts) -> list[str]:
    low, high = seen.low, seen.high
    if low >= 1e15 and 2**53 <= high < 1e20:
        return [f"{named([name])} is {low:.6g} or more, of which 16 digits count: an identifier? drop it"]
    days = [_day(f"{end:.8g}") for end in (low, high)]
    if len(seen.levels) > FEW_LEVELS and None not in days and all(map(_day, seen.levels)):
        return [f"{named([name])} is {low:.8g} to {high:.8g}: dates, {days[0]} to {days[1]}?"]
    return []


def _missing(
    frames: Callable[[], Iterator[Frame]], client: str, asked: Sequence[tuple[str, float, float, bool]]
) -> Iterator[str]:
    """Notes on columns, each with one of its ends, the other one, and whether a site has no other number, of which this
    end is far from all other numbers."""
    counts, beyond = [0] * len(asked), [other for _, _, other, _ in asked]
    owners: list[set[str]] = [set() for _ in asked]
    for frame in frames() if asked else ():
        names = frame.texts(client).to_numpy()
        for k, (name, value, other, _) in enumerate(asked):
            values, way = np.asarray(frame.numbers(name)), 1 if value < other else -1
            at = values == value
            counts[k] += int(at.sum())
            beyond[k] = way * float(np.fmin.reduce(way * values[~at], initial=way * beyond[k]))
            owners[k] |= set(names[at]) - {None} if len(owners[k]) < 2 else set()
    for (name, value, other, alone), count, next_one, sites in zip(asked, counts, beyond, owners):
        width, gap = abs(other - next_one), abs(next_one - value)
        if width > 0 and gap > width / 4 and (alone or count > 1 or gap > width):
            where = f" of {named(sorted(sites))}" if len(sites) == 1 else ""
            elsewhere = f"{min(next_one, other):.6g} to {max(next_one, other):.6g} elsewhere"
            rows = f"{count} rows" if count > 1 else "1 row"
            yield f"{named([name])} is {value:.6g} in {rows}{where}, {elsewhere}: missing?"


def _day(number: str) -> date | None:
    """The date that a whole number may be: one of Excel's days, or its year, month and day."""
    try:
        if EXCEL[0] <= int(number) <= EXCEL[1]:
            return date(1899, 12, 30) + timedelta(int(number))
        found = date.fromisoformat(number)
    except ValueError:
        return None
    return found if number.isdigit() and YEARS[0] <= found.year <= YEARS[1] else None


def _site_again(design: Design, names: Sequence[str], means: np.ndarray, same: np.ndarray) -> Iterator[str]:
    columns = design.columns
    for source, of_source in groupby(range(len(columns)), lambda at: columns[at].source):
        at = [*of_source]
        apart = np.ptp(means[:, at], axis=0) > SAME * np.abs(means[:, at]).max(axis=0)
        if same[:, at].all() and apart.any():
            level = next((columns[k].level for k in at if means[0, k] == 1), None)
            value = f"{means[0, at[0]]:.6g}" if level is None else level
            where = f"{named([value])} at {named(names[:1])}"
            yield f"{named([source])} is one value at each site, {where}: it stands for the site"


def _twins(rows: np.ndarray, sums: np.ndarray, names: Sequence[str]) -> Iterator[str]:
    """Notes on sites with the same number of `rows` (N,) and, to rounding, the same `sums` (N, q)."""
    for first, second in pairwise(sorted(range(len(rows)), key=lambda at: (rows[at], *sums[at]))):
        apart = np.abs(sums[first] - sums[second]).reshape(3, -1).max(1)
        size = np.abs(sums[first]).reshape(3, -1).max(1)
        if rows[first] == rows[second] > 2 and (apart <= SAME * size).all():
            both = named([names[at] for at in sorted((first, second))])
            yield f"sites {both} have the same {rows[first]} rows: is one a copy?"


def _away(squares: np.ndarray, with_target: np.ndarray, mean: np.ndarray, design: Design, target: str) -> Iterator[str]:
    with np.errstate(all="ignore"):
        share = with_target[:-1] ** 2 / (squares[:-1] * squares[-1])
    for at in np.flatnonzero(share > AWAY):
        slope = with_target[at] / squares[at]
        line = f"{slope:.4g} {named([design.names[at]])} {mean[-1] - slope * mean[at]:+.4g}"
        yield f"{named([target])} is {line}: does the column give it away?"


def _of_classes(sites: Sites) -> Iterator[str]:
    X, y, target = np.concatenate(sites.X), np.concatenate(sites.y), named([sites.target])
    columns, classes = sites.design.columns, [named([kind]) for kind in sites.classes]
    for kind in dict.fromkeys(int(own[0]) for own in sites.y if (own == own[0]).all()):
        names = [name for name, own in zip(sites.names, sites.y) if (own == kind).all()]
        yield f"all rows of {named(names)} have {target} = {classes[kind]}: one class alone"
    left = {column.source for column in columns} - {column.source for column in columns if column.gap}
    if len(classes) == 2 and np.bincount(y.astype(int), minlength=2).min() > 2:
        for at, column in enumerate(columns):
            for kind in (1, 0) if column.source in left else ():
                low, high = X[y != kind, at].max(), X[y == kind, at].min()
                if low < high:
                    left.discard(column.source)  # a category is named once
                    value = f"{high:.6g} or more" if column.level is None else named([column.level])
                    yield f"{named([column.source])} is {value} just where {target} is {classes[kind]}: a give-away?"
