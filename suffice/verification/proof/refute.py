"""Rational constants and a T at which the exact recursion passes a bound.

Floats look at simple and at random places of the region of the conditions for the largest excess over the bound; the
recursion in fractions then confirms the place. Unlike a point where one induction step fails, this is a violation.

Before that, the formulas are compared in floats with the functions that they were read from, by symbols, and then put
into other variables. What goes wrong there, a root of a square or a limit that symbols do not see, shows where both are
numbers: at short and long steps, at the ends of mu/beta and of T, with a start alone and noise alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import count, islice, product
from typing import Any

import mpmath
import numpy as np
import sympy

from suffice.bounds import Theorem

from ..certificate import certificate
from ..counterexample import described
from .box_search import as_list
from .domain import Domain
from .normalised_bound import BIAS, NotOfThisKind, Symbolic, symbols

LONGEST = 400
_CLEAR = 1e-7
_RANDOM = 2000
_SHARES = [Fraction(1, n) for n in (1, 2, 4, 10, 100)] + [Fraction(9, 10)]
_COUNTS = (1, 2, 3, 8)
NAMES = ("s", "k", "h", "w", "v")
WORDS = {"start": "a start without noise", "noise": "noise from the minimiser", "bias": "the bias alone",
          "stay": "a start at the mixture's minimiser"}  # fmt: skip
_TIMES = (0, 1, 2, 5, 40, 1001)
_STEPS = (Fraction(1, 50), Fraction(1, 2), Fraction(1))
_SAME, _TINY = 1e-6, 1e-12
"""Relative to the larger of two numbers, and of a bound of a start of 1."""


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


def scalars_at(part: str, at: Mapping[str, Any], T: int, numbers: Mapping[str, Fraction]) -> dict[str, Any]:
    """The arguments of a function where a part of the bound alone counts, at beta = 1."""
    moving = part in ("start", "stay")
    found = {"eta": at["s"], "mu": at["k"], "beta": 1, "e0": at["h"] / 2 if moving else 0, "distance2": int(moving)}
    found |= {"sigma2": int(part == "noise"), "T": T, "N": 1 / at["w"], "d": 1 / at["v"], **numbers}
    b = {"stay": at["h"], "bias": Fraction(1)}.get(part, Fraction(0))
    return found | {name: b ** (2 // power) for name, power in BIAS.items()}


def check_agreement(theorem: Theorem, symbolic: Symbolic, domain: Domain, numbers: Mapping[str, Fraction]) -> None:
    """`NotOfThisKind` unless bound and conditions are what was read, at three steps for each of three mu/beta, the
    curvature one of the ends or between."""
    flat, steep = domain.sides["k"]
    dimensions = domain.dimensions((2, 5))
    for place, (k, share) in enumerate(product((flat, (flat + steep) / 2, steep), _STEPS)):
        at = domain.at(share, k, Fraction(place % 3, 2), 1 + place % 4, dimensions[-(place % 2)])
        for part, T in product(("start", "noise", *(["bias"] if symbolic.bias != 0 else [])), _TIMES):
            check_place(theorem, symbolic, part, at, T, numbers)


def check_place(
    theorem: Theorem, symbolic: Symbolic, part: str, at: Mapping[str, Fraction], T: int, numbers: Mapping[str, Fraction]
) -> None:
    """`NotOfThisKind` unless the conditions and, where they are met, the bound are what was read."""
    given = scalars_at(part, at, T, numbers)
    known = {symbols()[name]: sympy.Rational(value) for name, value in at.items()}
    known |= {symbols()[name]: sympy.Rational(given[name]) for name in ("T", "e0", "distance2", "sigma2")}
    met = True
    if theorem.conditions is not None:
        found = _asked(theorem.conditions, "the conditions", given)
        if found.keys() != symbolic.conditions.keys():
            raise NotOfThisKind("the conditions are not those read from them")
        for name, sides in symbolic.conditions.items():
            for own, read in zip(found[name], sides):
                value = sympy.sympify(read).subs(known)
                if value.is_Rational:
                    _compare(f"condition {name}", float(own), value, given)
            left, right = map(float, found[name])
            met &= left <= right + _TINY + 1e-9 * abs(right)
    terms = (symbolic.start, symbolic.noise, symbolic.bias)
    start, noise, bias = (
        sympy.sympify(each).subs(known | {symbolic.z: symbolic.after(T).subs(known)}) for each in terms
    )
    if met and start.is_Rational and noise.is_Rational and bias.is_Rational:  # at a pole there is nothing to compare
        read = {"noise": noise, "bias": bias}.get(part, start + sympy.Rational(given["bias2"]) * bias)
        own = float(_asked(theorem.bound, "the bound", given))
        with suppress(NotOfThisKind), mpmath.workdps(50):  # floats may cancel: where they differ 50 digits are asked
            own = own if _alike(own, float(read)) else float(_asked(theorem.bound, "the bound", given, mpmath.mpf))
        _compare("the bound", own, read, given)


def _asked(function: Any, what: str, given: Mapping[str, Any], kind: Any = float) -> Any:
    numbers = {name: Fraction(given[name]) for name in inspect.signature(function).parameters}
    try:
        return function(**{name: kind(each.numerator) / each.denominator for name, each in numbers.items()})
    except Exception as error:  # whatever a function raises
        raise NotOfThisKind(f"{what} cannot be compared with the formula read from it ({error})") from error


def _alike(own: float, read: float) -> bool:
    return own == read or abs(own - read) <= _SAME * max(abs(own), abs(read)) + _TINY


def _compare(what: str, own: float, read: Any, given: Mapping[str, Any]) -> None:
    if not _alike(own, float(read)):
        at = ", ".join(f"{name} = {float(each):.6g}" for name, each in given.items() if name not in BIAS or each)
        raise NotOfThisKind(f"the formula read from {what} is {float(read):.6g} where it is itself {own:.6g}: {at}")


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


def value_at(expression: Any, values: Mapping[Any, Any]) -> Fraction:
    """The value of a rational function at fractions."""
    return Fraction(sympy.sympify(expression).subs(values))


def said(found: Violation, direction: str, streamed: bool, takes_d: bool) -> str:
    """The place where the bound is violated, with both sides, in words."""
    at = found.at
    named = {"eta": at["s"], "mu": at["k"], "curvature": at["h"]} | ({"d": 1 / at["v"]} if takes_d else {})
    named |= {"N": 1 / at["w"]} if at["w"] != 1 and not streamed else {}
    where = ", ".join(f"{name} = {value}" for name, value in named.items())
    sides = f"{float(found.value):.6g} {'>' if direction == 'upper' else '<'} {float(found.bound):.6g}"
    return f"at beta = 1, {where}, {WORDS[found.part.name]}, T = {found.T}: {sides}"


def counterexample_of(theorem: Theorem, found: Violation, numbers: Mapping[str, Fraction]) -> dict[str, Any]:
    """The violation as `check` states one, for curvatures mu, beta and the one of the start or the noise."""
    at = found.at
    scalars = scalars_at(found.part.name, at, found.T, numbers)
    known = {name: float(value) for name, value in scalars.items()}
    with mpmath.workdps(60):
        sides = [mpmath.mpf(each.numerator) / each.denominator for each in (found.value, found.bound)]
    return described(theorem, {"curvature": float(at["h"])}, known, *sides, int(numbers["N"]), digits=50)


def of_violation(found: Violation, symbolic: Symbolic, direction: str, says: str) -> dict[str, Any]:
    """The recursion in fractions passes the bound at T: re-checked step by step, or its last value for two states."""
    x, part = symbols(), found.part
    numbers = {name: value for name, value in found.at.items()}

    def put(expression: Any, more: Mapping[Any, Any] | None = None) -> Any:
        given = {x[name]: sympy.Rational(value) for name, value in numbers.items()}
        return as_list(sympy.sympify(expression).subs(given).subs(more or {}))

    at = {name: str(value) for name, value in numbers.items()}
    claim: dict[str, Any] = {"kind": "exceeds", "says": says, "at": at}
    if part.pair is not None:
        sides: Sequence[Any] = (str(found.value), str(found.bound))
        left, right = sides if direction == "upper" else sides[::-1]
        return certificate(proof={}, left=left, right=right, **claim)
    period = len(part.rho)
    rounds, j = divmod(found.T, period)
    n = {sympy.Symbol("n"): 1 / x["z"]}
    value: Any = "x"
    if j:
        value = ["+", ["*", put(part.rho[j - 1]), "x"], put(part.add[j - 1])]
    bound = put(part.bound.subs(x["z"], symbolic.move(j)) if j else part.bound)
    left, right = (value, bound) if direction == "upper" else (bound, value)
    recursion = {"T": rounds, "z": "z", "first": "1", "move": put(symbolic.move(period)), "start": put(part.start)}
    recursion |= {"rho": put(part.rho[-1].subs(n)), "add": put(part.add[-1].subs(n))}
    return certificate(proof={}, left=left, right=right, **claim, **recursion)
