"""A step of a proof and its certificate: an exact identity, admissible multipliers, numbers that meet hypotheses.

What is certified are the expressions as SymPy has stored them: of x/x nothing is left to be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from ..array_formula import Formulas
from ..certificate import INNER, certificate, nested
from ..recheck import refusal
from .vector import Vector

Term = tuple[Any, Any]
"""(multiplier, fact): a Vector stands for its squared norm."""

_TRIES = 3000
_ROUNDING = 1e-9
"""The most by which floats may miss 0: `_VALUES` and their small powers are exact, and so is all but divisions."""
_VALUES = [Fraction(top, below) for top, below in ((1, 2), (1, 1), (1, 4), (2, 1), (1, 8), (4, 1), (0, 1), (-1, 1))]


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
        """Whether `recheck.py` accepts the step."""
        return not self.refusal()

    def refusal(self) -> str:
        """The reason why the step is not certified; "" if it is."""
        try:
            return refusal(self.certificate(""))
        except ValueError as error:
            return str(error)

    def certificate(self, says: str) -> dict[str, Any]:
        """The step for `recheck.py`, which decides; ValueError where it cannot be written for it."""
        sides = [self._nested(side) for side in _exact(self.left, self.right)]
        kinds = {kind: _exact(*getattr(self, kind)) for kind in ("positive", "atoms", "facts")}
        hypotheses = {kind: [self._nested(one) for one in every] for kind, every in kinds.items()}
        terms = list[Any]()
        for multiplier, fact in self.terms:
            if isinstance(fact, Vector):
                squared: Any = {name: self._nested(*_exact(value)) for name, value in fact.coefficients.items()}
            else:
                (given,) = _exact(fact)
                self._nested(given)
                if given not in kinds["facts"]:
                    raise ValueError(f"{fact} is not among the facts")
                squared = kinds["facts"].index(given)
            terms.append([*_powers(*_exact(multiplier), kinds), squared])
        point = self.rational_point()
        if point is None:
            raise ValueError("no numbers are known that meet all hypotheses")
        proof = {"terms": terms, "point": {name: str(number) for name, number in point.items()}}
        return certificate("step", says, proof, left=sides[0], right=sides[1], **hypotheses)

    def _nested(self, expression: Any) -> Any:
        """An expression whose symbols are those of `scalars` and `vectors`."""
        import sympy

        for symbol in expression.free_symbols:
            # one symbol per name; and knowing no more than that it is real, SymPy has simplified by no other hypothesis
            named = symbol.name.isidentifier() or INNER.fullmatch(symbol.name)
            if not named or symbol != sympy.Symbol(symbol.name, real=True):
                raise ValueError(f"{symbol} is not one of `scalars` or `vectors`")
        return nested(expression)

    def rational_point(self) -> dict[str, Fraction] | None:
        """Numbers that meet all hypotheses, by the names of scalars and vectors; None if none are known."""
        hypotheses = tuple(_exact(*self.positive, *self.atoms, *self.facts))
        if self.point is None:
            return _searched(hypotheses, len(self.positive))
        return _meeting(hypotheses, len(self.positive), self.point)


def _powers(multiplier: Any, kinds: Mapping[str, Sequence[Any]]) -> tuple[str, list[Any]]:
    """A multiplier as a rational and powers [kind, index, n] of hypotheses.

    A factor may be a positive rational times a hypothesis: SymPy multiplies sums out by rationals.
    """
    import sympy

    rational, powers = sympy.Integer(1), list[Any]()
    hypotheses = [(kind, at, *one.primitive()) for kind in ("positive", "atoms") for at, one in enumerate(kinds[kind])]
    for factor in sympy.Mul.make_args(multiplier):
        base, n = factor.as_base_exp()
        content, rest = base.primitive()
        found = next(((kind, at, scale) for kind, at, scale, one in hypotheses if one == rest), None)
        if base.is_Rational and n.is_Integer and (base > 0 or (base == 0 and n > 0)):
            rational *= base**n
        elif found is not None and n.is_Integer:
            powers.append([*found[:2], int(n)])
            rational *= (content / found[2]) ** n
        else:
            raise ValueError(f"the multiplier {multiplier} is no product of hypotheses")
    return str(rational), powers


def _exact(*values: Any) -> list[Any]:
    """Numbers and expressions as SymPy's; no text."""
    import sympy

    try:
        return [sympy.sympify(value, strict=True) for value in values]
    except sympy.SympifyError as error:
        raise ValueError(f"{error.expr!r} is no expression") from None


def _names(hypotheses: Sequence[Any]) -> dict[Any, tuple[str, ...]]:
    """The names that each symbol stands for: a scalar's own one, or those of both vectors of an inner product."""
    symbols = set().union(*(one.free_symbols for one in hypotheses))
    inner = {symbol: INNER.fullmatch(symbol.name) for symbol in symbols}
    return {symbol: found.groups() if found else (symbol.name,) for symbol, found in inner.items()}


def _meeting(hypotheses: Sequence[Any], positive: int, point: Mapping[str, Any]) -> dict[str, Fraction] | None:
    """The numbers of the point, where they meet all hypotheses, the first ones (`positive`) strictly."""
    of = _names(hypotheses)
    try:
        numbers = {name: Fraction(point[name]) for name in chain(*of.values())}
        at = {s: math.prod((numbers[name] for name in parts), start=Fraction(1)) for s, parts in of.items()}
        values = enumerate(_value(one, at) for one in hypotheses)
        return numbers if all(value > 0 or (value == 0 and k >= positive) for k, value in values) else None
    except (KeyError, ZeroDivisionError):
        return None


@lru_cache(maxsize=256)
def _searched(hypotheses: tuple[Any, ...], positive: int) -> dict[str, Fraction] | None:
    """The first of a fixed sequence of numbers that meet all hypotheses; tried where floats nearly do."""
    import sympy

    of = _names(hypotheses)
    names = sorted(set(chain(*of.values())))
    tried = _sequence(len(names))
    numbers = dict(zip(names, np.array(_VALUES, dtype=float)[tried.T]))
    at = {symbol.name: math.prod(numbers[name] for name in parts) for symbol, parts in of.items()}
    formulas = Formulas(sympy.Tuple(*hypotheses), list(at))
    values = (formulas.function(one)(**at) for one in hypotheses)  # a divisor may be 0
    near = np.all([np.broadcast_to(value, _TRIES) >= -_ROUNDING for value in values], axis=0)
    points = ({name: _VALUES[place] for name, place in zip(names, row)} for row in tried[near])
    found = (_meeting(hypotheses, positive, point) for point in points)
    return next((numbers for numbers in found if numbers is not None), None)


@lru_cache
def _sequence(count: int) -> np.ndarray:
    """Places in `_VALUES` of `count` numbers, `_TRIES` times (a linear congruential generator)."""
    powers = np.cumprod(np.full(_TRIES * count, 1103515245, dtype=np.uint64))  # modulo 2^64, which 2^31 divides
    states = powers + 12345 * np.cumsum(np.append(np.uint64(1), powers[:-1]))
    return (states % 2**31 >> 28).astype(int).reshape(_TRIES, count)


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


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A named step of the proof of the theorem `key`."""

    key: str
    says: str
    step: Callable[[], Step]
