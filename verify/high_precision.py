"""A violation re-evaluated at 50 digits: the expected excess of a linear algorithm.

Where the weights are fixed and the noise is additive each model has a recursion of its own, written out here in 50
digits from the problem's numbers. Elsewhere one iteration's maps are probed in float64, so that their entries carry a
relative error of 1e-15; the recursion M+ = A M A^T + noise + sum w D M D^T is then carried in 50 digits, no rounding
accumulates, and 15 digits are reported. A margin far above 1e-15 settles the violation.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from suffice.simulate import Algorithm, FixedWeights, Local, Quadratics
from suffice.simulate.maps import Maps, origin, probe
from suffice.simulate.problem import QuadraticProblem

DIGITS = 50
PROBED = 15
"""Digits reported where one iteration's maps come from float64."""


def measured(
    problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: float, client: int
) -> tuple[Any, int]:
    """E[e_T] of one client, an mpmath number, and how many of its digits are good: by the recursion if there is one."""
    import mpmath

    if type(algorithm) in (Local, FixedWeights) and isinstance(problem, Quadratics) and not problem.shared_noise:
        with mpmath.workdps(DIGITS + 10):
            return _fixed_excess(problem, algorithm, iterations, eta, client), DIGITS
    probed = expected_excess(problem, algorithm, iterations=iterations, eta=eta, client=client)
    return mpmath.mpf(mpmath.nstr(probed, PROBED)), PROBED


def _fixed_excess(problem: Quadratics, algorithm: Algorithm, iterations: int, eta: float, client: int) -> Any:
    """delta+ = (I - 2 eta sum_k a_k A_k) delta - 2 eta sum_k a_k A_k (xi_k - xi_i) - eta sum_k a_k noise_k."""
    import mpmath

    d, step = problem.features, mpmath.mpf(eta)
    fixed = isinstance(algorithm, FixedWeights)
    alpha = algorithm.alpha[client].tolist() if fixed else [float(k == client) for k in range(problem.clients)]
    offsets = _matrix(problem.xi)
    own = offsets[client, :]
    pull, drift, noise = mpmath.zeros(d), mpmath.zeros(d, 1), mpmath.zeros(d)
    for k, weight in enumerate(map(mpmath.mpf, alpha)):
        A = _matrix(problem.A[k])
        pull += 2 * step * weight * A
        drift -= 2 * step * weight * A * (offsets[k, :] - own).T
        noise += (step * weight) ** 2 * _matrix(problem.noise.covariance[k])
    mean = (_matrix(problem.start[client][None]) + own).T
    second, contraction = mean * mean.T, mpmath.eye(d) - pull
    for _ in range(iterations):
        moved = contraction * mean
        second = contraction * second * contraction.T + moved * drift.T + drift * moved.T + drift * drift.T + noise
        mean = moved + drift
    A = _matrix(problem.A[client])
    return mpmath.fsum(A[a, b] * second[b, a] for a in range(d) for b in range(d))


def expected_excess(
    problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: float, client: int, digits: int = DIGITS
) -> Any:
    """E[e_T] of one client, an mpmath number."""
    import mpmath

    with mpmath.workdps(digits + 10):
        _, centre, z = origin(problem, algorithm)
        moment = _matrix(torch.outer(z, z))
        step = torch.as_tensor(eta, dtype=problem.dtype)
        known: dict[int, Maps] = {}
        for t in range(1, iterations + 1):
            phase = algorithm.phase(t)
            if phase not in known:
                known[phase] = probe(problem, algorithm, centre, step, t)
            moment = _advance(known[phase], moment)
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
