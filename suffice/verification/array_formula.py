"""A SymPy expression as a function of arrays, evaluated node by node.

The variants of one bound differ in a few nodes each. What they share with the bound is evaluated once per batch, and
nothing is compiled: printing and compiling code took most of the time of a check of a long formula.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

import numpy as np


class Formulas:
    """Functions of the keywords `names` that share the parts of `whole`."""

    def __init__(self, whole: Any, names: Sequence[str]) -> None:
        import sympy

        self._names = tuple(names)
        self._shared = set(sympy.preorder_traversal(whole))
        self._batch: tuple[np.ndarray, ...] = ()
        self._known: dict[Any, Any] = {}

    def function(self, expression: Any) -> Callable[..., Any]:
        """`expression` of arrays by keyword; numbers that cannot be, such as 0/0, are NaN or infinite."""

        def value(**values: Any) -> Any:
            batch = tuple(np.asarray(values[name], dtype=float) for name in self._names)
            if len(batch) != len(self._batch) or any(new is not old for new, old in zip(batch, self._batch)):
                self._batch, self._known = batch, {}
            with np.errstate(all="ignore"):
                return self._value(expression)

        return value

    def _value(self, node: Any) -> Any:
        if node in self._known:
            return self._known[node]
        if node.is_Symbol:
            return self._batch[self._names.index(node.name)]
        if not node.args:  # a division by zero that SymPy carried out is no number
            value = float(node) if node.is_comparable else float("nan")
        else:
            operation = _OPERATIONS.get(node.func.__name__) or _numpy(node.func, len(node.args))
            value = operation(*map(self._value, node.args))
        if node in self._shared:
            self._known[node] = value
        return value


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, float):
        if exponent == -1:
            return np.divide(1.0, base)
        if exponent in (0.5, -0.5):
            return np.sqrt(base) if exponent > 0 else np.divide(1.0, np.sqrt(base))
    return np.power(base, exponent)


@cache
def _numpy(function: Any, count: int) -> Callable[..., Any]:
    """Any function that SymPy knows in NumPy's terms, or that carries its own implementation."""
    import sympy

    places = sympy.symbols(f"x:{count}")
    return sympy.lambdify(places, function(*places), "numpy")


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "Add": lambda *values: reduce(operator.add, values),
    "Mul": lambda *values: reduce(operator.mul, values),
    "Pow": _power,
    "Max": lambda *values: reduce(np.maximum, values),
    "Min": lambda *values: reduce(np.minimum, values),
    "log": np.log,
    "exp": np.exp,
    "Abs": np.abs,
}
