"""A step of a proof, and what certifies it: an exact identity and admissible multipliers."""

from __future__ import annotations

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
        from sympy import QQ
        from sympy.polys.fields import FracField

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
        # as a quotient of sparse polynomials in the symbols: simplifying the tree takes several times as long
        return FracField(names, QQ).from_expr(rest) == 0

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


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A named step of the proof of the theorem `key`."""

    key: str
    says: str
    step: Callable[[], Step]
