"""Precisions: an excess loss for all clients, a share of each client's own excess, or what its rows can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers
from suffice.support.parse import parse_number

from .constant_prediction import reference

NOISE = "noise"
"""The excess that rows can just tell, as `statistical_precision` has it."""


@dataclass(frozen=True, kw_only=True)
class Precision:
    """A precision that was asked for: a plan's `precisions` have its `key`.

    key   a number, or the text that gives a share: what tells precisions apart
    given  the key as a text
    each  (N,) what it is for every client [loss]
    of    what a share is of: the excess of the "start", of the best "constant" or the "base rate"; or "noise", "loss"
    """

    key: float | str
    given: str
    each: np.ndarray
    of: str = "loss"

    @classmethod
    def parse(
        cls,
        entry: Any,
        *,
        clients: int,
        excess: np.ndarray | None = None,
        of: str = "start",
        noise: Callable[[], np.ndarray] | None = None,
        least: np.ndarray | float = 1e-300,
    ) -> Precision:
        """The precision of a number, of a text such as "10%", or of "noise". Raises `InputError`.

        excess  (N,) of which a share is asked for, and its name `of`; None: not known
        noise   gives the excess that rows can just tell, (N,), nan where they can tell none; None: there are no rows
        least   (N,) no share is smaller: what is left of an excess by rounding
        """
        text = entry.strip() if isinstance(entry, str) else ""
        if text == NOISE:
            told = None if noise is None else noise()
            if told is None or not np.isfinite(told).all():
                why = "there are no rows" if told is None else "the rows do not tell it: too few, or fitted exactly"
                raise InputError("epsilon", NOISE, f"{why}; give a share, 10%, or a number")
            return cls(key=NOISE, given=NOISE, each=np.maximum(told, least), of=NOISE)
        try:
            number = parse_number("epsilon", text.removesuffix("%")) if isinstance(entry, str) else entry
        except InputError:
            raise InputError("epsilon", entry, "give a number, a share such as 10%, or noise") from None
        value = as_numbers("epsilon", number, (), positive=True).item()
        if not text.endswith("%"):
            return cls(key=value, given=f"{value:.12g}", each=np.full(clients, value))
        if excess is None:
            raise InputError("epsilon", entry, "the initial excess is unknown, and so is a share of it: give a number")
        share = f"{value:.12g}%"
        return cls(key=share, given=share, each=np.maximum(value / 100 * excess, least), of=of)


def precisions(source: Any, epsilon: Any = None) -> list[Precision]:
    """The precisions of numbers and texts for a problem or constants, each once; by default what the rows can tell, and
    without rows 10%. Raises `InputError`."""
    if epsilon is None:
        epsilon = "10%" if getattr(source, "row_counts", None) is None else NOISE
    several = isinstance(epsilon, (Sequence, np.ndarray)) and not isinstance(epsilon, str)
    asked = list(epsilon) if several and getattr(epsilon, "ndim", 1) else [epsilon]
    if not asked:
        raise InputError("epsilon", epsilon, "give at least one precision")
    about = reference(source)
    found = [Precision.parse(entry, **about) for entry in asked]
    return list({one.key: one for one in found}.values())
