"""A violation re-evaluated at 50 digits: expected values of a linear algorithm.

Where the weights are fixed and the noise is additive each model has a recursion of its own, written out here in 50
digits from the problem's numbers. Elsewhere one iteration's maps are probed in float64, so that their entries carry a
relative error of 1e-15; the recursion M+ = A M A^T + noise + sum w D M D^T is then carried so exactly that no rounding
adds up, and 15 digits are reported. A margin far above 1e-15 settles the violation.

Matrices hold whole numbers, multiples of 2^-1024: products of Python's integers are exact and a hundred times as fast
as those of mpmath's matrices, and an excess above 1e-250 keeps 50 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import Quantity
from suffice.simulate import Algorithm, FixedWeights, Local, Quadratics
from suffice.simulate.moment_maps import Maps, origin
from suffice.simulate.moment_powers import Cycle, branches, probed_alone
from suffice.simulate.problem import QuadraticProblem
from suffice.simulate.quadratic_forms import QuadraticForm, forms

DIGITS = 50
LONGEST_BY_HAND = 2000
"""The largest T of the recursion written out here: beyond it the probed map is squared."""
_BITS = 1024
PROBED = 15
"""Digits reported where one iteration's maps come from float64."""


def measured(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    *,
    iterations: int,
    eta: float,
    client: int,
    cycle: Cycle,
    form: QuadraticForm | None = None,
) -> tuple[Any, int]:
    """`form` (E[e_T] unless given) of one client, an mpmath number, and how many of its digits are good.

    By the recursion where there is one. `cycle` is that of the algorithm's steps, see `verify.assumptions`.
    """
    import mpmath

    form = forms()["excess"] if form is None else form
    if (
        form.quantity == Quantity.EXCESS
        and iterations <= LONGEST_BY_HAND
        and type(algorithm) in (Local, FixedWeights)
        and isinstance(problem, Quadratics)
        and not problem.shared_noise
    ):
        return _fixed_excess(problem, algorithm, iterations, eta, client), DIGITS
    probed = _probed(problem, algorithm, iterations, eta, client, cycle, form)
    return mpmath.mpf(mpmath.nstr(probed, PROBED)), PROBED


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
        drift = drift - _scaled(2 * step * weight, _times(A, (offsets[k] - own)[:, None]))
        noise = noise + _scaled((step * weight) ** 2, _exact(problem.noise.covariance[k]))
    mean = (_exact(problem.start[client]) + own)[:, None]
    second, contraction = _times(mean, mean.T), _exact(torch.eye(d)) - pull
    for _ in range(iterations):
        moved = _times(contraction, mean)
        cross = _times(moved, drift.T)
        second = _around(contraction, second) + cross + cross.T + _times(drift, drift.T) + noise
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
) -> Any:
    """An mpmath number. Where all noise is additive and no coin is tossed, by squaring."""
    _, centre, z = origin(problem, algorithm)
    start = _exact(z)[:, None]
    moment = _times(start, start.T)
    probed = probed_alone(problem, algorithm, centre, torch.as_tensor(eta, dtype=problem.dtype))
    blocks = [
        [(Fraction(share), [_Exact.of(maps) for maps in steps]) for share, steps in block]
        for block in branches(problem, algorithm, cycle.blocks, probed)
    ]
    if form.average:
        moment = _averaged(blocks, iterations, moment)
    else:
        turns, rest = divmod(iterations, cycle.length)
        if all(len(block) == 1 and not any(maps.deviations for maps in block[0][1]) for block in blocks):
            moment = _squared([maps for block in blocks for maps in block[0][1]], turns, moment)
        else:
            for _ in range(turns):
                moment = _stepped(blocks, moment, cycle.length)
        moment = _stepped(blocks, moment, rest)
    # dividing by T^2 or by N here would round: what a form's entries lose is 1e-16 of each
    return _value(_exact(form.on_state(problem, client, len(moment), iterations)), moment)


def _averaged(blocks: list[list[tuple[Fraction, list[_Exact]]]], iterations: int, moment: np.ndarray) -> np.ndarray:
    """The mean of the moments before the iterations 1 to T."""
    length = sum(len(block[0][1]) for block in blocks)
    total, start = np.zeros_like(moment), moment
    for t in range(iterations):
        if t and t % length == 0:
            start = _stepped(blocks, start, length)
        total = total + _stepped(blocks, start, t % length)
    return total // iterations


@dataclass(frozen=True, kw_only=True)
class _Exact:
    """`Maps` as multiples of 2^-1024."""

    mean: np.ndarray
    noise: np.ndarray
    deviations: list[tuple[Fraction, np.ndarray]]

    @classmethod
    def of(cls, maps: Maps) -> _Exact:
        pairs = zip(maps.weights.tolist(), maps.deviations)
        return cls(
            mean=_exact(maps.mean), noise=_exact(maps.noise), deviations=[(Fraction(w), _exact(D)) for w, D in pairs]
        )

    def advance(self, moment: np.ndarray) -> np.ndarray:
        after = _around(self.mean, moment) + self.noise
        for weight, D in self.deviations:
            after = after + _scaled(weight, _around(D, moment))
        return after


def _stepped(blocks: list[list[tuple[Fraction, list[_Exact]]]], moment: np.ndarray, count: int) -> np.ndarray:
    """The moment after `count` iterations of the blocks."""
    for block in blocks:
        length = min(len(block[0][1]), count)
        if not length:
            break
        total = np.zeros_like(moment)
        for probability, steps in block:
            after = moment
            for maps in steps[:length]:
                after = maps.advance(after)
            total = total + _scaled(probability, after)
        moment, count = total, count - length
    return moment


def _squared(steps: list[_Exact], turns: int, moment: np.ndarray) -> np.ndarray:
    """`turns` times all steps, by repeated squaring of M -> A M A^T + Q."""
    A, Q = _exact(torch.eye(len(moment))), np.zeros_like(moment)
    for maps in steps:
        A, Q = _times(maps.mean, A), _around(maps.mean, Q) + maps.noise
    while turns:
        if turns & 1:
            moment = _around(A, moment) + Q
        A, Q, turns = _times(A, A), _around(A, Q) + Q, turns >> 1
    return moment


def _exact(tensor: Tensor) -> np.ndarray:
    """Multiples of 2^-1024: floats above 1e-290 are such multiples."""
    found = np.array([int(Fraction(each) * 2**_BITS) for each in tensor.flatten().tolist()], dtype=object)
    return found.reshape(tensor.shape)


def _times(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one @ other) >> _BITS


def _around(A: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """A M A^T, rounded once."""
    return (A @ moment @ A.T) >> 2 * _BITS


def _scaled(factor: Fraction, matrix: np.ndarray) -> np.ndarray:
    return matrix * factor.numerator // factor.denominator


def _value(A: np.ndarray, moment: np.ndarray) -> Any:
    """<A, M> as an mpmath number."""
    import mpmath

    with mpmath.workdps(DIGITS + 10):
        return mpmath.mpf(int((A * moment).sum())) / mpmath.mpf(2) ** (2 * _BITS)
