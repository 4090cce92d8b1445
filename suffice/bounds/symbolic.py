"""Plain functions of keyword scalars as unevaluated SymPy expressions; SymPy loads on first use."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from suffice.support.errors import InputError


def on_symbols(function: Callable[..., Any], prefix: str = "") -> Any:
    """The result of `function` for one positive symbol per keyword, `prefix` in its name, unevaluated, as written."""
    import sympy

    symbols = {name: sympy.Symbol(prefix + name, positive=True) for name in inspect.signature(function).parameters}
    with sympy.evaluate(False):
        return function(**symbols)


def as_expression(value):
    """A number or an expression as an expression; `InputError` for anything else: SymPy runs texts as Python."""
    import sympy

    try:
        plain = sympy.sympify(value, strict=True)
    except sympy.SympifyError:
        plain = None
    if not isinstance(plain, sympy.Expr):
        raise InputError("bound", value, "return one number")
    return plain


def expression(function: Callable[..., Any]) -> Any:
    """A function that returns one number, as an unevaluated SymPy expression."""
    import sympy

    with sympy.evaluate(False):
        return as_expression(on_symbols(function))  # a constant is a plain number
