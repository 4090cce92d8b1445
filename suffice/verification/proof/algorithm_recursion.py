"""The recursion of second moments along one eigen-direction, read from an algorithm's own step.

In one eigen-direction of curvature h the step eta enters as t = eta h, by the units. The moment map of alike clients in
R^1 is a polynomial of t: its coefficients are interpolated from float64 values of `moment_maps.probe`, rounded to small
fractions, and confirmed at random t, in other units, and in R^2 along an eigen-direction that is no coordinate axis.
What is proved is proved of these fractions: the reading itself is numerical.

W is a quadratic form on the homogeneous state, so that <W, M_t> = E[(client 0's coordinate)^2] at W = W_0. One step
takes it back: <W, M_{t+1}> = <step* W, M_t>. Let F_j = step_1* ... step_j* W_0, so that <F_j, M> is the moment j steps
into a period of K steps that began with M, and let X_r be the moment after r periods. At the start
<F_j, M_0> = rho_j X_0 + c_j, which defines rho_j and c_j. If period* F_j = rho_j F_K + c_j, then for every r >= 1
<F_j, M_r> = rho_j <F_K, M_{r-1}> + c_j = rho_j X_r + c_j.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np
import sympy
import torch

from suffice.simulate import Algorithm, Quadratics, StreamingLeastSquares
from suffice.simulate.moment_maps import Maps, origin, probe
from suffice.simulate.moment_powers import Cycle

from .normalised_bound import NotOfThisKind

_DEGREES, _DENOMINATOR, _CONFIRMED = (4, 16), 10_000, 50
_SAME = 1e-12


@dataclass(frozen=True, kw_only=True)
class Recursion:
    """After j = 1, ..., K steps from the start of a period E[x^2] = moments[j - 1] x^2 + noises[j - 1] eta^2 sigma_a^2.

    The entries are SymPy polynomials of t = eta h and, where clients share, of w = 1/N; they are rational in the
    iteration n where steps change. With `pair` = (A, b) the state is s = (x, y) instead, y_0 = 0:
    s <- A s + b eta xi with E[xi^2] = sigma_a^2.
    """

    moments: Sequence[Any]
    noises: Sequence[Any]
    pair: tuple[Any, Any] | None = None


Make = Callable[[float, int, float, bool], tuple[Any, np.ndarray]]
"""From t, a number of clients or dimensions, the step and whether to turn: a problem, and the directions (k, d) whose
squares are added up."""


def streams(t: float, features: int, step: float, turned: bool) -> tuple[StreamingLeastSquares, np.ndarray]:
    """One stream of least squares whose features are Gaussian of one variance: all directions together."""
    h = t / step  # 2 E[x x^T]; the variance of the gradient at the minimiser is 4 s^2 tr E[x x^T] = 1
    problem = StreamingLeastSquares.of(
        h / 2 * np.eye(features), np.zeros((1, features)), label_noise=(2 * h * features) ** -0.5,
        start=np.eye(features)[:1],
    )  # fmt: skip
    return problem, np.eye(features)


def alike(t: float, clients: int, step: float, turned: bool) -> tuple[Quadratics, np.ndarray]:
    """Alike clients with curvature t/step along a direction, the only one or, turned, one of two."""
    if not turned:
        hessian, direction = np.array([[t / step]]), np.array([1.0])
    else:
        turn = np.array([[0.6, -0.8], [0.8, 0.6]])
        hessian, direction = turn @ np.diag([t / step, 0.4 / step]) @ turn.T, turn[:, 0]
    d = len(direction)
    A = np.tile((hessian + hessian.T) / 4, (clients, 1, 1))
    start = np.tile(direction, (clients, 1))
    return Quadratics.of(A, np.zeros((clients, d)), sigma2=float(d), start=start), direction[None]


def read(algorithm: Algorithm, cycle: Cycle, clients: Sequence[int], make: Make = alike) -> Recursion:
    """Read the recursion of as many alike clients as `clients` lists; of several numbers as a polynomial of w = 1/N.

    With `make` = `streams` the numbers are dimensions, and w is d.
    """
    iterations = [n for block in cycle.blocks for n in block.iterations]
    x = [Fraction(n) if make is streams else Fraction(1, n) for n in clients]
    w = sympy.Symbol("w")

    def share(column: Sequence[Fraction]) -> Any:
        points = [(sympy.Rational(at), sympy.Rational(value)) for at, value in zip(x, column)]
        found = sympy.expand(sympy.interpolate(points[:3], w))
        if any(found.subs(w, at) != value for at, value in points):
            raise NotOfThisKind(f"{algorithm.name} depends on the number of clients in another way than by 1/N")
        return found

    joined = _joined([_polynomials(algorithm, iterations, n, make=make) for n in clients], share)
    K = len(iterations)
    two = len(joined) > 2 * K
    pair = (sympy.Matrix(2, 2, joined[2 * K : 2 * K + 4]), sympy.Matrix(joined[2 * K + 4 :])) if two else None
    return Recursion(moments=joined[:K], noises=joined[K : 2 * K], pair=pair)


def read_changing(algorithm: Algorithm, clients: Sequence[int], iterations: int) -> Recursion:
    """Read it where steps change with the iteration n, by rational functions of n that agree at all `iterations`."""
    # the first are confirmed as a constant step is; the others, besides, by what is interpolated through them
    confirmed = [_CONFIRMED if at < 4 else 3 for at in range(1, iterations + 1)]
    rows = [_polynomials(algorithm, [at], clients[0], count) for at, count in enumerate(confirmed, start=1)]
    for other in clients[1:]:
        if any(_polynomials(algorithm, [at], other) != rows[at - 1] for at in (1, 2, 7)):
            raise NotOfThisKind(f"the steps of {algorithm.name} change, and clients share")
    if len(rows[0]) > 2:
        raise NotOfThisKind(f"{algorithm.name} has momentum and steps that change")
    moment, noise = _joined(rows, lambda column: _of_iteration(column, algorithm.name))
    return Recursion(moments=[moment], noises=[noise])


def _of_iteration(values: Sequence[Fraction], name: str) -> Any:
    from sympy.polys.polyfuncs import rational_interpolate

    n, points = sympy.Symbol("n"), [(sympy.Integer(at), sympy.Rational(value)) for at, value in enumerate(values, 1)]
    for degree in range(5):
        found = sympy.cancel(rational_interpolate(points[: 2 * degree + 1], degree, X=n)) if degree else points[0][1]
        if all(found.subs(n, at) == value for at, value in points):
            return found
    raise NotOfThisKind(f"the steps of {name} change by no rational function of the iteration")


def _joined(rows: Sequence[Sequence[Sequence[Fraction]]], through: Callable[[Sequence[Fraction]], Any]) -> list[Any]:
    """Polynomials of t from those of each row; `through` makes one coefficient of those that the rows have."""
    t, found = sympy.Symbol("t"), []
    for column in zip(*rows):
        powers = enumerate(zip_longest(*column, fillvalue=Fraction(0)))
        found.append(sympy.expand(sympy.Add(*(through(same) * t**power for power, same in powers))))
    return found


def _polynomials(
    algorithm: Algorithm, iterations: Sequence[int], clients: int, confirmed: int = _CONFIRMED, make: Make = alike
) -> list[list[Fraction]]:
    """The coefficients in t of rho_j, c_j and, of two states, A and b."""

    def at(t: float, step: float = 1.0, turned: bool = False, two: bool = False) -> np.ndarray:
        return _numbers(algorithm, iterations, *make(t, clients, step, turned), step, clients if two else 0)

    two = False
    if make is alike:
        try:
            at(0.43)
        except NotOfThisKind:  # one more state moves with the direction, or nothing does
            two = True
    found = interpolated(lambda t: at(t, two=two), algorithm.name)
    rng = np.random.default_rng(0)
    for place, t in enumerate(rng.uniform(0.01, 2, confirmed)):
        expected = np.array([sum(float(c) * t**n for n, c in enumerate(one)) for one in found])
        seen = at(t, step=(1.0, 0.37, 5.0)[place % 3], turned=place % 10 == 0, two=two)
        if (np.abs(seen - expected) > _SAME * np.maximum(1, np.abs(expected))).any():
            says = f"a step of {algorithm.name} is no polynomial of eta h whose coefficients are fractions of"
            raise NotOfThisKind(f"{says} denominator {_DENOMINATOR:,} at most")
    return found


def interpolated(values: Callable[[float], np.ndarray], name: str) -> list[list[Fraction]]:
    """Coefficients of polynomials of t with small fractions as coefficients, from their values in floats."""
    for degree in _DEGREES:
        count = degree + 5
        t = 1 - np.cos((np.arange(count) + 0.5) * np.pi / count)  # Chebyshev's points of [0, 2]
        found = [_coefficients(t, column, degree) for column in np.array([values(each) for each in t]).T]
        if all(each is not None for each in found):
            return [each for each in found if each is not None]
    raise NotOfThisKind(f"{name} is no polynomial of eta h of degree {_DEGREES[-1]} at most")


def _coefficients(t: np.ndarray, values: np.ndarray, degree: int) -> list[Fraction] | None:
    size = max(float(np.abs(values).max()), 1e-30)
    fit = np.polynomial.Chebyshev.fit(t, values, degree, domain=[0, 2]).trim(_SAME * size)
    if np.abs(fit(t) - values).max() > _SAME * size:
        return None
    numbers = fit.convert(kind=np.polynomial.Polynomial, domain=[-1, 1], window=[-1, 1]).coef
    return [Fraction(float(each)).limit_denominator(_DENOMINATOR) for each in numbers]


def _numbers(
    algorithm: Algorithm, iterations: Sequence[int], problem: Any, directions: np.ndarray, step: float, two: int
) -> np.ndarray:
    """rho_j, c_j and, where `two` is the number of clients whose direction moves with one more state, A and b."""
    d = len(directions[0])
    _, centre, start = origin(problem, algorithm)
    maps = [probe(problem, algorithm, centre, torch.tensor(step, dtype=torch.float64), n) for n in iterations]
    followed = np.zeros((len(start), len(start)))
    followed[:d, :d] = directions.T @ directions
    z = start.numpy()

    def back(form: np.ndarray, steps: Sequence[Maps]) -> np.ndarray:
        for one in reversed(steps):
            form = _adjoint(one, form)
        return form

    forms = [back(followed, maps[: j + 1]) for j in range(len(maps))]
    noises = [float(form[-1, -1]) for form in forms]
    # the start is 1 along the direction and 0 across it
    moments = [float(z @ form @ z) - noise for form, noise in zip(forms, noises)]
    pair = _pair(maps, directions[0], z, step, two) if two else []
    closed = two or all(_closes(back(each, maps), forms[-1], rho, c) for each, rho, c in zip(forms, moments, noises))
    if pair is None or not closed:
        who = f"second moments of {algorithm.name}"
        raise NotOfThisKind(f"{who} do not move alone along an eigen-direction, nor with one more state")
    return np.array([*moments, *(c / step**2 for c in noises), *pair])


def _adjoint(one: Maps, form: np.ndarray) -> np.ndarray:
    """<form, M+> = <result, M> for the step's map M -> M+, M the moment of a state whose last entry is 1."""
    mean, noise = one.mean.numpy(), one.noise.numpy()
    result = mean.T @ form @ mean
    for weight, deviation in zip(one.weights.numpy(), one.deviations.numpy()):
        result = result + weight * deviation.T @ form @ deviation
    result[-1, -1] += (form * noise).sum()
    return result


def _closes(twice: np.ndarray, once: np.ndarray, rho: float, c: float) -> bool:
    wanted = rho * once
    wanted[-1, -1] += c
    return bool(np.abs(twice - wanted).max() <= 1e-11 * max(1.0, np.abs(wanted).max()))


def _pair(
    maps: Sequence[Maps], direction: np.ndarray, start: np.ndarray, step: float, clients: int
) -> list[float] | None:
    """A and b of client 0's coordinate and one more state of its own; None where these do not move alone."""
    d, size = len(direction), len(start) - 1
    if len(maps) > 1 or size != 2 * d * clients or len(maps[0].weights):
        return None
    basis = np.zeros((2, size + 1))
    basis[0, :d] = basis[1, d * clients : d * clients + d] = direction
    mean, noise = maps[0].mean.numpy(), maps[0].noise.numpy()
    rows, gained = basis @ mean, basis @ noise @ basis.T / step**2
    A = rows @ basis.T
    b = np.array([np.sqrt(gained[0, 0]), gained[0, 1] / max(np.sqrt(gained[0, 0]), 1e-300)])
    scale = max(1.0, np.abs(rows).max())
    alone = np.abs(rows - A @ basis).max() <= 1e-11 * scale and np.abs(np.outer(b, b) - gained).max() <= 1e-11
    return [*A.ravel(), *b] if alone and np.abs(basis @ start - [1, 0]).max() <= 1e-12 else None
