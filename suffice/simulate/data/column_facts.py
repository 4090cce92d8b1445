"""Facts about the columns of a table: numbers, texts, gaps, and what is refused: strays, units, dates. The design of a
table follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from suffice.support.errors import InputError
from suffice.support.tables import some

from .cells import DATE, NUMBER, as_text, date, is_word, rest_without_numbers, strays_of
from .csv_file import INDEXES
from .design import GAP, Column, Design, check_finite, short
from .frame import Frame
from .table import MOST_CLIENTS, no_column

MOST_LEVELS = 100
"""A category has at most so many levels; texts with more values are names or remarks."""
PLAINLY = "a number? write thousands without a mark, decimals with a point, and - for minus"
NEARLY = 0.8
"""The share of a column's entries that are numbers with a unit where the column is one of numbers."""
FEW_LEVELS = 10
"""Fewer different entries may be codes, some of them digits."""


@dataclass
class ColumnFacts:
    """A summary of a column in all pieces of a table."""

    numeric: bool = True
    gaps: Counter[str] = field(default_factory=Counter)
    """Texts that were read as missing, with the number of cells of each."""
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    """Different numbers, of which a few more than may be levels are kept."""
    texts: dict[str, None] = field(default_factory=dict)
    """Different entries, likewise, numbers as they are written."""
    rows: int = 0
    text: str = ""
    """The first entry that is no number, in `place`."""
    place: str = ""
    strays: int = 0
    """Cells that hold no number."""
    low: float = np.inf
    high: float = -np.inf

    @cached_property
    def levels(self) -> list[str]:
        """After all pieces: different entries as texts."""
        return [*map(as_text, self.values.tolist())] if self.numeric else [*self.texts]

    def see(self, name: str, frame: Frame, client: str | None = None) -> None:
        values, self.rows = frame.numbers(name), self.rows + frame.rows
        most = MOST_CLIENTS if name == client else MOST_LEVELS
        if values is None:
            texts, self.numeric = frame.texts(name), False
            stray, gone = strays_of(texts.fill_null("")), texts.is_null().to_numpy()
            if stray.any() and not self.text:
                row = int(stray.arg_max() or 0)
                self.text, self.place = texts[row], frame.place(row, client)
            self.strays += int(stray.sum())
            odd, every = (some.unique().sort().to_list() for some in (texts.filter(stray), texts.drop_nulls()))
            found = [*odd[: most // 2], *every]  # one among many numbers is not lost
        else:
            gone = np.isnan(values)
            present = values[~gone] if gone.any() else values
            if len(present):
                self.low, self.high = min(self.low, float(present.min())), max(self.high, float(present.max()))
                check_finite(name, values, frame, client)
            own = np.unique(present)[: most + 1] if len(self.values) <= most else self.values
            self.values = np.union1d(self.values, own)[: most + 1]
            floats = frame.columns[name].dtype.is_float()
            found = map(as_text, own.tolist()) if floats else frame.texts(name).drop_nulls().unique().sort().to_list()
        if len(self.texts) <= most:
            self.texts |= dict.fromkeys(islice(dict.fromkeys(found), most + 1))
        self.gaps += frame.gaps(name, gone)

    def settle(self) -> None:
        """After all pieces: `WORDS` are levels, unless all others are numbers."""
        words = [text for text in self.gaps if is_word(text)]
        if words and not (self.numeric and len(self.values)):
            self.numeric = False
            for word in words:
                self.texts.setdefault(word)
                del self.gaps[word]


def counted(gaps: Counter[str]) -> str:
    """Texts with how often they occur."""
    return ", ".join(f"{text} {count}" for text, count in gaps.most_common())


def design_of(facts: Mapping[str, ColumnFacts], roles: Collection[str], drop: Sequence[str]) -> Design:
    """The design of all columns but those with `roles` (site, target) and those to `drop`."""
    columns, ranges = list[Column](), dict[str, tuple[float, float]]()
    left_out, said = dict[str, str](), dict[str, str]()
    gaps = {text.lower() for seen in facts.values() if seen.numeric for text in seen.gaps}
    for name, seen in facts.items():
        if name in roles:
            continue
        if why := _unusable(name, seen, drop):
            left_out[name] = why
            continue
        if seen.numeric:
            columns.append(Column(name=name, source=name))
            ranges |= {name: (seen.low, seen.high)} if seen.high > seen.low else {}
        else:
            columns += [Column(name=f"{name}={level}", source=name, level=level) for level in sorted(seen.levels)]
        columns += [Column(name=f"{name}={GAP}", source=name, gap=True)] if seen.gaps else []
        if notes := _said(name, seen, gaps):
            said[name] = "\n".join(notes)
    if not columns:
        raise InputError("columns", [*left_out], "no predictor is left; give at least one predictor")
    return Design(columns=tuple(columns), left_out=tuple(left_out.items()), column_notes=said, ranges=ranges)


def _unusable(name: str, seen: ColumnFacts, drop: Sequence[str]) -> str:
    """Why a column is left out, or ""."""
    if name in drop or name in INDEXES:
        return "dropped, as asked" if name in drop else "a column without a name is taken as an index"
    levels, rows = len(seen.levels), seen.rows - seen.gaps.total()
    few = levels <= 2 or (levels < rows and (levels <= FEW_LEVELS or 2 * levels <= rows))
    if seen.numeric or (few and levels <= MOST_LEVELS):
        return ""
    what = f"over {MOST_LEVELS} texts" if levels > MOST_LEVELS else f"{levels} texts in {rows} rows"
    return f"{what}, as names have: merge some to keep it"


def check_roles(facts: Mapping[str, ColumnFacts], roles: Mapping[str, str], drop: Sequence[str]) -> None:
    """`InputError` where a column with a role (client, target) or one to drop is not there, or cannot be it."""
    for role, name in (*roles.items(), *(("drop", name) for name in drop)):
        if name not in facts:
            more = ", or how to divide the table, as split = contiguous:8" if role == "client" else ""
            raise no_column(role, name, list(facts), more)
    if roles["client"] == roles["target"]:
        raise InputError("target", roles["target"], "one column cannot be both client and target; name another")
    refuse_strays({name: seen for name, seen in facts.items() if name != roles["client"] and name not in drop})


def refuse_strays(facts: Mapping[str, ColumnFacts]) -> None:
    """`InputError` for columns of numbers that a few other entries, decimal commas, units or signs have made ones of
    texts."""
    found: list[tuple[str, str, str]] = []
    for name, seen in facts.items():
        if seen.numeric:
            continue
        levels = seen.levels[: MOST_LEVELS + 1]
        days = [level for level in levels if not is_word(level)][:20]
        if days and all(map(DATE.fullmatch, days)):
            raise date(name, days[0])
        texts = [text for text in dict.fromkeys((*levels, seen.text)) if text and not NUMBER.fullmatch(text)]
        disguised, remedy = disguised_levels(levels)
        few = len(levels) < FEW_LEVELS
        rare = seen.strays <= (seen.rows - seen.gaps.total()) / 5 and len(levels) > MOST_LEVELS
        if texts and (rare or len(texts) <= len(levels) / 5) and not few:
            usual = next(level for level in levels if level not in texts)
            cells = f"{seen.strays} cells, the first" if seen.strays > 1 else "1 cell,"
            where = f" ({cells} in {seen.place})" if seen.place else ""
            remedy = f"other entries are numbers, such as {usual}: correct it, leave it empty, or drop the column"
            found.append((f"column {name}", seen.text or texts[0], remedy + where))
        elif disguised and (not few or len(disguised) >= max(3, len(levels) / 2)):
            known = seen.text in disguised
            place, text = (f"{name} in {seen.place}", seen.text) if known else (f"column {name}", disguised[0])
            found.append((place, text, f"{remedy}, or leave the column out by drop"))
    if found:
        (field, text, remedy), *more = found
        raise InputError(field, text, "; ".join([remedy, *(f"{name} = {one!r}: {why}" for name, one, why in more)]))


def disguised_levels(levels: Sequence[str]) -> tuple[list[str], str]:
    """The levels that are numbers with a unit or a sign, and a remedy, where nearly all levels are, with few units;
    else none."""
    units = {level: rest_without_numbers(level) for level in levels if not is_word(level)}
    plain = sum(unit is None and NUMBER.fullmatch(level) is not None for level, unit in units.items())
    usual = [unit for unit, _ in Counter(unit for unit in units.values() if unit).most_common(3)]
    found = [level for level, own in units.items() if own is not None and own in ("", *usual)]
    if not found or len(found) + plain < NEARLY * len(units):
        return [], ""
    if usual and ":" in usual[0]:
        return found, "a time: write a number, such as hours or minutes"
    return found, f"numbers with {some(usual)}: write each as one plain number" if usual else PLAINLY


def _said(name: str, seen: ColumnFacts, gaps: set[str]) -> list[str]:
    """Notes on a column that is kept; `gaps` are read as missing among numbers."""
    cells = f"{seen.gaps.total()} cell{'s' if seen.gaps.total() > 1 else ''}"
    notes = [short(f"{{}}: {cells} read as missing ({{}})", name, counted(seen.gaps))] if seen.gaps else []
    if seen.numeric:
        return notes
    alike = Counter(map(str.casefold, seen.levels))
    twice = sorted(level for level in seen.levels if alike[level.casefold()] > 1)
    words = [level for level in seen.levels if is_word(level) and level.lower() in gaps]
    units, _ = disguised_levels(seen.levels)
    for found, why in (
        (some(twice, 4), "differ only in capitals: write one"),
        (", ".join(words), "is a level, though missing among numbers"),
        (units[0] if units else "", "is a level: for numbers, write them plainly"),
    ):
        notes += [short(f"{{}}: {{}} {why}", name, found)] if found else []
    return notes
