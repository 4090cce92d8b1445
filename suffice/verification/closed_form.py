"""Bounds that solve an affine recursion, read off their expressions and proved by induction for every T.

In z = q^T a bound a + b z solves x_{T+1} = q x_T + (1 - q) a from a + b: the induction step is one inequality with z as
one more variable, and nothing is assumed of T. Whatever z is free of and no polynomial encloses (a maximum, a root) is
a constant with a name of its own. That the recursion is the algorithm's own is what the proof steps say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from suffice.bounds import Theorem
from suffice.bounds.plain_text import text_of

from .certificate import certificate, divisors, nested
from .recheck import put, value

_VALUES = [Fraction(1, 8), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4)]
_TRIES = 20_000


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """x_T at most (`upper`) or at least `bound` at z = base^T, if x_0 is `start` and x_{T+1} is rho x_T + add."""

    key: str
    upper: bool
    bound: Any
    base: Any
    rho: Any
    add: Any
    start: Any
    constants: str = ""
    """It says in words which expressions the names of constants stand for."""

    def certificates(self) -> list[dict[str, Any]]:
        """The start and the induction step, for the checker; ValueError where no numbers meet the hypotheses."""
        bound, moved, first = (put(self.bound, {"z": z}) for z in ("z", ["*", "z", self.base], 1))
        step = ["+", ["*", self.rho, "x"], self.add]
        positive = divisors(bound, self.base, self.rho, self.add, self.start)
        begins = [_difference(self.start, "x", self.upper)]
        facts = [_difference(bound, "x", self.upper), _difference(step, "x_next", self.upper)]
        name = {True: "at most", False: "at least"}[self.upper]
        return [
            self._step(f"x_0 is {name} the bound at T = 0", "x", first, [[1, [], 0]], positive, [], begins),
            self._step(
                f"if x_T is {name} the bound at T, x_(T+1) is {name} the bound at T + 1, for every T",
                *("x_next", moved, [[1, [["atoms", 0, 1]], 0], [1, [], 1]], positive, [self.rho], facts),
            ),
        ]

    def _step(self, says: str, of: Any, bound: Any, terms: Any, positive: Any, atoms: Any, facts: Any) -> Any:
        left, right = (of, bound) if self.upper else (bound, of)
        claim = {"left": left, "right": right, "positive": positive, "atoms": atoms, "facts": facts}
        proof = {"terms": terms, "point": _point(positive, atoms, facts)}
        return certificate("step", f"{self.key}: {says}{self.constants}", proof, **claim)


def _difference(bound: Any, of: Any, upper: bool) -> Any:
    return ["+", bound, ["*", -1, of]] if upper else ["+", of, ["*", -1, bound]]


def _names(e: Any) -> Iterator[str]:
    if isinstance(e, list):
        for part in e[1:]:
            yield from _names(part)
    elif isinstance(e, str) and e.isidentifier():
        yield e


def _point(positive: list[Any], atoms: list[Any], facts: list[Any]) -> dict[str, str]:
    """Numbers that meet the hypotheses, parameters first; x and x_next are chosen so that the facts are equalities."""
    every = sorted({name for e in (*positive, *atoms, *facts) for name in _names(e)} - {"x", "x_next"})
    chance = Random(1)
    for _ in range(_TRIES):
        at = dict(zip(every, chance.choices(_VALUES, k=len(every))))
        try:
            if all(value(e, at) > 0 for e in (*positive, *atoms)):
                for fact, name in zip(facts, ("x", "x_next")):
                    # a fact is +-(value - name)
                    rest, slope = value(fact, at | {name: Fraction(0)}), value(fact, at | {name: Fraction(1)})
                    at[name] = rest / (rest - slope)
                return {name: str(number) for name, number in at.items()}
        except ZeroDivisionError:
            continue
    raise ValueError("no numbers are known that meet all hypotheses")


def closed_form(record: Theorem) -> ClosedForm | str:
    """The recursion that a bound solves, or why it is none."""
    import sympy

    if record.bound is None or "T" not in record.bound_keywords:
        return "the bound has no T"
    T, z = sympy.Symbol("T", positive=True), sympy.Symbol("z")
    whole = record.expression()
    powers = {(node.base, sympy.expand(node.exp)) for node in whole.atoms(sympy.Pow) if node.exp.has(T)}
    if not powers:
        return "the bound has no power of T"
    if len(powers) > 1:
        return "the bound has powers of T that differ"
    ((base, exponent),) = powers
    times = exponent / T
    if not times.is_Integer or base.has(T):
        return "the power is not that of a constant to a multiple of T"
    named = dict[Any, Any]()

    def constants(node: Any) -> Any:
        """The expression in z, with names for what is no polynomial."""
        if node.is_Pow and node.exp.has(T):
            return z
        if node.is_Rational or node.is_Symbol:
            return node
        if node.is_Add or node.is_Mul or (node.is_Pow and node.exp.is_Integer):
            return node.func(*map(constants, node.args), evaluate=False)
        if node.has(T):
            return T
        return named.setdefault(node, sympy.Symbol(f"constant_{len(named) + 1}", positive=True))

    bound, one_step = constants(whole), constants(base) ** times
    if bound.has(T):
        return "T stands outside a power"
    below = [node for node in bound.atoms(sympy.Pow) if node.exp.is_negative and node.base.has(z)]
    limit, start = bound.subs(z, 0), bound.subs(z, 1)
    if below or sympy.expand(bound.diff(z, 2)) != 0:
        return "the bound is not affine in the power of T"
    return ClosedForm(
        key=record.key,
        upper=record.direction == "upper",
        bound=nested(bound),
        base=nested(one_step),
        rho=nested(one_step),
        add=nested(sympy.factor(sympy.cancel((1 - one_step) * limit))),
        start=nested(sympy.cancel(start)),
        constants="".join(f"; {name} = {text_of(constant)}" for constant, name in named.items()),
    )
