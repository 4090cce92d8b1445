"""A violation re-evaluated at 50 digits: the expected excess of a linear algorithm.

One iteration's maps are probed in float64, so their entries carry a relative error of 1e-15 (none, for most
instances of few-bit numbers such as `search.shrink` leaves); the recursion M+ = A M A^T + noise + sum w D M D^T is
then carried in 50-digit arithmetic, so that no rounding accumulates. A margin far above 1e-15 settles the violation.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from simulate import Algorithm
from simulate.moment_recursion import Maps, origin, probe
from simulate.problem import QuadraticProblem

DIGITS = 50


def expected_excess(
    problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: float, client: int, digits: int = DIGITS
) -> Any:
    """E[e_T] of one client, an mpmath number."""
    import mpmath

    with mpmath.workdps(digits + 10):
        _, centre, z = origin(problem, algorithm)
        moment = _matrix(torch.outer(z, z))
        step = torch.as_tensor(eta, dtype=problem.dtype)
        known: dict[int, list[tuple[float, Maps]]] = {}
        for t in range(1, iterations + 1):
            phase = algorithm.phase(t)
            if phase not in known:
                known[phase] = [
                    (probability, probe(problem, algorithm, centre, step, t, extra))
                    for probability, extra in algorithm.outcomes(problem, t)
                ]
            after = mpmath.zeros(moment.rows)
            for probability, maps in known[phase]:
                after += mpmath.mpf(probability) * _advance(maps, moment)
            moment = after
        first, d = client * problem.features, problem.features
        A = problem.A[client].tolist()
        terms = [mpmath.mpf(A[a][b]) * moment[first + b, first + a] for a in range(d) for b in range(d)]
        return mpmath.fsum(terms)


def _advance(maps: Maps, moment: Any) -> Any:
    import mpmath

    mean = _matrix(maps.mean)
    after = mean * moment * mean.T + _matrix(maps.noise)
    for weight, deviation in zip(maps.weights.tolist(), maps.deviations):
        D = _matrix(deviation)
        after += mpmath.mpf(weight) * (D * moment * D.T)
    return after


def _matrix(tensor: Tensor) -> Any:
    import mpmath

    return mpmath.matrix(tensor.tolist())
