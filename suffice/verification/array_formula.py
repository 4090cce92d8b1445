"""A SymPy expression as a function of arrays, evaluated node by node.

The variants of one bound differ in a few nodes each. What they share with the bound is evaluated once per batch, and
nothing is compiled: printing and compiling code took most of the time of a check of a long formula.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
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
        if not node.args:
            value = _number(node)
        else:
            operation = _OPERATIONS.get(node.func.__name__, _other)
            value = operation(node, [self._value(argument) for argument in node.args])
        if node in self._shared:
            self._known[node] = value
        return value


def _number(node: Any) -> float:
    try:
        return float(node)
    except TypeError:  # a division by zero that SymPy carried out
        return float("nan")


def _power(node: Any, values: list[Any]) -> Any:
    base, exponent = values
    if isinstance(exponent, float):
        if exponent == -1:
            return np.divide(1.0, base)
        if exponent in (0.5, -0.5):
            return np.sqrt(base) if exponent > 0 else np.divide(1.0, np.sqrt(base))
    return np.power(base, exponent)


def _other(node: Any, values: list[Any]) -> Any:
    """A function that carries its own implementation, or any that SymPy knows in NumPy's terms."""
    own = getattr(node, "_imp_", None)
    if own is not None:
        return own(*values)
    import sympy

    places = sympy.symbols(f"x:{len(values)}")
    return sympy.lambdify(places, node.func(*places), "numpy")(*values)


_OPERATIONS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "Add": lambda node, values: reduce(operator.add, values),
    "Mul": lambda node, values: reduce(operator.mul, values),
    "Pow": _power,
    "Max": lambda node, values: reduce(np.maximum, values),
    "Min": lambda node, values: reduce(np.minimum, values),
    "log": lambda node, values: np.log(values[0]),
    "exp": lambda node, values: np.exp(values[0]),
    "Abs": lambda node, values: np.abs(values[0]),
}
