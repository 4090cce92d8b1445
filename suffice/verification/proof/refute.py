"""Rational constants and a T at which the exact recursion passes a bound.

Floats look at simple and at random places of the region of the conditions for the largest excess over the bound; the
recursion in fractions then confirms the place. Unlike a point where one induction step fails, this is a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import count, islice, product
from typing import Any

import numpy as np
import sympy

from .agreement import scalars_at
from .domain import Domain
from .expression import at as value_at
from .normalised_bound import Symbolic, symbols

LONGEST = 400
_CLEAR = 1e-7
_RANDOM = 2000
_SHARES = [Fraction(1, n) for n in (1, 2, 4, 10, 100)] + [Fraction(9, 10)]
_COUNTS = (1, 2, 3, 8)
NAMES = ("s", "k", "h", "w", "v")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One of the two inequalities: a start and no noise, or noise from the minimiser.

    Along a direction of curvature h the quantity is rho_j X + add_j j steps after it was X at the start of a period; at
    first it is `start`. With `pair` = (A, b) it is the first coordinate's moment of the state, whose noise has the
    variance `gain`.
    """

    name: str
    start: Any
    rho: Sequence[Any]
    add: Sequence[Any]
    bound: Any
    pair: Any = None
    gain: Any = 0


@dataclass(frozen=True, kw_only=True)
class Violation:
    part: Part
    T: int
    at: Mapping[str, Fraction]
    value: Fraction
    bound: Fraction


def refuted(parts: Sequence[Part], symbolic: Symbolic, domain: Domain, direction: str) -> Violation | None:
    """The first violation that is confirmed in fractions, the simplest constants first."""
    if symbolic.takes_d:
        domain = replace(domain, sides={"v": (Fraction(1, 8), Fraction(1)), **domain.sides})
    every = [each for part in parts for each in (part.bound, *part.rho, *part.add)]
    counts = _COUNTS if any(symbols()["w"] in each.free_symbols for each in every) else (1,)
    for make in (_simple, _drawn):
        constants = list(make(domain, counts))
        found = [one for part in parts for one in _exceeding(part, symbolic, constants, direction)]
        for _, part, T, values in sorted(found, key=lambda each: (each[2], -each[0]))[:6]:
            confirmed = confirm(part, symbolic, values, T, direction)
            if confirmed is not None:
                return confirmed
    return None


def _simple(domain: Domain, counts: Sequence[int]) -> Iterator[dict[str, Fraction]]:
    low, high = domain.sides["k"]
    flat, between = [each for each in _SHARES if low <= each <= high] or [low, high], [Fraction(n, 2) for n in range(3)]
    for share, k, u, N, d in product(_SHARES, flat, between, counts, domain.dimensions()):
        if not (k == 1 and u):
            yield domain.at(share, k, u, N, d)


def _drawn(domain: Domain, counts: Sequence[int]) -> Iterator[dict[str, Fraction]]:
    rng, (low, high) = np.random.default_rng(0), domain.sides["k"]
    for _ in range(_RANDOM):
        share, u = (Fraction(round(1000 * each), 1000) for each in rng.beta(0.5, 0.5, 2))
        k = low * Fraction(round(1000 * float(high / low) ** rng.random()), 1000)
        N, d = int(rng.integers(1, counts[-1] + 1)), int(rng.choice(domain.dimensions()))
        yield domain.at(max(share, Fraction(1, 1000)), min(max(k, low), high), u, N, d)


def _compiled(expression: Any, *more: str) -> Any:
    x = {**symbols(), "n": sympy.Symbol("n")}
    return sympy.lambdify([x[name] for name in (*NAMES, *more)], expression, "numpy")


def _exceeding(
    part: Part, symbolic: Symbolic, constants: Sequence[dict[str, Fraction]], direction: str
) -> Iterator[tuple[float, Part, int, dict[str, Fraction]]]:
    """Yield (excess, part, T, constants): at each T looked at, where the ratio of the two sides is worst, among the
    constants that meet the conditions; those on T are asked later."""
    columns = {name: np.array([float(each[name]) for each in constants]) for name in NAMES}
    given, many = list(columns.values()), len(constants)
    start = scalars_at(part.name, columns, 0, {})
    scalars = [start[name] for name in ("e0", "distance2", "sigma2")]

    def all_of(value: Any) -> np.ndarray:
        return np.broadcast_to(value, many).astype(float)

    bound, place = _compiled(part.bound, "z"), _compiled(symbolic.q if symbolic.q is not None else 1)
    compiled = cache(lambda expression: _compiled(expression, "n"))
    with np.errstate(all="ignore"):
        good = np.ones(many, dtype=bool)
        for left, right in symbolic.conditions.values():
            if symbols()["T"] not in (gap := right - left).free_symbols:
                good &= all_of(_compiled(gap, "e0", "distance2", "sigma2")(*given, *scalars)) >= -1e-15
        base = all_of(place(*given))
        values = _values(part, lambda expression, n=0: compiled(expression)(*given, n))
        for T, value in enumerate(islice(values, LONGEST), 1):
            if T > 40 and T % max(T // 20, 1):
                continue
            value, right = all_of(value), all_of(bound(*given, 1 / (1 + T) if symbolic.q is None else base**T))
            size = np.maximum(np.abs(right), np.abs(value))
            excess = ((value - right) if direction == "upper" else (right - value)) / size
            excess = np.where(good & np.isfinite(excess) & (size > 1e-200), excess, -1)
            worst = int(excess.argmax())
            if excess[worst] > _CLEAR:
                yield float(excess[worst]), part, T, constants[worst]


def _values(part: Part, put: Callable[..., Any]) -> Iterator[Any]:
    """The quantity after 1, 2, ... steps; `put` gives an expression's value at constants, and at an iteration n."""
    value = put(part.start)
    if part.pair is not None:
        (a, b, c, d), (e, f) = (map(put, entries) for entries in part.pair)
        p, r, q, gain = value, 0 * value, 0 * value, put(part.gain)
        while True:
            p, r, q = (
                a * a * p + 2 * a * b * r + b * b * q + gain * e * e,
                a * c * p + (a * d + b * c) * r + b * d * q + gain * e * f,
                c * c * p + 2 * c * d * r + d * d * q + gain * f * f,
            )
            yield p
    for n in count(1):
        j = (n - 1) % len(part.rho)
        after = put(part.rho[j], n) * value + put(part.add[j], n)
        value = after if j == len(part.rho) - 1 else value
        yield after


def confirm(part: Part, symbolic: Symbolic, values: Mapping[str, Fraction], T: int, direction: str) -> Violation | None:
    """Return the violation if fractions confirm it, conditions on T too."""
    x, scalars = symbols(), scalars_at(part.name, values, T, {})
    numbers = {x[name]: value for name, value in values.items()}
    given = numbers | {x[name]: scalars[name] for name in ("T", "e0", "distance2", "sigma2")}
    gaps = [sympy.sympify(right - left).subs(given) for left, right in symbolic.conditions.values()]
    if not all(gap.is_Rational and gap >= 0 for gap in gaps):
        return None

    @cache
    def put(expression: Any, n: int = 0) -> Fraction:
        return value_at(expression, {**numbers, sympy.Symbol("n"): n})

    value = next(islice(_values(part, put), T - 1, None))
    right = value_at(part.bound, numbers | {x["z"]: symbolic.after(T).subs(numbers)})
    if (value > right) if direction == "upper" else (value < right):
        return Violation(part=part, T=T, at=dict(values), value=value, bound=right)
    return None
