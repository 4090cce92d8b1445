"""A `Problem` is an oracle whose optimum and constants are known, which theorems and plans ask for."""

from __future__ import annotations

from typing import Any, Literal, Protocol, cast

import numpy as np
from torch import Tensor

from suffice.bounds import Constants
from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .moments.by_rows import GradientRows
from .moments.gradient_moments import GradientMoments
from .oracle import Measure, Oracle

Trust = Literal["exact", "certified"]
"""A constant is known to rounding, or it is a bound, or the extreme over sampled points."""


class Problem(Oracle, Protocol):
    """The interface that verification and plans rely on.

    optimum  minimisers of R_i, (N, d)
    sigma2   the noise levels sigma_k^2 that Definition 1 weighs by, (N,)
    """

    measure: Measure = "excess"
    optimum: Tensor
    sigma2: Tensor

    def excess(self, theta: Tensor) -> Tensor:
        """R_i(theta_i) - min R_i, (S, N)."""
        ...

    def value(self, theta: Tensor) -> Tensor:
        return self.excess(theta)

    def held_out(self, theta: Tensor) -> Tensor:
        return self.excess(theta)

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """Draws of one sample (J, N, 1, ...) with weights (J, N) whose mean and covariance are exact.

        The mean and the second moment over j of any gradient of client k equal those of its random draw. Weights may be
        negative (a cubature) and sum to 1 over j. Exact moments are computed from them.
        """
        ...

    def constants(self) -> Constants:
        """The constants that the theorems need; their `notes` name those that are estimates."""
        ...

    def known_by(self, **given: Any) -> Constants:
        """Constants from mu, beta, pairs and notes, with the noise, initial excess and names of the problem."""
        sigma2, excess = (each.double().cpu().numpy() for each in (self.sigma2, self.excess(self.start[None])[0]))
        return Constants(sigma2=sigma2, excess=excess, names=self.names, **given)

    # What theorems and plans ask beyond the constants; what is inherited are the answers of a problem without rows.

    def certainty(self) -> tuple[Trust, str, str]:
        """How `constants` knows mu, sigma2 and the pairs; the region where mu and the pairs hold; that of sigma2."""
        return "exact", "all models", "all models"

    def gradient_moments(self, memory: Memory | None = None) -> GradientMoments | None:
        """Mean and covariance of stochastic gradients as polynomials of the model, where they are; None elsewhere.

        Raises `InputError` where they would take more than `memory` allows.
        """
        return None

    def gradient_rows(self, memory: Memory | None = None) -> GradientRows | None:
        """Rows that stand for these moments where they would be too many; None elsewhere."""
        return None

    def noise_growth(self) -> tuple[np.ndarray, np.ndarray]:
        """(floor, factor), (N,) each, with Var[g_k] <= floor_k + factor_k |grad R_k|^2 at all models.

        floor [(loss / theta)^2], factor [1]; both for the mean of `batch` samples. Here sigma2 bounds all of it.
        """
        floor = self.sigma2.double().cpu().numpy()
        return floor, np.zeros_like(floor)

    @property
    def gradient_cost(self) -> float:
        """Multiplications of one exact gradient of one client."""
        return float(self.features**2)


class QuadraticProblem(Problem, Protocol):
    """A problem whose losses are quadratics: R_i(theta) - min R_i = delta . A_i delta, delta = theta - optimum_i.

    A  half the Hessians, (N, d, d)
    """

    A: Tensor


def known(problem: Oracle, wanted: str) -> Problem:
    """The oracle as a problem, or `InputError`: `wanted` says in words what needs its optimum or constants."""
    if not hasattr(problem, "constants"):
        kind = type(problem).__name__
        raise InputError("problem", kind, f"{wanted} takes a problem whose constants are known, and a {kind} has none")
    return cast(Problem, problem)
