"""What a problem is: N losses with known gradients, optimum and constants, and a stochastic oracle.

Leading axes are (seed, client, feature): `theta[s, i]` is the model of client i on seed s.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from bounds import Constants

from .randomness import Randomness


class Problem(Protocol):
    """The interface that algorithms, runner and verification rely on."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def clients(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def dtype(self) -> torch.dtype: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def optimum(self) -> Tensor:
        """Minimisers of R_i, (N, d)."""
        ...

    @property
    def sigma2(self) -> Tensor:
        """The noise levels sigma_k^2 that Definition 1 weighs by, (N,)."""
        ...

    @property
    def start(self) -> Tensor:
        """Where the models start, (N, d)."""
        ...

    def excess(self, theta: Tensor) -> Tensor:
        """R_i(theta_i) - min R_i, (S, N)."""
        ...

    def gradient(self, theta: Tensor) -> Tensor:
        """grad R_i(theta_i), (S, N, d)."""
        ...

    def gradient_gap(self, theta: Tensor) -> Tensor:
        """|grad R_k(theta_i) - grad R_i(theta_i)|^2 as [s, i, k], (S, N, N)."""
        ...

    def draw(self, randomness: Randomness, iteration: int) -> Tensor:
        """The randomness of one iteration, in the form that `stochastic_gradient` takes."""
        ...

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        """sum_k weights[s, i, k] g_k(theta_i), (S, N, d); weights None means g_i(theta_i) alone."""
        ...

    def constants(self) -> Constants:
        """What the theorems need to know; estimates are named in its notes."""
        ...

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> Problem: ...
