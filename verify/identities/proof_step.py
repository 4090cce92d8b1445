"""A step of a proof, and what certifies it: an exact identity and admissible multipliers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .vector import Vector

Term = tuple[Any, Any]
"""(multiplier, fact): a Vector stands for its squared norm."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """left <= right, because right - left = sum of multiplier * fact; `atoms` are >= 0 by hypothesis.

    `facts` are hypotheses (expressions >= 0) that terms may use besides squared norms.
    """

    left: Any
    right: Any
    terms: Sequence[Term]
    atoms: Sequence[Any]
    facts: Sequence[Any] = ()

    def certified(self) -> bool:
        """Whether the identity holds exactly and every multiplier and fact is admissible."""
        import sympy

        combination = sympy.Integer(0)
        for multiplier, fact in self.terms:
            if isinstance(fact, Vector):
                fact = fact @ fact
            elif fact not in self.facts:
                return False
            if not self._nonnegative(multiplier):
                return False
            combination += multiplier * fact
        rest = sympy.sympify(self.right - self.left - combination, strict=True)
        # one point in exact arithmetic refuses most wrong steps at once; that none does proves nothing
        names = sorted(rest.free_symbols, key=lambda symbol: symbol.name)
        if rest.xreplace({name: sympy.Rational(sympy.prime(5 + at), 3) for at, name in enumerate(names)}).is_nonzero:
            return False
        return not _Quotients(names).of(rest)[0]

    def _nonnegative(self, multiplier: Any) -> bool:
        """A positive rational times a product of atoms and their (possibly negative) powers."""
        import sympy

        rest = sympy.sympify(multiplier, strict=True)
        for factor in sympy.Mul.make_args(rest):
            base, exponent = factor.as_base_exp()
            if factor.is_Rational and factor >= 0:
                continue
            if base in self.atoms and exponent.is_Integer:
                continue
            return False
        return True


class _Quotients:
    """Rational expressions as sparse polynomials over powers of polynomials, brought to common powers and never
    cancelled: the numerator is 0 exactly where the expression is. Cancelling took most of the time of a certificate.
    """

    def __init__(self, names: Sequence[Any]) -> None:
        from sympy import QQ
        from sympy.polys.rings import PolyRing

        self._ring = PolyRing(names, QQ)
        self._generators = dict(zip(names, self._ring.gens))

    def of(self, node: Any) -> tuple[Any, Counter[Any]]:
        """Numerator and the powers below it."""
        if node.is_Rational:
            return self._ring.ground_new(self._ring.domain(node.p, node.q)), Counter()
        if node.is_Symbol:
            return self._generators[node], Counter()
        if node.is_Pow and node.exp.is_Integer:
            numerator, below = self.of(node.base)
            power = abs(int(node.exp))
            powers = Counter({base: times * power for base, times in below.items()})
            if node.exp > 0:
                return numerator**power, powers
            if not numerator:
                raise ZeroDivisionError(f"{node} divides by zero")
            return self._product(powers), Counter({numerator: power})
        parts = [self.of(argument) for argument in node.args]
        if node.is_Mul:
            total = math.prod((numerator for numerator, _ in parts), start=self._ring.one)
            return total, sum((below for _, below in parts), Counter())
        if not node.is_Add:
            raise TypeError(f"{node} is no rational expression")
        common: Counter[Any] = Counter()
        for _, below in parts:
            common |= below
        return sum((numerator * self._product(common - below) for numerator, below in parts), self._ring.zero), common

    def _product(self, powers: Counter[Any]) -> Any:
        return math.prod((base**times for base, times in powers.items()), start=self._ring.one)


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A named step of the proof of the theorem `key`."""

    key: str
    says: str
    step: Callable[[], Step]
