"""Precisions: an excess loss for all clients, or a share of each client's own starting excess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers


@dataclass(frozen=True, kw_only=True)
class Precision:
    """One that was asked for.

    key    a number, or the text that gives a share: what tells precisions apart
    given  as it was written
    each   one number [loss], or one for each client
    """

    key: float | str
    given: str
    each: float | np.ndarray

    def levels(self, clients: int) -> np.ndarray:
        """(N,) [loss]."""
        return np.broadcast_to(np.asarray(self.each, dtype=float), (clients,))


def precisions(epsilon: Any, excess: np.ndarray | None) -> list[Precision]:
    """Those of numbers and texts such as "10%", every one once. Raises `InputError`."""
    several = isinstance(epsilon, (Sequence, np.ndarray)) and not isinstance(epsilon, str)
    if isinstance(epsilon, np.ndarray) and epsilon.ndim == 0:
        several = False
    entries = list(epsilon) if several else [epsilon]
    if not entries:
        raise InputError("epsilon", epsilon, "give at least one precision")
    found = [_precision(entry, excess) for entry in entries]
    return list({one.key: one for one in found}.values())


def _precision(entry: Any, excess: np.ndarray | None) -> Precision:
    if not (isinstance(entry, str) and entry.strip().endswith("%")):
        value = as_numbers("epsilon", _number(entry), (), positive=True).item()
        return Precision(key=value, given=f"{value:.12g}", each=value)
    share = as_numbers("epsilon", _number(entry.strip()[:-1]), (), positive=True).item() / 100
    if excess is None:
        raise InputError("epsilon", entry, "the initial excess is unknown, and so is a share of it: give a number")
    text = f"{100 * share:.12g}%"
    return Precision(key=text, given=text, each=share * np.maximum(excess, 1e-300))


def _number(entry: Any) -> Any:
    if not isinstance(entry, str):
        return entry
    try:
        return float(entry)
    except ValueError:
        raise InputError("epsilon", entry, "give a number, or a share of the starting excess such as 10%") from None
