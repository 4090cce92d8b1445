"""Theorems as people read them: LaTeX from the bound itself, and a page of text."""

from __future__ import annotations

import inspect
from typing import Any

from .evaluate import as_record
from .plain_text import text_of
from .theorem import Theorem

_RELATION = {"upper": r"\le", "lower": r"\ge"}


def expression(theorem: Theorem) -> Any:
    """The bound as an unevaluated SymPy expression, one symbol per keyword, in the order written."""
    import sympy

    assert theorem.bound is not None
    names = inspect.signature(theorem.bound).parameters
    symbols = {name: sympy.Symbol(name, positive=True) for name in names}
    with sympy.evaluate(False):
        return sympy.sympify(theorem.bound(**symbols))  # a constant is a plain number


def latex(theorem: Theorem | str) -> str:
    """The inequality of a record or key in LaTeX, terms in the paper's order; "" where there is no bound to print."""
    theorem = as_record(theorem)
    if theorem.bound is None:
        return ""
    import sympy

    bound = expression(theorem)
    symbols = {symbol: theorem.symbol(symbol.name) for symbol in bound.free_symbols}
    right = sympy.latex(bound, order="none", symbol_names=symbols)
    return f"{theorem.quantity.latex} {_RELATION[theorem.direction]} {right}"


def plain(theorem: Theorem) -> str:
    """The inequality in plain text, in keywords, as Python would write it."""
    relation = "<=" if theorem.direction == "upper" else ">="
    return f"{theorem.quantity.expression} {relation} {text_of(expression(theorem))}"


def page(theorem: Theorem) -> str:
    """A plain-text page: statement, formula, hypotheses, parameters."""
    lines = [
        f"{theorem.key} ({theorem.edition})",
        f"{theorem.title}: {theorem.source}",
        "",
        theorem.statement,
        "",
        *(
            [f"  {plain(theorem)}", "", f"  {latex(theorem)}"]
            if theorem.bound
            else [f"  order only: {theorem.order_only}"]
        ),
        "",
        f"quantity    {theorem.quantity.expression} ({theorem.direction} bound, {theorem.mode})",
    ]
    if theorem.fault:
        lines.append(f"fault       {theorem.fault}")
    if theorem.hypotheses:
        lines.append(f"hypotheses  {theorem.hypotheses}")
    names = inspect.signature(theorem.conditions).parameters
    if names:
        lines.append("conditions  " + "; ".join(condition_names(theorem)))
    if theorem.tight:
        lines.append(f"tight       {theorem.tight}")
    lines.append("parameters")
    for parameter in theorem.parameters:
        lines.append(f"  {parameter.name:11s} {parameter.meaning} [{parameter.unit}]")
    for reduction in theorem.reduces_to:
        lines.append(f"reduces to  {reduction.key}: {reduction.when}")
    return "\n".join(lines)


def condition_names(theorem: Theorem) -> list[str]:
    """The conditions in words, each of the form "... lhs <= rhs"."""
    names = inspect.signature(theorem.conditions).parameters
    return list(theorem.conditions(**dict.fromkeys(names, 1.0)))
