"""The effective step is how far an algorithm moves along a gradient, as a share of eta: c/(t + t0) is no step of c."""

from __future__ import annotations

import numpy as np
import torch

from suffice.simulate import Algorithm, Quadratics, Randomness
from suffice.support.errors import InputError

_FLAT = 1e-9
"""Curvature of losses whose gradient is 1 wherever 40 steps may lead."""
_PATHS = 16
_SMALLEST = 1e-6


def reach(algorithm: Algorithm, clients: int, iterations: int) -> float:
    """How many times as large as the largest step taken in some iterations eta is; 1 where it is smaller, or where the
    models do not move.

    Where all gradients are 1 a model moves by its step in each iteration: eta of gradient descent, eta/(1 + t0) at most
    where the steps are eta/(t + t0). So eta = reach/beta is what makes the algorithm take a step of 1/beta.
    """
    ones = np.ones((clients, 1))
    problem = Quadratics.of(np.full((clients, 1, 1), _FLAT / 2), ones / _FLAT, sigma2=0 * ones[:, 0], start=0 * ones)
    randomness, eta = Randomness(seeds=torch.arange(_PATHS), root=0xA57), torch.ones((), dtype=torch.float64)
    furthest = 0.0
    try:
        with torch.no_grad():
            state = algorithm.init(problem, problem.start.expand(_PATHS, -1, -1).clone())
            for t in range(1, iterations + 1):
                before, state = (
                    state["models"],
                    algorithm.step(problem, state, algorithm.draw(problem, randomness, t), eta),
                )
                furthest = max(furthest, float((state["models"] - before).abs().max()))
    except (InputError, RuntimeError, ValueError, IndexError):  # one for a given number of features
        return 1.0
    return float(f"{1 / furthest:.6g}") if _SMALLEST < furthest < 1 else 1.0  # the last places are rounding
