"""p >= 0 on a box: halvings until no Bernstein coefficient is negative, or a corner where p is negative.

The corners of an array of Bernstein coefficients are values of p, so a negative one refutes p >= 0. Shared factors and
squares are split off first: a zero inside the box would be halved for ever. Everything is exact; the arrays hold
Python's integers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import sympy

from ..certificate import nested
from ..recheck import Polynomial, quotient

Box = Mapping[str, tuple[Fraction, Fraction]]
TERMS = 10**5
"""The most Bernstein coefficients that are tried."""


class Undecided(Exception):
    """A search that ended without an answer; `part` is what is left of the box."""

    def __init__(self, reason: str, part: Box | None = None) -> None:
        super().__init__(reason)
        self.part = part


class Negative(Exception):
    """A point of the box where the inequality fails."""

    def __init__(self, point: Mapping[str, Fraction]) -> None:
        super().__init__(", ".join(f"{name} = {value}" for name, value in point.items()))


@dataclass
class Budget:
    """CPU seconds and halvings that a search may still take."""

    seconds: float
    halvings: int = 20_000
    began: float = field(default_factory=time.process_time)

    def left(self) -> float:
        return self.seconds - (time.process_time() - self.began)


def _halves(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """De Casteljau's rule at 1/2, times 2^n: for the half above, and for the one below."""
    size = range(degree + 1)
    above = [[comb(degree - i, degree - j) << i for j in size] for i in size]
    below = [[comb(i, j) << (degree - i) for j in size] for i in size]
    return np.array(above, dtype=object), np.array(below, dtype=object)


def tree_of(polynomial: Polynomial, box: Box, budget: Budget, least: int = 0) -> str:
    """The halvings that show `polynomial` >= 0 (`least` 0) or > 0 (1) on the box, as the checker reads them.

    Raises `Negative` with a corner where it is not, and `Undecided`.
    """
    size = np.prod([max((dict(term).get(name, 0) for term in polynomial), default=0) + 1 for name in box])
    if size > TERMS:
        raise Undecided(f"{int(size):,} Bernstein coefficients are too many", box)
    indices, given = zip(*sorted(polynomial.bernstein(dict(box)).items()))
    shape = tuple(n + 1 for n in indices[-1])
    start = np.array(given, dtype=object).reshape(shape)
    names, rules = list(box), [_halves(n - 1) for n in shape]
    waiting, tree = [(start, dict(box))], ""
    while waiting:
        values, part = waiting.pop()
        for ends in product(*((0, -1) if n > 1 else (0,) for n in shape)):
            if values[ends] < least:
                raise Negative({name: part[name][end] for name, end in zip(part, ends)})
        if values.min() >= least:
            tree += "."
            continue
        budget.halvings -= 1
        if budget.halvings < 0 or budget.left() <= 0:
            raise Undecided(f"after {budget.seconds - budget.left():.1f} s", part)
        axis = _widest(values, part)
        tree += chr(ord("a") + axis)
        low, high = part[names[axis]]
        middle = (low + high) / 2
        # the checker takes the half that was put on its stack last, which is the one below
        for rule, side in zip(rules[axis], ((middle, high), (low, middle))):
            half = np.moveaxis(np.tensordot(rule, values, axes=(1, axis)), 0, axis)
            waiting.append((half, {**part, names[axis]: side}))
    return tree


def _widest(values: np.ndarray, part: Box) -> int:
    """The side along which the coefficients bend or change most: halving it moves them most."""
    numbers = (values / max(abs(values.max()), abs(values.min()))).astype(float)
    numbers = np.where(numbers < 0, numbers, np.minimum(numbers, -numbers.min() * 1e3))
    changes = [
        np.abs(np.diff(numbers, axis=axis)).sum() if numbers.shape[axis] > 1 and low < high else -1.0
        for axis, (low, high) in enumerate(part.values())
    ]
    return int(np.argmax(changes))


def proof_of(left: Any, right: Any, box: Box, budget: Budget) -> dict[str, Any]:
    """The proof of left <= right on a box that the checker asks for: divisors and factors with their trees.

    Raises `Negative` with a point where it fails, and `Undecided`: also where a divisor has a zero on the box.
    """
    top, below = quotient(["+", right, ["*", -1, left]])
    try:
        every = [Polynomial(base) for base in below]
        divisors = [[as_list(polynomial_of(one)), tree_of(one, box, budget, least=1)] for one in every]
    except Negative as pole:
        raise Undecided(f"a divisor is 0 or below at {pole}: the bound has a pole there", box) from pole
    if not top:
        return {"divisors": divisors, "factors": [["0", 1, "."]]}
    number, factors = sympy.factor_list(polynomial_of(top))
    found, sought = list[list[Any]](), list[Any]()
    sign = 1 if number > 0 else -1
    for base, n in factors:
        if n % 2 == 0:
            found.append([as_list(base), int(n), ""])
            continue
        for own in (1, -1):
            with suppress(Negative):
                listed = as_list(own * base)
                found.append([listed, int(n), tree_of(quotient(listed)[0], box, budget)])
                sign *= own
                break
        else:
            sought.append((base, n))
    if sought:  # factors that change sign may do so together
        whole = as_list(sympy.expand(sign * abs(number) * sympy.prod(base**n for base, n in sought)))
        found.append([whole, 1, tree_of(quotient(whole)[0], box, budget)])
    elif sign < 0:
        raise Negative(_inside(top, box))
    elif abs(number) != 1:
        found.insert(0, [as_list(abs(number)), 1, "."])
    return {"divisors": divisors, "factors": found}


def _inside(top: Polynomial, box: Box) -> dict[str, Fraction]:
    """A point where a polynomial that is nowhere positive is negative."""
    p = polynomial_of(top)
    for shares in product((Fraction(1, 3), Fraction(1), Fraction(3, 7)), repeat=len(box)):
        point = {name: low + share * (high - low) for share, (name, (low, high)) in zip(shares, box.items())}
        if p.subs({name: f"{value}" for name, value in point.items()}) < 0:
            return point
    raise Undecided("the inequality is an equality wherever it was tried", box)


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
