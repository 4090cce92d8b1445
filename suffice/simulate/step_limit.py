"""The step limit: up to which step size one client alone contracts in the mean, whatever the problem."""

from __future__ import annotations

import numpy as np

from .problem import Problem


def step_limit(problem: Problem) -> float:
    """The largest step at which a client alone contracts in the mean: min_i 1 / (beta_i max(1, M_i)).

    Var[g_i] <= floor + M_i |grad R_i|^2: M_i is 0 for additive and for bounded noise, but least squares on rows or
    streams have noise that grows with the gradient. Source: adaptive Lemma 1 with multiplicative noise,
    `adaptive/theorem-1-multiplicative`, whose condition eta beta Q <= kappa asks for half of this at kappa = 1/2.
    """
    beta, (_, factor) = problem.constants().beta, problem.noise_growth()
    return float((1 / (beta * np.maximum(factor, 1))).min())
