"""A violation re-evaluated at 50 digits: expected values of a linear algorithm.

The engine of moments runs once more in exact arithmetic (`ExactTensors`), with exact factors of the noise's
covariances; where there are none, noise is not additive or weights are not given, 15 digits are reported, for factors
or constants are floats. Where a step takes more than sums, products and quotients, what it takes is known as its floats
alone: twice they are moved by 2^8 times their rounding, and no digit is reported that moves by 2^4 times it. Where
exact products are too many, the engine's floats are reported with as many digits as they keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
import torch

from suffice.simulate import Algorithm, FixedWeights, Local, Quadratics
from suffice.simulate.moment_powers import MOST_ENTRIES, Cycle, MomentPowers, entries
from suffice.simulate.problem import QuadraticProblem
from suffice.simulate.problem_batches import over_tensors
from suffice.simulate.quadratic_forms import QuadraticForm

from .exact_arithmetic import BITS, NUDGE, ExactTensors, times

DIGITS, ENOUGH = 50, 5
PROBED = 15
"""Digits reported at most where factors of the noise, or all numbers, are floats."""
_MOST_EXACT = 1e6
"""The most products of whole numbers that are made, which takes a few seconds."""
_FAR = 1e6
"""A number is far from 0 at so many times its estimated rounding, and `ENOUGH` digits beyond what nudges move."""
_SAFETY = 2.0**4 * 2.0**-53 / NUDGE
"""The most that the rounding of floats may move a value, in multiples of what nudges move it."""


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

    `cycle` is that of the algorithm's steps, see `verification.assumptions`. If `rough`, `ENOUGH` digits are: how many
    floats keep is seen where the engine's maps are nudged, as a mode that neither grows nor decays, beside one that
    hardly does, makes T^3 of the rounding of a step.
    """
    import mpmath

    form = QuadraticForm(of="excess") if form is None else form
    given, asked = (algorithm, eta, cycle), (form, iterations, client, scalars or {})
    engine, nudged = (partial(MomentPowers, problem, algorithm, eta=eta, cycle=cycle, nudge=seed) for seed in (0, 1))
    many, digits = _products(engine(), iterations, form) > _MOST_EXACT, PROBED
    value, error = engine().value(*asked) if many or rough else (0.0, np.inf)
    apart = abs(nudged().value(*asked)[0] - value) if many or rough else np.inf
    if many or max(apart / 10.0**-ENOUGH, _FAR * error) <= abs(value):
        error = max(error, apart)
    else:
        value, rounded, whole = _exactly(problem, *given, asked)
        # constants of other algorithms, such as 1/3, may be floats in place of what a bound has exactly
        digits = DIGITS if whole and not rounded and type(algorithm) in (Local, FixedWeights) else PROBED
        moved = [_exactly(problem, *given, asked, seed)[0] for seed in ((1, 2) if rounded else ())]
        error = _SAFETY * max((abs(each - value) for each in moved), default=0)
    good = min(max(int(mpmath.floor(mpmath.log10(abs(value) / error))), 0), PROBED) if value and error else digits
    with mpmath.workdps(DIGITS + 10):
        return mpmath.mpf(mpmath.nstr(mpmath.mpf(value), digits)), good


def _products(engine: MomentPowers, iterations: int, form: QuadraticForm) -> float:
    """Roughly the number of products of numbers that the engine makes."""
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
) -> tuple[Any, int, bool]:
    """An mpmath number, how many operations were known as their floats alone (`seed` moves those), and whether the
    noise's factors were exact."""
    import mpmath

    with torch.no_grad(), ExactTensors(seed) as exact, mpmath.workdps(DIGITS + 10):
        problem = over_tensors(torch.clone, problem)  # nothing that was computed and kept in floats
        whole = False
        if type(problem) is Quadratics:
            covariance = exact.shadow(problem.noise.covariance)
            factor = _factor(covariance)
            whole = bool((np.abs(times(factor, factor.swapaxes(-1, -2)) - covariance) < 2 ** (BITS // 2)).all())
            exact.shadow(problem.noise.factor)[...] = factor if whole else exact.shadow(problem.noise.factor)
        found, _ = MomentPowers(problem, algorithm, eta=eta, cycle=cycle).found(*asked)
        return mpmath.mpf(int(exact.shadow(found)[0])) / mpmath.mpf(2) ** BITS, exact.rounded, whole


def _factor(covariance: np.ndarray) -> np.ndarray:
    """Lower triangular factors of positive semidefinite matrices (N, d, d), column by column as by Cholesky."""
    found = np.zeros_like(covariance)
    for factor, left in zip(found, covariance.copy()):
        for k in range(len(left)):
            if root := isqrt(max(left[k, k], 0) << BITS):
                factor[k:, k] = left[k:, k] * 2**BITS // root
            left -= (factor[:, k : k + 1] * factor[:, k]) >> BITS
    return found
