"""A client's rows as they stand in a file, before anything is made of them; `source` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers
from suffice.support.parse import nearest

MOST_CLIENTS = 4000
PREFIX = "sklearn:"
"""The prefix of the name of a set of scikit-learn."""
PER_TEXT = 200
"""One more name takes so many bytes where names are told apart."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """X (n, d) numbers, y (n,) numbers or, for classes, texts; `columns` names the d predictors."""

    name: str
    X: np.ndarray
    y: np.ndarray
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        X = as_numbers(f"X of client {self.name}" if self.name else "X", self.X, ("n", "d"))
        object.__setattr__(self, "X", X)
        if self.y.dtype.kind != "U":
            field = f"y of client {self.name}" if self.name else "y"
            object.__setattr__(self, "y", as_numbers(field, self.y, (len(X),)))


def free_name(role: str, columns: Sequence[str]) -> str:
    """A name for a column of clients or targets that no predictor has."""
    return role if role not in columns else f"{role} (of the rows)"


def no_column(role: str, name: str, columns: Sequence[str], more: str = "") -> InputError:
    """The refusal where the column of a role is not there."""
    near = nearest(name, columns)
    shown = ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "")
    meant = f"did you mean {near}? " if near else ""
    return InputError(role, name, f"no such column; {meant}columns: {shown}; say which one by {role}{more}")
