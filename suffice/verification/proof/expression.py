"""Rational functions between SymPy, the certificates' lists, and exact numbers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy

from ..certificate import nested
from ..recheck import Polynomial


class NotOfThisKind(Exception):
    """A claim cannot be written as polynomial inequalities; the message says why in one line."""


def rational(number: Any, what: str) -> Any:
    """A float as the fraction that was meant by it: a decimal of at most 12 digits, or one of a small denominator."""
    short = Fraction(f"{float(number):.12g}")
    if float(short) == float(number):
        return sympy.Rational(short)
    near = Fraction(float(number)).limit_denominator(1000)
    if abs(float(near) - float(number)) <= 4e-16 * abs(float(number)):
        return sympy.Rational(near)
    raise NotOfThisKind(f"the number {float(number)!r} in {what} is no fraction that could be meant by it")


def exact(expression: Any, what: str) -> Any:
    """The expression evaluated, its floats as fractions."""
    given = sympy.sympify(expression)
    return given.xreplace({number: rational(number, what) for number in given.atoms(sympy.Float)}).doit()


def as_list(expression: Any, inside: Mapping[str, Any] | None = None) -> Any:
    """A rational function as a certificate writes it: its numerator by terms, over the powers of its divisors.

    Divisors have the sign that makes them positive at a place `inside` of the box, where one is given.
    """
    expression = sympy.sympify(expression)
    if expression.is_polynomial():
        return _terms(expression)
    top, below = sympy.fraction(sympy.cancel(expression))
    number, factors = sympy.factor_list(below)
    place = {sympy.Symbol(name): value for name, value in (inside or {}).items()}
    signs = [-1 if (sign := base.subs(place)).is_number and sign < 0 else 1 for base, _ in factors]
    top = top * sympy.prod(sign**n for sign, (_, n) in zip(signs, factors))
    parts = [
        _terms(top / number),
        *(["^", _terms(sign * base), -int(n)] for sign, (base, n) in zip(signs, factors)),
    ]
    return parts[0] if len(parts) == 1 else ["*", *parts]


def as_box(sides: Mapping[str, tuple[Any, Any]]) -> dict[str, list[str]]:
    """Intervals as a certificate writes them."""
    return {name: [str(low), str(high)] for name, (low, high) in sorted(sides.items())}


def _terms(polynomial: Any) -> Any:
    return nested(sympy.expand(polynomial))


def polynomial_of(given: Polynomial) -> Any:
    """The checker's polynomial in SymPy."""
    powers = (sympy.prod(sympy.Symbol(name) ** n for name, n in term) * sympy.Rational(c) for term, c in given.items())
    return sympy.Add(*powers)


def at(expression: Any, values: Mapping[Any, Any]) -> Fraction:
    """The value of a rational function at fractions."""
    return Fraction(sympy.sympify(expression).subs(values))
