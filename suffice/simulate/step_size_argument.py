"""Step sizes as users give them, checked: what every way of following an algorithm takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, real_array

from .oracle import Oracle

StepSize = float | Sequence[float] | np.ndarray | Callable[[int], float | np.ndarray]
"""One number, one per client (N,), or a function of t = 1, 2, ... returning either [theta^2 / loss]."""


def step_sizes(eta: StepSize, problem: Oracle) -> Callable[[int], Tensor]:
    """The step size of iteration t beside the problem's tensors, () or (N,); `InputError` unless positive and finite.

    A constant is prepared, and refused, at once; a function's values when they are asked for.
    """

    def prepared(value: object) -> Tensor:
        array = real_array("eta", value)
        array = as_numbers("eta", array, () if array.ndim == 0 else (problem.clients,))
        if not (array > 0).all():
            raise InputError("eta", value, f"give a positive step size, or {problem.clients} of them")
        return torch.from_numpy(array).to(problem.start)

    if callable(eta):
        return lambda t: prepared(eta(t))
    constant = prepared(eta)
    return lambda t: constant
