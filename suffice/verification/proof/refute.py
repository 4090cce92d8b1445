"""Rational constants and a T at which the exact recursion passes a bound.

Floats look at simple and at random places of the region of the conditions for the largest excess over the bound; the
recursion in fractions then confirms the place. Unlike a point where one induction step fails, this is a violation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count, islice, product
from typing import Any

import numpy as np
import sympy

from ..proof_request import Box
from .expression import at as value_at
from .normalised_bound import Symbolic, symbols

LONGEST = 400
_CLEAR = 1e-7
_RANDOM = 2000
_SIMPLE = {
    "share": (1, Fraction(9, 10), Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100)),
    "k": (1, Fraction(9, 10), Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100)),
    "u": (0, Fraction(1, 2), 1),
    "N": (1, 2, 3, 8),
}
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


def refuted(
    parts: Sequence[Part], symbolic: Symbolic, step: Any, sides: Mapping[str, tuple[Fraction, Fraction]], direction: str
) -> Violation | None:
    """The first violation that is confirmed in fractions, the simplest constants first."""
    if symbolic.takes_d:
        sides = {"v": (Fraction(1, 8), Fraction(1)), **sides}
    for constants in (_simple(step, sides, parts), _drawn(step, sides, parts)):
        found = []
        for part in parts:
            allowed = _allowed(symbolic, part, constants)
            found += _exceeding(part, symbolic, [each for each, good in zip(constants, allowed) if good], direction)
        for _, part, T, values in sorted(found, key=lambda each: (each[2], -each[0]))[:6]:
            confirmed = confirm(part, symbolic, values, T, direction)
            if confirmed is not None:
                return confirmed
    return None


def _fixed(parts: Sequence[Part]) -> bool:
    return not any(symbols()["w"] in each.free_symbols for part in parts for each in (part.bound, *part.rho, *part.add))


def _numbers(k: Fraction, u: Fraction, N: Any, d: Any) -> dict[str, Fraction]:
    """In d dimensions at least, and as many as mu, beta and the curvature of the start or the noise need."""
    h = k + u * (1 - k)
    return {"k": k, "h": h, "w": Fraction(1, N), "v": Fraction(1, max(d, len({k, h, 1})))}


def _simple(
    step: Any, sides: Mapping[str, tuple[Fraction, Fraction]], parts: Sequence[Part]
) -> list[dict[str, Fraction]]:
    low, high = sides.get("s", (Fraction(0), Fraction(1)))
    ends = [each for each in _SIMPLE["k"] if sides["k"][0] <= each <= sides["k"][1]] or list(sides["k"])
    counts = (1,) if _fixed(parts) else _SIMPLE["N"]
    x, share_of, found = symbols(), sympy.Symbol("a"), []
    for share, k, u, N, d in product(_SIMPLE["share"], ends, _SIMPLE["u"], counts, _dimensions(sides)):
        if not (k == 1 and u):
            values = _numbers(Fraction(k), Fraction(u), N, d)
            given = {share_of: Fraction(share), x["s"]: low + share * (high - low)}
            given |= {x[name]: value for name, value in values.items()}
            s = value_at(step, {name: value for name, value in given.items() if name in step.free_symbols})
            found.append({"s": s, **values})
    return found


def _drawn(
    step: Any, sides: Mapping[str, tuple[Fraction, Fraction]], parts: Sequence[Part]
) -> list[dict[str, Fraction]]:
    rng = np.random.default_rng(0)
    low, high = sides.get("s", (Fraction(0), Fraction(1)))
    x, found = symbols(), []
    limit = sympy.lambdify([sympy.Symbol("a"), x["k"], x["w"], x["v"]], step)
    fixed, dimensions, spread = _fixed(parts), _dimensions(sides), float(sides["k"][1] / sides["k"][0])
    for _ in range(_RANDOM):
        share, u = (Fraction(round(1000 * each), 1000) for each in rng.beta(0.5, 0.5, 2))
        share = max(share, Fraction(1, 1000))
        k = min(max(sides["k"][0] * Fraction(round(1000 * spread ** rng.random()), 1000), sides["k"][0]), sides["k"][1])
        N = 1 if fixed else int(rng.integers(1, 9))
        values = _numbers(k, u, N, int(rng.choice(dimensions)))
        if step.is_Symbol:
            found.append({"s": low + share * (high - low), **values})
            continue
        # rounded to the inside of an upper limit: what breaks a condition is left out later
        s = Fraction(int(1e4 * float(limit(float(share), float(k), float(values["w"]), float(values["v"])))), 10_000)
        found.append({"s": s, **values})
    return found


def _dimensions(sides: Box) -> list[int]:
    low, high = sides.get("v", (Fraction(1), Fraction(1)))
    return sorted({int(1 / high), *(d for d in (2, 3, 8) if low <= Fraction(1, d) <= high), int(1 / low)})


def _columns(constants: Sequence[Mapping[str, Fraction]]) -> dict[str, np.ndarray]:
    return {name: np.array([float(each[name]) for each in constants]) for name in NAMES}


def _compiled(expression: Any, *more: str) -> Any:
    x = {**symbols(), "n": sympy.Symbol("n")}
    return sympy.lambdify([x[name] for name in (*NAMES, *more)], expression, "numpy")


def _allowed(symbolic: Symbolic, part: Part, constants: Sequence[Mapping[str, Fraction]]) -> np.ndarray:
    """Mark the constants that meet the conditions; those on T are asked later."""
    good = np.ones(len(constants), dtype=bool)
    given = _columns(constants)
    noise = part.name == "noise"
    for left, right in symbolic.conditions.values():
        if symbols()["T"] in (right - left).free_symbols:
            continue
        function = _compiled(right - left, "e0", "distance2", "sigma2")
        with np.errstate(all="ignore"):
            start = (given["h"] / 2, np.ones(len(good)))
            value = function(*given.values(), *(0 * each if noise else each for each in start), float(noise))
        good &= np.broadcast_to(np.asarray(value, dtype=float), good.shape) >= -1e-15
    return good


def _exceeding(
    part: Part, symbolic: Symbolic, constants: Sequence[dict[str, Fraction]], direction: str
) -> list[tuple[float, Part, int, dict[str, Fraction]]]:
    """(excess, part, T, constants): at each T looked at, where the ratio of the two sides is worst."""
    if not constants:
        return []
    given, many = list(_columns(constants).values()), len(constants)
    bound, place = _compiled(part.bound, "z"), _compiled(symbolic.q if symbolic.q is not None else 1)
    compiled, found = cache(lambda expression: _compiled(expression, "n")), []
    with np.errstate(all="ignore"):
        base = np.broadcast_to(place(*given), many).astype(float)
        values = _values(part, lambda expression, n=0: compiled(expression)(*given, n))
        for T, value in enumerate(islice(values, LONGEST), 1):
            if T > 40 and T % max(T // 20, 1):
                continue
            z = 1 / (1 + T) if symbolic.q is None else base**T
            value, right = (np.broadcast_to(each, many).astype(float) for each in (value, bound(*given, z)))
            size = np.maximum(np.abs(right), np.abs(value))
            excess = ((value - right) if direction == "upper" else (right - value)) / size
            excess = np.where(np.isfinite(excess) & (size > 1e-200), excess, -1)
            worst = int(excess.argmax())
            if excess[worst] > _CLEAR:
                found.append((float(excess[worst]), part, T, constants[worst]))
    return found


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
    x = symbols()
    numbers = {x[name]: value for name, value in values.items()}

    @cache
    def put(expression: Any, n: int = 0, **more: Fraction) -> Fraction:
        expression = sympy.sympify(expression)
        known = numbers | {sympy.Symbol(name): value for name, value in {"n": Fraction(n), **more}.items()}
        return value_at(expression, {name: each for name, each in known.items() if name in expression.free_symbols})

    noise = part.name == "noise"
    given = {"T": Fraction(T), "e0": 0 * values["h"] if noise else values["h"] / 2}
    given |= {"distance2": Fraction(not noise), "sigma2": Fraction(noise)}
    for left, right in symbolic.conditions.values():
        try:
            if put(sympy.sympify(right - left), **given) < 0:
                return None
        except (AttributeError, TypeError, ZeroDivisionError):  # infinite, or no rational number
            return None
    value = next(islice(_values(part, put), T - 1, None))
    z = Fraction(1, 1 + T) if symbolic.q is None else put(symbolic.q) ** T
    right = put(part.bound, z=z)
    if (value > right) if direction == "upper" else (value < right):
        return Violation(part=part, T=T, at=dict(values), value=value, bound=right)
    return None
