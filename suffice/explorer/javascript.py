"""Bounds and conditions as functions of JavaScript, from the records' own Python functions.

SymPy's printer writes them. The functions of `bounds.elementary` that round outward keep their names, and
`assets/numbers.mjs` has them once more, so that both languages round alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suffice.bounds import SufficeError, Theorem
from suffice.bounds.elementary import KEEP_NAMES
from suffice.bounds.symbolic import as_expression, on_symbols

NOTHING = "{ bound: null, conditions: [] }"


def formula(theorem: Theorem) -> str:
    """An object with the bound and the pairs of sides of the conditions, functions of an object of values.

    The bound is null where there is none, where a special function needs the library, and where another package's
    function takes numbers alone.
    """
    if theorem.bound is None:
        return NOTHING
    try:
        bound = _arrow(_traced(theorem.bound))
        sides = [(_arrow(left), _arrow(right)) for left, right in _traced(theorem.conditions).values()]
    except (SufficeError, TypeError, ValueError, AttributeError, NotImplementedError):
        # SymPy's and users' own, of what has no formula in JavaScript (see above): the page shows no curve of it
        return NOTHING
    return f"{{ bound: {bound}, conditions: [{', '.join(f'[{left}, {right}]' for left, right in sides)}] }}"


def _traced(function: Callable[..., Any]) -> Any:
    """The result of `function` for the properties of the object `v`, functions that round under their names."""
    token = KEEP_NAMES.set(True)
    try:
        return on_symbols(function, "v.")
    finally:
        KEEP_NAMES.reset(token)


def _arrow(value: Any) -> str:
    import sympy
    from sympy.core.function import AppliedUndef

    with sympy.evaluate(False):
        expression = as_expression(value)
        names = {str(call.func): str(call.func) for call in expression.atoms(AppliedUndef)}
        return f"v => {sympy.jscode(expression, user_functions=names)}"
