"""Weights of rows: numbers that count up to a common factor. A row of weight 0 is as if it were not in the table."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from suffice.support.errors import InputError
from suffice.support.tables import some

from .cells import numbers_or_texts
from .frame import Frame


@dataclass
class RowWeights:
    """The pieces of a table without rows of weight 0, at every call. Of the last whole pass: the `largest` weight, by
    which weights are divided before they are summed; how many rows were `left` out, and of which `sites`."""

    frames: Callable[[], Iterator[Frame]]
    column: str
    client: str
    largest: float = 0.0
    left: int = 0
    sites: dict[str | None, None] = field(default_factory=dict)

    def __call__(self) -> Iterator[Frame]:
        largest, left, before = 0.0, 0, 0
        sites: dict[str | None, None] = {}
        for frame in self.frames():
            values = _numbers(frame, self.column) if self.column in frame.columns else None
            rows = np.arange(frame.rows) if values is None else np.flatnonzero(values != 0)  # `of` refuses others
            if values is not None:
                largest = float(np.fmax.reduce(values, initial=largest))
            left, start, before = left + frame.rows - len(rows), before, before + frame.rows
            if len(rows) == frame.rows:
                yield frame
                continue
            if self.client in frame.columns:
                sites |= dict.fromkeys(np.delete(frame.texts(self.client), rows).tolist())
            if len(rows):
                numbered = frame.lines if len(frame.lines) else array("q", range(start + 1, before + 1))
                yield replace(frame, lines=numbered).part(rows)
        if before == left:
            raise InputError("weight", 0, "no row has a weight above 0; give some rows one")
        self.largest, self.left, self.sites = largest, left, sites

    def of(self, frame: Frame) -> np.ndarray:
        """The weights (n,) of a piece, of which the table's largest is 1."""
        values = _numbers(frame, self.column)
        if values is None or not np.isfinite(values).all() or (values < 0).any():
            wrong = next(text for text in frame.texts(self.column).tolist() if not _is_weight(text))
            remedy = "weights of rows are finite numbers >= 0, one in every row"
            raise InputError(f"column {self.column}", wrong, remedy)
        return values / self.largest

    def notes(self, others: Collection[str]) -> list[str]:
        """What is said of rows that are left out, and of sites that are not among the `others`, which have more."""
        notes = [f"{self.left} rows of weight 0 are left out"] if self.left else []
        empty = [site for site in self.sites if site is not None and site not in others]
        return [*notes, f"sites whose rows all weigh 0 are left out: {some(empty)}"] if empty else notes


def _numbers(frame: Frame, column: str) -> np.ndarray | None:
    """A column as numbers; None where other texts are in it."""
    if frame.numeric(column):
        return frame.columns[column]
    values = numbers_or_texts(["" if text is None else text for text in frame.columns[column].tolist()])
    return values if values.dtype.kind == "f" else None


def _is_weight(text: str | None) -> bool:
    values = numbers_or_texts(["" if text is None else text])
    return values.dtype.kind == "f" and bool(0 <= values[0] < np.inf)
