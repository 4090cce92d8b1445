"""A violation re-evaluated at 50 digits: the expected excess of a linear algorithm.

Where the weights are fixed and the noise is additive each model has a recursion of its own, written out here in 50
digits from the problem's numbers. Elsewhere one iteration's maps are probed in float64, so that their entries carry a
relative error of 1e-15; the recursion M+ = A M A^T + noise + sum w D M D^T is then carried in 50 digits, no rounding
accumulates, and 15 digits are reported. A margin far above 1e-15 settles the violation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from suffice.simulate import Algorithm, FixedWeights, Local, Quadratics
from suffice.simulate.maps import Maps, origin
from suffice.simulate.moment_powers import ONE_STEP, Cycle, branches
from suffice.simulate.problem import QuadraticProblem

DIGITS = 50
LONGEST_BY_HAND = 2000
"""The largest T of the recursion written out here: beyond it the probed map is squared."""
PROBED = 15
"""Digits reported where one iteration's maps come from float64."""


def measured(
    problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: float, client: int, cycle: Cycle
) -> tuple[Any, int]:
    """E[e_T] of one client, an mpmath number, and how many of its digits are good: by the recursion if there is one.

    `cycle` is that of the algorithm's steps, see `verify.assumptions`.
    """
    import mpmath

    if (
        iterations <= LONGEST_BY_HAND
        and type(algorithm) in (Local, FixedWeights)
        and isinstance(problem, Quadratics)
        and not problem.shared_noise
    ):
        with mpmath.workdps(DIGITS + 10):
            return _fixed_excess(problem, algorithm, iterations, eta, client), DIGITS
    probed = expected_excess(problem, algorithm, iterations=iterations, eta=eta, client=client, cycle=cycle)
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
    problem: QuadraticProblem,
    algorithm: Algorithm,
    *,
    iterations: int,
    eta: float,
    client: int,
    cycle: Cycle = ONE_STEP,
    digits: int = DIGITS,
) -> Any:
    """E[e_T] of one client, an mpmath number. Where all noise is additive and no coin is tossed, by squaring."""
    import mpmath

    with mpmath.workdps(digits + 10):
        _, centre, z = origin(problem, algorithm)
        moment = _matrix(torch.outer(z, z))
        step = torch.as_tensor(eta, dtype=problem.dtype)
        blocks = [
            [
                (share, [_Exact.of(maps) for maps in steps])
                for share, steps in branches(problem, algorithm, centre, step, block)
            ]
            for block in cycle.blocks
        ]
        turns, rest = divmod(iterations, cycle.length)
        if all(len(block) == 1 and not any(maps.deviations for maps in block[0][1]) for block in blocks):
            moment = _squared([maps for block in blocks for maps in block[0][1]], turns, moment)
        else:
            for _ in range(turns):
                moment = _stepped(blocks, moment, cycle.length)
        moment = _stepped(blocks, moment, rest)
        first, d = client * problem.features, problem.features
        A = problem.A[client].tolist()
        terms = [mpmath.mpf(A[a][b]) * moment[first + b, first + a] for a in range(d) for b in range(d)]
        return mpmath.fsum(terms)


@dataclass(frozen=True, kw_only=True)
class _Exact:
    """`Maps` in mpmath's matrices."""

    mean: Any
    noise: Any
    deviations: list[tuple[Any, Any]]

    @classmethod
    def of(cls, maps: Maps) -> _Exact:
        import mpmath

        pairs = zip(maps.weights.tolist(), maps.deviations)
        return cls(
            mean=_matrix(maps.mean),
            noise=_matrix(maps.noise),
            deviations=[(mpmath.mpf(w), _matrix(D)) for w, D in pairs],
        )

    def advance(self, moment: Any) -> Any:
        after = self.mean * moment * self.mean.T + self.noise
        for weight, D in self.deviations:
            after += weight * (D * moment * D.T)
        return after


def _stepped(blocks: list[list[tuple[float, list[_Exact]]]], moment: Any, count: int) -> Any:
    """The moment after `count` iterations of the blocks."""
    import mpmath

    for block in blocks:
        length = min(len(block[0][1]), count)
        if not length:
            break
        total = mpmath.zeros(moment.rows)
        for probability, steps in block:
            after = moment
            for maps in steps[:length]:
                after = maps.advance(after)
            total += mpmath.mpf(probability) * after
        moment, count = total, count - length
    return moment


def _squared(steps: list[_Exact], turns: int, moment: Any) -> Any:
    """`turns` times all steps, by repeated squaring of M -> A M A^T + Q."""
    import mpmath

    A, Q = mpmath.eye(moment.rows), mpmath.zeros(moment.rows)
    for maps in steps:
        A, Q = maps.mean * A, maps.mean * Q * maps.mean.T + maps.noise
    while turns:
        if turns & 1:
            moment = A * moment * A.T + Q
        A, Q, turns = A * A, A * Q * A.T + Q, turns >> 1
    return moment


def _matrix(tensor: Tensor) -> Any:
    import mpmath

    return mpmath.matrix(tensor.tolist())
