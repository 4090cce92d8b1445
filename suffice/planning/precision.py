"""Precisions: an excess loss for all clients, a share of each client's own excess, or what its rows can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

NOISE = "noise"
"""The excess that rows can just tell, as `statistical_precision` has it."""


@dataclass(frozen=True, kw_only=True)
class Precision:
    """One that was asked for.

    key    a number, or the text that gives a share: what tells precisions apart
    given  as it was written
    each   one number [loss], or one for each client
    of     what a share is of: the excess of the "start", of the best "constant" or the "base rate"; or "noise", "loss"
    """

    key: float | str
    given: str
    each: float | np.ndarray
    of: str = "loss"

    def levels(self, clients: int) -> np.ndarray:
        """(N,) [loss]."""
        return np.broadcast_to(np.asarray(self.each, dtype=float), (clients,))


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What texts such as "10%" and "noise" refer to, all (N,) [loss].

    excess  of which a share is asked for, and its name `of`; None: not known
    noise   the excess that rows can just tell; nan where they can tell none; None without rows
    least   no share is smaller: what is left of an excess by rounding
    """

    excess: np.ndarray | None
    of: str = "start"
    noise: np.ndarray | None = None
    least: np.ndarray | float = 1e-300


def precisions(epsilon: Any, reference: Reference | np.ndarray | None) -> list[Precision]:
    """Those of numbers and texts such as "10%", every one once; `reference` may be the excess alone. Raises
    `InputError`."""
    about = reference if isinstance(reference, Reference) else Reference(excess=reference)
    asked = entries(epsilon)
    if not asked:
        raise InputError("epsilon", epsilon, "give at least one precision")
    found = [entry if isinstance(entry, Precision) else _precision(entry, about) for entry in asked]
    return list({one.key: one for one in found}.values())


def entries(epsilon: Any) -> list[Any]:
    """One precision, or several."""
    several = isinstance(epsilon, (Sequence, np.ndarray)) and not isinstance(epsilon, str)
    return list(epsilon) if several and getattr(epsilon, "ndim", 1) else [epsilon]


def _precision(entry: Any, about: Reference) -> Precision:
    text = entry.strip() if isinstance(entry, str) else ""
    if text == NOISE:
        if about.noise is None or not np.isfinite(about.noise).all():
            why = "there are no rows" if about.noise is None else "the rows do not tell it: too few, or fitted exactly"
            raise InputError("epsilon", NOISE, f"{why}; give a share, 10%, or a number")
        return Precision(key=NOISE, given=NOISE, each=np.maximum(about.noise, about.least), of=NOISE)
    if not text.endswith("%"):
        value = as_numbers("epsilon", _number(entry), (), positive=True).item()
        return Precision(key=value, given=f"{value:.12g}", each=value)
    share = as_numbers("epsilon", _number(text[:-1]), (), positive=True).item() / 100
    if about.excess is None:
        raise InputError("epsilon", entry, "the initial excess is unknown, and so is a share of it: give a number")
    given = f"{100 * share:.12g}%"
    return Precision(key=given, given=given, each=np.maximum(share * about.excess, about.least), of=about.of)


def _number(entry: Any) -> Any:
    if not isinstance(entry, str):
        return entry
    try:
        return float(entry)
    except ValueError:
        remedy = "give a number, a share of the excess such as 10%, or noise"
        raise InputError("epsilon", entry, remedy) from None
