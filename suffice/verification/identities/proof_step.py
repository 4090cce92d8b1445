"""A step of a proof, and what certifies it: an exact identity, admissible multipliers, numbers that meet hypotheses.

What is certified are the expressions as SymPy has stored them: of x/x nothing is left to be seen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from .vector import Vector

Term = tuple[Any, Any]
"""(multiplier, fact): a Vector stands for its squared norm."""

_TRIES = 3000
_VALUES = [Fraction(top, below) for top, below in ((1, 2), (1, 1), (1, 4), (2, 1), (1, 8), (4, 1), (0, 1), (-1, 1))]
_INNER = re.compile(r"<(\w+), (\w+)>")


@dataclass(frozen=True, kw_only=True)
class Step:
    """left <= right, because right - left = sum of multiplier * fact.

    Hypotheses are expressions: `positive` ones are > 0 and may be divided by, `atoms` are >= 0 and multiply, as do the
    positive ones, `facts` are >= 0 and stand in terms, as do squared norms. `point` gives numbers that meet them all,
    by the names of scalars and vectors (these are then of dimension 1), where a search of a few thousand finds none.
    """

    left: Any
    right: Any
    terms: Sequence[Term]
    positive: Sequence[Any] = ()
    atoms: Sequence[Any] = ()
    facts: Sequence[Any] = ()
    point: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("terms", "positive", "atoms", "facts"):  # read several times
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def certified(self) -> bool:
        """Whether nothing is wrong with the step."""
        return not self.refusal()

    def refusal(self) -> str:
        """The first thing that is wrong with the step; "" if it is certified."""
        return next(self._faults(), "")

    def _faults(self) -> Iterator[str]:
        import sympy

        terms = [(factor, fact @ fact if isinstance(fact, Vector) else fact) for factor, fact in self.terms]
        try:
            sides, hypotheses = _exact(self.left, self.right), _exact(*self.positive, *self.atoms, *self.facts)
            terms = [_exact(*term) for term in terms]
            # a squared norm shows neither roots nor imaginary coefficients
            coefficients = [_exact(*fact.coefficients.values()) for _, fact in self.terms if isinstance(fact, Vector)]
        except sympy.SympifyError as error:
            yield f"{error.expr!r} is no expression"
            return
        for one in (*sides, *hypotheses, *(part for parts in (*coefficients, *terms) for part in parts)):
            yield from self._unclear(one)
        for one in hypotheses:
            if one.is_Rational and one <= 0:
                yield f"{one} is no hypothesis"
        for (multiplier, fact), (_, given) in zip(terms, self.terms):
            if not self._nonnegative(multiplier):
                yield f"the multiplier {multiplier} is no product of hypotheses"
            if not isinstance(given, Vector) and fact not in self.facts:
                yield f"{fact} is not among the facts"
        if self.rational_point() is None:
            yield "no numbers are known that meet all hypotheses"
        rest = sides[1] - sides[0] - sum(multiplier * fact for multiplier, fact in terms)
        # one point in exact arithmetic refuses most wrong steps at once; that none does proves nothing
        names = sorted(rest.free_symbols, key=lambda symbol: symbol.name)
        at = {name: sympy.Rational(sympy.prime(5 + at), 3) for at, name in enumerate(names)}
        if rest.xreplace(at).is_nonzero or _Quotients(names).of(rest)[0]:
            yield "right - left is not the sum of the terms"

    def _unclear(self, node: Any) -> Iterator[str]:
        """What keeps an expression from being a rational function of reals with positive divisors."""
        import sympy

        if node.is_Symbol:
            # one symbol per name; and knowing no more than that it is real, SymPy has simplified by no other hypothesis
            if node != sympy.Symbol(node.name, real=True) or not (
                node.name.isidentifier() or _INNER.fullmatch(node.name)
            ):
                yield f"{node} is not one of `scalars` or `vectors`"
        elif node.func is sympy.Pow and node.exp.is_Integer:
            if node.exp < 0 and not _among(node.base, self.positive):
                yield f"{node.base} is divided by and not declared positive"
            yield from self._unclear(node.base)
        elif node.func in (sympy.Add, sympy.Mul):
            for argument in node.args:
                yield from self._unclear(argument)
        elif not node.is_Rational:
            yield f"{node} is no rational expression"

    def _nonnegative(self, multiplier: Any) -> bool:
        """A nonnegative rational times powers of hypotheses; `_unclear` has seen to the divisors."""
        import sympy

        factors = [factor.as_base_exp()[0] for factor in sympy.Mul.make_args(multiplier)]
        hypotheses = (*self.positive, *self.atoms)
        return all((factor.is_Rational and factor >= 0) or _among(factor, hypotheses) for factor in factors)

    def rational_point(self) -> dict[str, Fraction] | None:
        """Numbers that meet all hypotheses, by the names of scalars and vectors; None if none are known."""
        hypotheses = _exact(*self.positive, *self.atoms, *self.facts)
        names = dict[Any, tuple[str, ...]]()  # a scalar's own; of an inner product, both vectors'
        for symbol in set().union(*(one.free_symbols for one in hypotheses)):
            inner = _INNER.fullmatch(symbol.name)
            names[symbol] = inner.groups() if inner else (symbol.name,)
        every = sorted(set(chain(*names.values())))
        for point in _tried(every) if self.point is None else [self.point]:
            try:
                numbers = {name: Fraction(point[name]) for name in every}
                at = {s: math.prod((numbers[name] for name in of), start=Fraction(1)) for s, of in names.items()}
                values = enumerate(_value(one, at) for one in hypotheses)
                if all(value > 0 or (value == 0 and k >= len(self.positive)) for k, value in values):
                    return numbers
            except (KeyError, ZeroDivisionError):
                continue
        return None


def _among(expression: Any, hypotheses: Sequence[Any]) -> bool:
    """Whether it is one of them, up to a positive rational factor: SymPy multiplies sums out by rationals."""
    return expression.primitive()[1] in [one.primitive()[1] for one in _exact(*hypotheses)]


def _exact(*values: Any) -> list[Any]:
    """Numbers and expressions as SymPy's; no text."""
    import sympy

    return [sympy.sympify(value, strict=True) for value in values]


def _tried(names: Sequence[str]) -> Iterator[dict[str, Fraction]]:
    """Numbers of a fixed sequence (a linear congruential generator)."""
    state = 1
    for _ in range(_TRIES):
        numbers = {}
        for name in names:
            state = (state * 1103515245 + 12345) % 2**31
            numbers[name] = _VALUES[state >> 28]
        yield numbers


def _value(node: Any, at: Mapping[Any, Fraction]) -> Fraction:
    """A rational expression at a point."""
    if node.is_Rational:
        return Fraction(node.p, node.q)
    if node.is_Symbol:
        return at[node]
    if node.is_Pow:
        return _value(node.base, at) ** int(node.exp)
    values = [_value(argument, at) for argument in node.args]
    return sum(values, Fraction(0)) if node.is_Add else math.prod(values, start=Fraction(1))


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
