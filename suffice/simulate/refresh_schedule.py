"""When something that need not happen in every iteration happens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, as_whole


class Schedule(Protocol):
    """A set of iterations t = 1, 2, ...; the first is always in it."""

    def due(self, iteration: int) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Every:
    """Iterations 1, 1 + k, 1 + 2k, ... with k = `steps`."""

    steps: int = 1

    def __post_init__(self) -> None:
        as_whole("steps", self.steps)

    @classmethod
    def epoch(cls, rows: Sequence[int] | Tensor, *, batch: int = 1) -> Every:
        """Once per epoch of the client with most rows: k = its rows / batch, rounded up."""
        counts = as_numbers("rows", rows, ("clients",))
        if len(counts) == 0 or counts.max() < 1:
            raise InputError("rows", rows, "give the number of rows of each client")
        return cls(steps=math.ceil(counts.max().item() / as_whole("batch", batch)))

    def due(self, iteration: int) -> bool:
        return (iteration - 1) % self.steps == 0


@dataclass(frozen=True, kw_only=True)
class Logarithmic:
    """Iterations 1, ceil(ratio), ceil(ratio ceil(ratio)), ..., each at least one after the last: 1, 2, 4, 8 for 2."""

    ratio: float = 2.0

    def __post_init__(self) -> None:
        if not isinstance(self.ratio, (int, float)) or not 1 < self.ratio < math.inf:
            raise InputError("ratio", self.ratio, "give a finite number above 1")

    def due(self, iteration: int) -> bool:
        # A power of the ratio could be rounded to the wrong side of an integer; counting up cannot.
        turn = 1
        while turn < iteration:
            turn = max(turn + 1, math.ceil(self.ratio * turn))
        return turn == iteration
