"""What a problem answers unless it knows better."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.memory import Memory

from ..moments.by_rows import GradientRows
from ..moments.gradient_moments import GradientMoments
from ..problem import Problem, Trust
from ..problem_batches import moved


class Defaults(ABC):
    """As many clients and features as the start (..., N, d) has; not made of data rows, constants exact everywhere."""

    remarks: tuple[str, ...] = ()
    start: Tensor

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
    def gradient_cost(self) -> float:
        return float(self.features**2)

    def certainty(self) -> tuple[Trust, str, str]:
        return "exact", "all models", "all models"

    def estimated(self) -> Problem | None:
        return None

    def expected_smoothness(self, models: Tensor) -> tuple[np.ndarray, np.ndarray] | None:
        return None

    def gradient_moments(self, memory: Memory | None = None) -> GradientMoments | None:
        return None

    def gradient_rows(self, memory: Memory | None = None) -> GradientRows | None:
        return None

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> Self:
        return moved(self, dtype, device)

    def resample(self, root: int, index: int) -> Problem:
        raise InputError("problem", type(self).__name__, "there are no rows to resample; it needs client data")
