"""The design turns the columns of a table into numbers: categories, gaps, and columns that cannot be used.

A number with gaps gives two columns, its values with 0 for the gaps and `NAME=missing`; a category one column of 0 and
1 per level, `NAME=LEVEL`, and `NAME=missing` likewise. Which level is the reference, and which value stands for a gap,
is settled in `encoding` from the messages of all sites: both are linear maps of these columns, so that sites need not
agree on either beforehand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import LARGEST

if TYPE_CHECKING:
    from .frame import Frame

GAP = "missing"
CONSTANT = "{}: the same in all rows to {} digits, so its coefficient is 0"
CHANGED, NOTE = "Left out or changed: {}.", "Note: {}."
WIDEST = 96 - len(CHANGED.format(""))
"""A note has at most so many characters."""


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One column of the design: a number (`level` None), or whether `source` has this level (None of both: a gap)."""

    name: str
    source: str
    level: str | None = None
    gap: bool = False


def short(template: str, *texts: str) -> str:
    """`template` with texts of which the middles are left out where it would be wider than `WIDEST`."""
    room = max((WIDEST - len(template.format(*("" for _ in texts)))) // max(len(texts), 1), 5)
    half = (room - 3) // 2
    cut = [text if len(text) <= room else f"{text[:half]}...{text[len(text) + half + 3 - room :]}" for text in texts]
    return template.format(*cut)


@dataclass(frozen=True, kw_only=True)
class Design:
    """The columns that a table gives, what was left out of it with the reason, and what is said of others. `ranges`
    are the least and the largest number of a column where rows were seen: not of messages."""

    columns: tuple[Column, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    column_notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """`InputError` unless every column has a name of its own."""
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise InputError("columns", twice[0], "two columns have this name; rename one")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def numbers(self, folds: int) -> int:
        """In a message of so many folds: of each its rows, and the means and products of all columns and the target."""
        p = len(self.columns) + 1
        return folds * (1 + p + p * (p + 1) // 2)

    @property
    def categories(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        """The columns of each category's levels, and each number's column of gaps."""
        levels: dict[str, list[str]] = {}
        for column in self.columns:
            if column.level is not None:
                levels.setdefault(column.source, []).append(column.name)
        return levels, {one.source: one.name for one in self.columns if one.gap and one.source not in levels}

    def apply(self, frame: Frame) -> np.ndarray:
        """(n, p) numbers of the rows of a table, NaN for a gap in a column that no column marks the gaps of;
        `InputError` where a column is not there or a text where numbers were."""
        X = np.zeros((frame.rows, len(self.columns)))
        texts, (categories, _) = cache(frame.texts), self.categories
        marked = {column.source for column in self.columns if column.gap}
        for at, column in enumerate(self.columns):
            name = column.source
            if name not in frame.columns:
                raise InputError("columns", name, "the models need this column; give it, with gaps if need be")
            if column.level is not None or name in categories:
                cells = texts(name)
                values, gone = cells.eq_missing(column.level).to_numpy(), cells.is_null().to_numpy()
            elif (values := frame.numbers(name)) is not None:
                check_finite(name, values, frame)
                gone = np.isnan(values)
            else:
                row, remedy = frame.stray(name), "give a number, or leave the cell empty"
                raise InputError(f"{name} in {frame.place(row)}", texts(name)[row], remedy)
            X[:, at] = gone if column.gap else np.where(gone, 0.0 if name in marked else np.nan, values)
        return X


def check_finite(name: str, values: np.ndarray, frame: Frame, client: str | None = None) -> None:
    """`InputError` where a number of a column (n,) is infinite or too large, with its place."""
    wrong = np.abs(values) > LARGEST
    if wrong.any():
        row = int(np.argmax(wrong))
        where, value = f"{name} in {frame.place(row, client)}", float(values[row])
        finite = f"give numbers up to {LARGEST:g}; change units"
        raise InputError(where, value, "give a finite number, or leave the cell empty" if np.isinf(value) else finite)
