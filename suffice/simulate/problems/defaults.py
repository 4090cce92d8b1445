"""Defaults are what an oracle, and what a problem, answers unless it knows better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from suffice.support.memory import Memory

from ..moments.by_rows import GradientRows
from ..moments.gradient_moments import GradientMoments
from ..oracle import Measure
from ..problem import Trust
from ..problem_batches import moved


class OracleDefaults(ABC):
    """As many clients and features as the start (..., N, d) has; not made of data rows."""

    remarks: tuple[str, ...] = ()
    start: Tensor
    batch: int

    @property
    def clients(self) -> int:
        return self.start.shape[-2]

    @property
    def features(self) -> int:
        return self.start.shape[-1]

    @property
    def dtype(self) -> torch.dtype:
        return self.start.dtype

    @property
    def device(self) -> torch.device:
        return self.start.device

    @property
    def row_counts(self) -> tuple[int, ...] | None:
        return None

    @property
    def selects(self) -> bool:
        """Whether counting the models in use pays: a card would have to be waited for, unless networks are large."""
        return self.device.type == "cpu"

    @property
    def draw_size(self) -> int:
        return self.clients * self.features * self.batch

    def metrics(self, theta: Tensor) -> Mapping[str, Tensor]:
        return {}

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> Self:
        return moved(self, dtype, device)


class Defaults(OracleDefaults):
    """Constants exact everywhere; what is measured is the excess."""

    measure: Measure = "excess"

    @abstractmethod
    def excess(self, theta: Tensor) -> Tensor: ...

    def value(self, theta: Tensor) -> Tensor:
        return self.excess(theta)

    def held_out(self, theta: Tensor) -> Tensor:
        return self.excess(theta)

    @property
    def gradient_cost(self) -> float:
        return float(self.features**2)

    def certainty(self) -> tuple[Trust, str, str]:
        return "exact", "all models", "all models"

    def gradient_moments(self, memory: Memory | None = None) -> GradientMoments | None:
        return None

    def gradient_rows(self, memory: Memory | None = None) -> GradientRows | None:
        return None
