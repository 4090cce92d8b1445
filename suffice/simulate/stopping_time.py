"""The stopping time tau = min{t: v_t < level} of simulated values v_t; `runner.hitting_times` has that of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class Stopping:
    """The state at t of paths v_0, ..., v_t, (..., S) each: v at min(t, tau), whether tau >= t, and min(t, tau)."""

    def __init__(self, level: Tensor, value: Tensor) -> None:
        self.level, self.value, self.steps = level, value, torch.zeros_like(value)
        self.running = self.steps == 0

    def then(self, value: Tensor) -> None:
        """Go on to t + 1, given v there."""
        self.running = self.still
        self.steps = self.steps + self.running
        self.value = torch.where(self.running, value, self.value)

    @property
    def still(self) -> Tensor:
        """Whether tau > t."""
        return self.running & (self.value >= self.level)

    def keep(self, rows: Tensor) -> None:
        """Leave out all but these rows of the first axis."""
        for name in ("level", "value", "running", "steps"):
            setattr(self, name, getattr(self, name)[rows])


STOPPED: dict[Any, Callable[[Stopping], Tensor]] = {
    "last": lambda at: at.value,
    "while running": lambda at: at.value * at.running,
    "still running": lambda at: at.still.to(at.value),
    "time": lambda at: at.steps,
}
"""The values that are read at T of a path that stops at tau; "time" reads min(tau, T), which is at most tau."""
