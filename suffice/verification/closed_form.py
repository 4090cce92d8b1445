"""Bounds that solve an affine recursion, read off their expressions and proved by induction for every T.

In z = q^T a bound a + b z solves x_{T+1} = q x_T + (1 - q) a from a + b: the induction step is one inequality with z as
one more variable, and nothing is assumed of T. Whatever z is free of and no polynomial encloses (a maximum, a root) is
a constant with a name of its own. That the recursion is the algorithm's own is what the proof steps say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from suffice.bounds import Theorem
from suffice.bounds.plain_text import text_of

from .identities import Step


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """x_T at most (`upper`) or at least `bound` at z = rho^T, if x_0 is `start` and x_{T+1} is rho x_T + add."""

    key: str
    upper: bool
    bound: Any
    rho: Any
    add: Any
    start: Any
    constants: str = ""
    """The expressions that the names of constants stand for, in words."""

    def certificates(self) -> list[dict[str, Any]]:
        """The start and the induction step, for the checker; ValueError where no numbers meet the hypotheses."""
        import sympy

        z, x, after = sympy.symbols("z x x_next", real=True)
        sign, name = (1, "at most") if self.upper else (-1, "at least")
        start = sign * (self.start - x)
        before, step = sign * (self.bound - x), sign * (self.rho * x + self.add - after)
        begins, goes_on = (self.bound.subs(z, now) for now in (1, z * self.rho))
        says = f"if x_T is {name} the bound at T, x_(T+1) is {name} the bound at T + 1, for every T"
        return [
            self._step(f"x_0 is {name} the bound at T = 0", x, begins, [(1, start)]),
            self._step(says, after, goes_on, [(self.rho, before), (1, step)], atoms=[self.rho]),
        ]

    def _step(self, says: str, of: Any, bound: Any, terms: Any, atoms: Any = ()) -> dict[str, Any]:
        import sympy

        left, right = (of, bound) if self.upper else (bound, of)
        facts = [fact for _, fact in terms]
        every: list[Any] = [node for one in (bound, *facts, *atoms) for node in sympy.preorder_traversal(one)]
        divided = (node.base for node in every if node.is_Pow and node.exp.is_negative and not node.is_number)
        below = [*dict.fromkeys(sympy.fraction(sympy.together(base))[0] for base in divided)]
        step = Step(left=left, right=right, terms=terms, positive=below, atoms=atoms, facts=facts)
        return step.certificate(f"{self.key}: {says}{self.constants}")


def closed_form(record: Theorem) -> ClosedForm | str:
    """The recursion that a bound solves, or the reason why none is known."""
    import sympy

    if record.bound is None or "T" not in record.bound_keywords:
        return "the bound has no T"
    T, z = sympy.Symbol("T", positive=True), sympy.Symbol("z", real=True)
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
        """The expression in z, with names for constants that are no polynomials."""
        if node.is_Pow and node.exp.has(T):
            return z
        if node.is_Rational:
            return node
        if node.is_Symbol:
            return sympy.Symbol(node.name, real=True)
        if node.is_Add or node.is_Mul or (node.is_Pow and node.exp.is_Integer):
            return node.func(*map(constants, node.args))
        if node.has(T):
            return sympy.Symbol("T", real=True)
        return named.setdefault(node, sympy.Symbol(f"constant_{len(named) + 1}", real=True))

    bound, rho = constants(whole), sympy.expand(constants(base) ** times)
    if bound.has(sympy.Symbol("T", real=True)):
        return "T stands outside a power"
    below = [node for node in bound.atoms(sympy.Pow) if node.exp.is_negative and node.base.has(z)]
    if below or sympy.expand(bound.diff(z, 2)) != 0:
        return "the bound is not affine in the power of T"
    return ClosedForm(
        key=record.key,
        upper=record.direction == "upper",
        bound=bound,
        rho=rho,
        add=sympy.factor(sympy.cancel((1 - rho) * bound.subs(z, 0))),
        start=sympy.cancel(bound.subs(z, 1)),
        constants="".join(f"; {name} = {text_of(constant)}" for constant, name in named.items()),
    )
