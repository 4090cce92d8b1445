"""A violation re-evaluated at 50 digits: expected values of a linear algorithm.

Where the weights are fixed and the noise is additive each model has a recursion of its own, written out here in 50
digits from the problem's numbers. Elsewhere one iteration's maps are probed in exact arithmetic (`exact_tensors`) and
M+ = A M A^T + noise + sum w D M D^T is carried as exactly; 15 digits are reported, for the noise's factors are floats.
Where a step takes more than sums, products and quotients, what it takes is known as its floats alone: twice they are
moved by 2^8 times their rounding, and no digit is reported that moves by 2^4 times it.

Matrices hold whole numbers, multiples of 2^-1024: products of Python's integers are exact and a hundred times as fast
as those of mpmath's matrices, and an excess above 1e-250 keeps 50 digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle as cycle_of
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import Algorithm, FixedWeights, Local, Quadratics
from suffice.simulate.moment_maps import Maps, origin
from suffice.simulate.moment_powers import Cycle, branches, probed_alone
from suffice.simulate.problem import QuadraticProblem
from suffice.simulate.problem_batches import over_tensors
from suffice.simulate.quadratic_forms import QuadraticForm

from .exact_tensors import BITS, NUDGE, ExactTensors, times

DIGITS = 50
LONGEST_BY_HAND = 2000
"""The largest T of the recursion written out here: beyond it the probed map is squared."""
PROBED = 15
"""Digits reported at most where one iteration's maps are probed."""
_MOST_EXACT = 1e6
"""Products of whole numbers, a few seconds."""
_WIDER = float(np.finfo(np.longdouble).eps) / 2.0**-52
_SAFETY = 2.0**4 * 2.0**-53 / NUDGE
"""What the rounding of floats may move, of what nudges move."""


def measured(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    *,
    iterations: int,
    eta: float,
    client: int,
    cycle: Cycle,
    form: QuadraticForm | None = None,
    scalars: Mapping[str, float] | None = None,
) -> tuple[Any, int]:
    """`form` (E[e_T] unless given) of one client, an mpmath number, and how many of its digits are good.

    By the recursion where there is one. `cycle` is that of the algorithm's steps, see `verify.assumptions`.
    """
    import mpmath

    form = QuadraticForm(of="excess") if form is None else form
    if (
        form == QuadraticForm(of="excess")
        and iterations <= LONGEST_BY_HAND
        and type(algorithm) in (Local, FixedWeights)
        and isinstance(problem, Quadratics)
        and not problem.shared_noise
    ):
        return _fixed_excess(problem, algorithm, iterations, eta, client), DIGITS
    given = problem, algorithm, iterations, eta, client, cycle, form, scalars or {}
    probed, error, rounded = _probed(*given)
    if rounded:
        error += _SAFETY * max(abs(_probed(*given, seed=seed)[0] - probed) for seed in (1, 2))
    good = min(max(int(mpmath.floor(mpmath.log10(abs(probed) / error))), 0), PROBED) if probed and error else PROBED
    return mpmath.mpf(mpmath.nstr(probed, PROBED)), good


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
    return _value(_exact(problem.A[client]), second)


def _probed(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    iterations: int,
    eta: float,
    client: int,
    cycle: Cycle,
    form: QuadraticForm,
    scalars: Mapping[str, float],
    seed: int = 0,
) -> tuple[Any, Any, int]:
    """An mpmath number, its error, and how many operations were known as their floats alone; `seed` moves those.

    Where all noise is additive and no coin is tossed, by squaring. Where coins are tossed for long the exact maps are
    rounded to the machine's widest floats, and the error is 2^4 times what float64 leads away, in their last places.
    """
    with torch.no_grad(), ExactTensors(seed) as exact:
        problem = over_tensors(torch.clone, problem)  # nothing that was computed and kept in floats
        _, centre, z = origin(problem, algorithm)
        start = exact.shadow(z)[:, None]
        moment = times(start, start.T)
        probed = probed_alone(problem, algorithm, centre, torch.as_tensor(eta, dtype=problem.dtype))
        taken = branches(problem, algorithm, cycle.until(iterations), probed)
        F, size = form.on_state(problem, client, centre, scalars), len(moment)
        if form.steady:
            sums = torch.eye(size).to(F).repeat(2, 1)
            taken = [[(share, [maps.with_sum(sums) for maps in steps]) for share, steps in block] for block in taken]
            moment = np.tile(moment, (2, 2))
        blocks = [
            [(Fraction(share), [_Exact.from_maps(maps, exact) for maps in steps]) for share, steps in b] for b in taken
        ]
        F = exact.shadow(F)
        if form.steady:
            own, F = F // (iterations + 1) ** 2, np.zeros((2 * size, 2 * size), dtype=object)
            F[size:, size:] = own
    # probabilities are floats, which need not sum to 1
    blocks = [[(share / sum(odds for odds, _ in block), steps) for share, steps in block] for block in blocks]
    turns, rest = divmod(iterations, cycle.length)
    work = 2 * sum(1 + len(each.deviations) for block in blocks for _, steps in block for each in steps)
    shares: list[Any] = []
    if form.stepped:
        row = form.weights(np.array([iterations]), {name: np.array([each]) for name, each in scalars.items()})[0]
        parts = [Fraction(float(each)) for each in row]
        shares = [each / sum(parts) for each in parts]  # floats sum to 1 but for rounding
    elif turns and all(len(block) == 1 and not any(maps.deviations for maps in block[0][1]) for block in blocks):
        moment = _squared([maps for block in blocks for maps in block[0][1]], turns, moment)
        return _value(F, _stepped(blocks, moment, rest)), 0, exact.rounded
    if turns * work * len(moment) ** 3 > _MOST_EXACT and _WIDER < 2.0**-8:
        given = blocks, moment, iterations, F, shares, form.mean
        wide, narrow = (_in_floats(*given, kind) for kind in (np.longdouble, float))
        return wide, 2**4 * _WIDER * abs(wide - narrow), exact.rounded
    return _value(F, _followed(blocks, moment, iterations, shares, form.mean)), 0, exact.rounded


def _followed(blocks: Blocks, moment: np.ndarray, iterations: int, shares: list[Any], mean: bool) -> np.ndarray:
    """The moment after all iterations; with `shares` sum_t w_t E[z_t z_t^T], or E[S S^T] of S = sum_t w_t z_t."""
    if not shares:
        return _stepped(blocks, moment, iterations)
    size, total = len(moment), _scaled(shares[0], moment)
    if mean:
        joint = np.block([[moment, total], [total, _scaled(shares[0], total)]])
        after = _stepped(blocks, joint, iterations, lambda maps, joint, t: maps.advance_sum(joint, shares[t]))
        return after[size:, size:]
    for t, after in enumerate(_each(blocks, moment, iterations), 1):
        total = total + _scaled(shares[t], after)
    return total


def _in_floats(
    blocks: Blocks, moment: np.ndarray, iterations: int, F: np.ndarray, shares: list[Any], mean: bool, kind: Any
) -> Any:
    """By floats of one kind, as an mpmath number."""
    import mpmath

    blocks = [[(_rounded(share, kind), [each.rounded(kind) for each in steps]) for share, steps in b] for b in blocks]
    shares = [_rounded(share, kind) for share in shares]
    found = (_rounded(F, kind) * _followed(blocks, _rounded(moment, kind), iterations, shares, mean)).sum()
    with mpmath.workdps(DIGITS):
        return mpmath.mpf(float(found)) + mpmath.mpf(float(found - kind(float(found))))


def _rounded(exact: Any, kind: Any) -> Any:
    """A fraction, or an array of multiples of 2^-1024, as one number or an array of two floats' sums."""
    each = [exact] if isinstance(exact, Fraction) else [Fraction(each, 2**BITS) for each in exact.ravel()]
    found = np.array([kind(float(one)) + kind(float(one - Fraction(float(one)))) for one in each], dtype=kind)
    return found[0] if isinstance(exact, Fraction) else found.reshape(exact.shape)


@dataclass(frozen=True, kw_only=True)
class _Exact:
    """`Maps` as multiples of 2^-1024, or `rounded` to floats."""

    mean: np.ndarray
    noise: np.ndarray
    deviations: list[tuple[Any, np.ndarray]]

    @classmethod
    def from_maps(cls, maps: Maps, exact: ExactTensors) -> _Exact:
        weights = [Fraction(int(each), 2**BITS) for each in exact.shadow(maps.weights)]
        mean, noise, deviations = (exact.shadow(each).copy() for each in (maps.mean, maps.noise, maps.deviations))
        return cls(mean=mean, noise=noise, deviations=list(zip(weights, deviations)))

    def rounded(self, kind: Any) -> _Exact:
        mean, noise = _rounded(self.mean, kind), _rounded(self.noise, kind)
        deviations = [(_rounded(weight, kind), _rounded(D, kind)) for weight, D in self.deviations]
        return _Exact(mean=mean, noise=noise, deviations=deviations)

    def advance(self, moment: np.ndarray) -> np.ndarray:
        after = _around(self.mean, moment) + self.noise
        for weight, D in self.deviations:
            after = after + _scaled(weight, _around(D, moment))
        return after

    def advance_sum(self, moment: np.ndarray, share: Any) -> np.ndarray:
        """See `Maps.advance_sum`."""
        m = len(self.mean)
        M, C = self.advance(moment[:m, :m]), times(self.mean, moment[:m, m:])
        cross = C + _scaled(share, M)
        return np.block([[M, cross], [cross.T, moment[m:, m:] + _scaled(share, C + cross.T)]])


Blocks = list[list[tuple[Any, list[_Exact]]]]


def _alone(maps: _Exact, moment: np.ndarray, t: int) -> np.ndarray:
    return maps.advance(moment)


def _each(blocks: Blocks, moment: np.ndarray, count: int, advance: Any = _alone) -> Iterator[np.ndarray]:
    """The moments after 1, 2, ..., `count` iterations."""
    t = 0
    for block in cycle_of(blocks):
        given = [moment] * len(block)
        for at in range(len(block[0][1])):
            if t == count:
                return
            t += 1
            given = [advance(steps[at], each, t) for (_, steps), each in zip(block, given)]
            moment = sum((_scaled(odds, each) for (odds, _), each in zip(block, given)), np.zeros_like(moment))
            yield moment


def _stepped(blocks: Blocks, moment: np.ndarray, count: int, advance: Any = _alone) -> np.ndarray:
    """The moment after `count` iterations of the blocks."""
    for after in _each(blocks, moment, count, advance):
        moment = after
    return moment


def _squared(steps: list[_Exact], turns: int, moment: np.ndarray) -> np.ndarray:
    """`turns` times all steps, by repeated squaring of M -> A M A^T + Q."""
    A, Q = _exact(torch.eye(len(moment))), np.zeros_like(moment)
    for maps in steps:
        A, Q = times(maps.mean, A), _around(maps.mean, Q) + maps.noise
    while turns:
        if turns & 1:
            moment = _around(A, moment) + Q
        A, Q, turns = times(A, A), _around(A, Q) + Q, turns >> 1
    return moment


def _exact(tensor: Tensor) -> np.ndarray:
    return ExactTensors().shadow(tensor)


def _around(A: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """A M A^T, rounded once."""
    found = A @ moment @ A.T
    return found >> 2 * BITS if found.dtype == object else found


def _scaled(factor: Any, matrix: np.ndarray) -> np.ndarray:
    if matrix.dtype != object:
        return factor * matrix
    return matrix * factor.numerator // factor.denominator


def _value(A: np.ndarray, moment: np.ndarray) -> Any:
    """<A, M> as an mpmath number."""
    import mpmath

    with mpmath.workdps(DIGITS + 10):
        return mpmath.mpf(int((A * moment).sum())) / mpmath.mpf(2) ** (2 * BITS)
