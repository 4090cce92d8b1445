"""The box on which a claim is proved: from the limits that conditions put on eta beta, or from what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import sympy

from suffice.support.errors import InputError

from ..families import LARGEST_STEP
from .normalised_bound import NotOfThisKind, Symbolic, exact, symbols

FLATTEST = Fraction(1, 100)
"""The smallest mu/beta of a box that nobody chose: polynomials on [0, 1] are often 0 at 0."""


@dataclass(frozen=True, kw_only=True)
class Domain:
    """s = eta beta as an expression of the sides, which are intervals of fractions; `says` the box in words."""

    step: Any
    sides: Mapping[str, tuple[Fraction, Fraction]]
    says: str

    def at(self, share: Fraction, k: Fraction, u: Fraction, N: int, d: int) -> dict[str, Fraction]:
        """Constants at beta = 1: a share of the largest step, a curvature a share u above mu, in d dimensions at least,
        and as many as mu, beta and the curvature need."""
        h, (low, high) = k + u * (1 - k), self.sides.get("s", (Fraction(0), Fraction(1)))
        found = {"k": k, "h": h, "w": Fraction(1, N), "v": Fraction(1, max(d, len({k, h, 1})))}
        if self.step.is_Symbol:
            return {"s": low + share * (high - low), **found}
        top, below = (part(share, k, found["w"], found["v"]) for part in self._parts)
        return {"s": Fraction(top) / below, **found}

    @cached_property
    def _parts(self) -> list[Any]:
        """Numerator and denominator of the step, whose coefficients are whole, as functions of fractions."""
        names = [sympy.Symbol("a"), *(symbols()[name] for name in ("k", "w", "v"))]
        return [sympy.lambdify(names, part) for part in sympy.fraction(sympy.together(self.step))]

    def dimensions(self, otherwise: tuple[int, ...] = (1,)) -> tuple[int, ...]:
        """Some of the dimensions of the domain, the least first; `otherwise` where they do not count."""
        if "v" not in self.sides:
            return otherwise
        low, high = self.sides["v"]
        return tuple(sorted({int(1 / high), *(d for d in (2, 3, 8) if low <= Fraction(1, d) <= high), int(1 / low)}))


def domain_of(
    symbolic: Symbolic, box: Mapping[str, tuple[Fraction, Fraction]], dimensions: tuple[int, int] | None
) -> Domain:
    """The box of s and k, and of v = 1/d where `dimensions` go from one to another; what conditions say besides a limit
    of s by a function of these is not used."""
    found = _steps_of(symbolic, box)
    if dimensions is None:
        return found
    few, many = dimensions
    sides = {**found.sides, "v": (Fraction(1, many), Fraction(1, few))}
    return replace(found, sides=sides, says=f"{found.says}, d from {few} to {many}")


def _steps_of(symbolic: Symbolic, box: Mapping[str, tuple[Fraction, Fraction]]) -> Domain:
    x = symbols()
    s, k = x["s"], x["k"]
    flat = box.get("mu/beta", (FLATTEST, Fraction(1)))
    both = [_limit(a, b, s) for a, b in symbolic.conditions.values()]
    known = {k, x["w"], x["v"]}
    used = [pair for pair in both if pair and pair[0].is_rational_function() and not pair[0].free_symbols - known]
    limits, least = ([each for each, upper in used if upper is wanted] for wanted in (True, False))
    low, high = box.get("eta beta", (Fraction(0), None))
    numbers = [Fraction(each) for each in limits if each.is_number]
    if high is not None:
        numbers.append(high)
    moving = [each for each in limits if not each.is_number]
    constant = min(numbers, default=None)
    if least:
        return _between(least, [*limits, *([] if high is None else [sympy.Rational(high)])], low, flat)
    moving = [each for each in moving if constant is None or min(_sampled(each, flat)) < constant]
    says = f"mu/beta in [{flat[0]}, {flat[1]}]"
    sides = {"k": flat}
    if not moving or high is not None:
        least = constant if constant is not None else Fraction(LARGEST_STEP)
        if not box and least <= 0:
            raise NotOfThisKind("the conditions allow no step")
        if low > least:
            raise InputError("box['eta beta']", (str(low), str(high)), f"it is empty: conditions allow {least} at most")
        return Domain(step=s, sides={"s": (low, least), **sides}, says=f"eta beta in [{low}, {least}], {says}")
    chosen = min(moving, key=lambda each: sum(_sampled(each, flat)))
    if constant is not None and max(_sampled(chosen, flat)) > constant:
        raise NotOfThisKind("two conditions limit eta beta in turns; give box={'eta beta': (0, limit)}")
    share = sympy.Symbol("a")
    return Domain(
        step=share * chosen,
        sides={"a": (Fraction(0), Fraction(1)), **sides},
        says=f"eta beta up to {_said(chosen)}, {says}",
    )


def _between(least: list[Any], limits: list[Any], low: Fraction, flat: tuple[Fraction, Fraction]) -> Domain:
    """The domain where a condition limits eta beta from below: whether any step is allowed depends on mu/beta."""
    k, share = symbols()["k"], sympy.Symbol("a")
    if len(least) > 1 or len(limits) > 1 or low > 0:
        raise NotOfThisKind("several conditions limit eta beta from below or above")
    (bottom,), top = least, limits[0] if limits else sympy.Rational(LARGEST_STEP)
    equal = [Fraction(e) for e in sympy.solve(sympy.together(top - bottom), k) if e.is_Rational]
    ends = sorted({*flat, *(each for each in equal if flat[0] < each < flat[1])})
    gap = sympy.lambdify(k, top - bottom)
    inside = [pair for pair in pairwise(ends) if gap(float(sum(pair)) / 2) >= 0]
    if not inside or top.free_symbols - {k} or bottom.free_symbols - {k}:
        raise NotOfThisKind("no step meets the conditions, or their limits are no functions of mu/beta")
    says = f"eta beta from {_said(bottom)} to {_said(top)}, mu/beta in [{inside[0][0]}, {inside[-1][1]}]"
    sides = {"a": (Fraction(0), Fraction(1)), "k": (inside[0][0], inside[-1][1])}
    return Domain(step=bottom + share * (top - bottom), sides=sides, says=says)


def _said(limit: Any) -> str:
    """The limit in words, in terms of d, N and mu/beta."""
    x = symbols()
    whole = sympy.factor(limit.subs({x["w"]: 1 / sympy.Symbol("N"), x["v"]: 1 / sympy.Symbol("d")}))
    return str(whole.subs(x["k"], sympy.Symbol("mu/beta")))


def _sampled(limit: Any, flat: tuple[Fraction, Fraction]) -> list[float]:
    x = symbols()
    places = product((0.0, 0.25, 0.5, 0.75, 1.0), (0.02, 0.5, 1.0))
    at = ((float(flat[0]) + share * float(flat[1] - flat[0]), inverse) for share, inverse in places)
    return [float(limit.subs({x["k"]: k, x["w"]: inverse, x["v"]: inverse})) for k, inverse in at]


def _limit(left: Any, right: Any, s: Any) -> Any:
    """(f, True) where left <= right says s <= f, (f, False) where it says s >= f, None where it says neither."""
    top, below = sympy.fraction(sympy.together(exact(right - left, "a condition")))
    if not top.is_polynomial(s) or sympy.degree(top, s) != 1:
        return None
    x = symbols()
    at = {x[name]: sympy.Rational(1, 2) for name in ("k", "w", "v", "e0", "sigma2", "distance2")} | {x["T"]: 2}
    slope, offset = sympy.Poly(top, s).all_coeffs()
    sign = (slope / below).subs(at | {s: sympy.Rational(1, 100)})
    return (sympy.cancel(-offset / slope), bool(sign < 0)) if sign.is_number and sign != 0 else None
