"""Bounds and conditions as functions of JavaScript, from the records' own Python functions.

SymPy's printer writes them. The functions of `bounds.elementary` that round outward keep their names, and
`assets/numbers.mjs` has them once more, so that both languages round alike.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from suffice.bounds import Theorem
from suffice.bounds.elementary import KEEP_NAMES
from suffice.bounds.symbolic import as_expression

_ROUNDED = (
    *("survive", "fall", "spare", "decay", "log1p", "last_over_mean"),
    *("log_ratio", "up", "down", "difference", "quotient", "times_log_ratio"),
)


def bound(theorem: Theorem) -> str | None:
    """The bound as an arrow function of an object of values; None where a special function needs the library."""
    if theorem.bound is None:
        return None
    return _arrow(_traced(theorem.bound))


def conditions(theorem: Theorem) -> list[tuple[str | None, str | None]]:
    """Both sides of each condition, in their order."""
    sides: Mapping[str, tuple[Any, Any]] = _traced(theorem.conditions)
    return [(_arrow(left), _arrow(right)) for left, right in sides.values()]


def _traced(function: Callable[..., Any]) -> Any:
    """What `function` returns for the properties of the object `v`."""
    import sympy

    symbols = {name: sympy.Symbol(f"v.{name}", positive=True) for name in inspect.signature(function).parameters}
    token = KEEP_NAMES.set(True)
    try:
        with sympy.evaluate(False):
            return function(**symbols)
    finally:
        KEEP_NAMES.reset(token)


def _arrow(value: Any) -> str | None:
    import sympy
    from sympy.printing.codeprinter import PrintMethodNotImplementedError

    names = {name: name for name in _ROUNDED}
    try:
        with sympy.evaluate(False):
            return f"v => {sympy.jscode(as_expression(value), user_functions=names)}"
    except PrintMethodNotImplementedError:
        return None
