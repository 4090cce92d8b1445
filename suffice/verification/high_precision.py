"""A violation re-evaluated at 50 digits: expected values of a linear algorithm.

Where the weights are fixed and the noise is additive each model has a recursion of its own, written out here in 50
digits from the problem's numbers. Elsewhere the engine of moments runs once more in exact arithmetic (`exact_tensors`);
15 digits are reported, for the noise's factors are floats. Where a step takes more than sums, products and quotients,
what it takes is known as its floats alone: twice they are moved by 2^8 times their rounding, and no digit is reported
that moves by 2^4 times it. Where exact products are too many, the engine's floats are reported with as many digits as
they keep.

Matrices hold whole numbers, multiples of 2^-1024: products of Python's integers are exact and a hundred times as fast
as those of mpmath's matrices, and an excess above 1e-250 keeps 50 digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import Algorithm, FixedWeights, Local, Quadratics
from suffice.simulate.moment_powers import MOST_ENTRIES, Cycle, MomentPowers, entries
from suffice.simulate.problem import QuadraticProblem
from suffice.simulate.problem_batches import over_tensors
from suffice.simulate.quadratic_forms import QuadraticForm

from .exact_arithmetic import BITS, NUDGE, ExactTensors, times

DIGITS, ENOUGH = 50, 5
LONGEST_BY_HAND = 2000
"""The largest T of the recursion written out here: beyond it maps are squared."""
PROBED = 15
"""Digits reported at most where the engine of moments gives the number."""
_MOST_EXACT = 1e6
"""Products of whole numbers, a few seconds."""
_FAR = 1e6
"""Times its estimated rounding, and `ENOUGH` digits beyond what nudges move, a number is far from 0."""
_SAFETY = 2.0**4 * 2.0**-53 / NUDGE
"""What the rounding of floats may move, of what nudges move."""


def measured(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    *,
    iterations: int,
    eta: Any,
    client: int,
    cycle: Cycle,
    form: QuadraticForm | None = None,
    scalars: Mapping[str, float] | None = None,
    rough: bool = False,
) -> tuple[Any, int]:
    """`form` (E[e_T] unless given) of one client, an mpmath number, and how many of its digits are good.

    By the recursion where there is one. `cycle` is that of the algorithm's steps, see `verification.assumptions`. If
    `rough`, `ENOUGH` digits are: how many floats keep is seen where the engine's maps are nudged, as a mode that
    neither grows nor decays, beside one that hardly does, makes T^3 of the rounding of a step.
    """
    import mpmath

    form = QuadraticForm(of="excess") if form is None else form
    if (
        form == QuadraticForm(of="excess")
        and iterations <= LONGEST_BY_HAND
        and type(algorithm) in (Local, FixedWeights)
        and type(problem) is Quadratics
    ):
        return _fixed_excess(problem, algorithm, iterations, eta, client), DIGITS
    given, asked = (algorithm, eta, cycle), (form, iterations, client, scalars or {})
    engine, nudged = (partial(MomentPowers, problem, algorithm, eta=eta, cycle=cycle, nudge=seed) for seed in (0, 1))
    many = _products(engine(), iterations, form) > _MOST_EXACT
    value, error = engine().value(*asked) if many or rough else (0.0, np.inf)
    apart = abs(nudged().value(*asked)[0] - value) if many or rough else np.inf
    if many or max(apart / 10.0**-ENOUGH, _FAR * error) <= abs(value):
        error = max(error, apart)
    else:
        value, rounded = _exactly(problem, *given, asked)
        error = (
            _SAFETY * max(abs(_exactly(problem, *given, asked, seed)[0] - value) for seed in (1, 2)) if rounded else 0
        )
    good = min(max(int(mpmath.floor(mpmath.log10(abs(value) / error))), 0), PROBED) if value and error else PROBED
    return mpmath.mpf(mpmath.nstr(mpmath.mpf(value), PROBED)), good


def _products(engine: MomentPowers, iterations: int, form: QuadraticForm) -> float:
    """About as many products of numbers as the engine takes."""
    steps = [maps for block in engine.blocks(iterations) for _, taken in block for maps in taken]
    kinds, size = (
        sum(1 + maps.weights.shape[-1] for maps in steps),
        engine.size * (2 if form.mean or form.steady else 1),
    )
    if form.stepped or (kinds > len(steps) and entries(size) > MOST_ENTRIES):
        return 2 * iterations * kinds / len(steps) * size**3
    return 4 * np.log2(iterations + 2) * (entries(size) if kinds > len(steps) else size) ** 3


def _exactly(
    problem: QuadraticProblem, algorithm: Algorithm, eta: Any, cycle: Cycle, asked: Any, seed: int = 0
) -> tuple[Any, int]:
    """An mpmath number, and how many operations were known as their floats alone; `seed` moves those."""
    with torch.no_grad(), ExactTensors(seed) as exact:
        problem = over_tensors(torch.clone, problem)  # nothing that was computed and kept in floats
        found, _ = MomentPowers(problem, algorithm, eta=eta, cycle=cycle).found(*asked)
        return _number(exact.shadow(found)[0], BITS), exact.rounded


def _fixed_excess(problem: Quadratics, algorithm: Algorithm, iterations: int, eta: float, client: int) -> Any:
    """delta+ = (I - 2 eta sum_k a_k A_k) delta - 2 eta sum_k a_k A_k (xi_k - xi_i) - eta sum_k a_k noise_k."""
    d, step = problem.features, Fraction(eta)
    fixed = isinstance(algorithm, FixedWeights)
    alpha = algorithm.alpha[client].tolist() if fixed else [float(k == client) for k in range(problem.clients)]
    offsets = _exact(problem.xi)
    own = offsets[client]
    pull, drift, noise = (np.zeros(shape, dtype=object) for shape in ((d, d), (d, 1), (d, d)))
    for k, weight in enumerate(map(Fraction, alpha)):
        A = _exact(problem.A[k])
        pull = pull + _scaled(2 * step * weight, A)
        drift = drift - _scaled(2 * step * weight, times(A, (offsets[k] - own)[:, None]))
        noise = noise + _scaled((step * weight) ** 2, _exact(problem.noise.covariance[k]))
    mean = (_exact(problem.start[client]) + own)[:, None]
    second, contraction = times(mean, mean.T), _exact(torch.eye(d)) - pull
    for _ in range(iterations):
        moved = times(contraction, mean)
        cross = times(moved, drift.T)
        second = _around(contraction, second) + cross + cross.T + times(drift, drift.T) + noise
        mean = moved + drift
    return _number((_exact(problem.A[client]) * second).sum(), 2 * BITS)


def _exact(tensor: Tensor) -> np.ndarray:
    return ExactTensors().shadow(tensor)


def _around(A: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """A M A^T, rounded once."""
    return (A @ moment @ A.T) >> 2 * BITS


def _scaled(factor: Fraction, matrix: np.ndarray) -> np.ndarray:
    return matrix * factor.numerator // factor.denominator


def _number(whole: int, bits: int) -> Any:
    """A multiple of 2^-bits as an mpmath number."""
    import mpmath

    with mpmath.workdps(DIGITS + 10):
        return mpmath.mpf(int(whole)) / mpmath.mpf(2) ** bits
