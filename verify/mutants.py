"""Deliberately wrong variants of a bound, made from its own expression.

Each added term dropped, each square or square root forgotten, two keywords of one unit exchanged, each term of
the sum that makes the bound moved by 5 %, and the whole moved by a little more than what the worst measured
ratio lets us see. A check that cannot tell them from the bound is weak.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds import Theorem
from bounds.describe import expression

SMALLEST_SHIFT = 1e-6


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A wrong variant: what was changed, and its value as a function of the bound's keywords."""

    change: str
    value: Callable[..., Any]


def mutants(theorem: Theorem, *, worst_ratio: float) -> list[Mutant]:
    """All variants of the theorem's bound; `worst_ratio` sets how small a shift of the whole is asked for."""
    import sympy

    assert theorem.bound is not None
    bound = theorem.bound
    names = list(inspect.signature(bound).parameters)
    symbols = [sympy.Symbol(name, positive=True) for name in names]
    found: dict[str, Mutant] = {}
    whole = expression(theorem)
    changes = (*_variants(whole), *_moved_terms(whole, theorem.direction), *_swapped(whole, theorem))
    seen: dict[str, Any] = {}  # two places of the formula may read alike: each is tried
    for change, variant in changes:
        if any(variant == other for other in seen.values()):
            continue
        name = change if change not in seen else f"{change}, place {sum(key.startswith(change) for key in seen) + 1}"
        seen[name] = variant
        function = sympy.lambdify(symbols, variant, "numpy")
        found[name] = Mutant(change=name, value=_by_keyword(function, names))
    shift = max(2 * (1 - worst_ratio), SMALLEST_SHIFT)
    factor = 1 - shift if theorem.direction == "upper" else 1 + shift
    scaled = Mutant(change=f"whole bound times {factor:.7g}", value=lambda **values: factor * bound(**values))
    return [*found.values(), scaled]


def readable(theorem: Theorem) -> Mutant:
    """The unchanged bound, evaluated the way mutants are: what they are compared with."""
    import sympy

    assert theorem.bound is not None
    names = list(inspect.signature(theorem.bound).parameters)
    symbols = [sympy.Symbol(name, positive=True) for name in names]
    function = sympy.lambdify(symbols, expression(theorem), "numpy")
    return Mutant(change="unchanged", value=_by_keyword(function, names))


def _by_keyword(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    def value(**values: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*(np.asarray(values[name], dtype=float) for name in names))

    return value


def _variants(node: Any) -> Iterator[tuple[str, Any]]:
    """(what was changed, the changed expression) for every single change below `node`."""
    import sympy

    if isinstance(node, sympy.Add):
        for index, term in enumerate(node.args):
            rest = [other for at, other in enumerate(node.args) if at != index]
            yield f"{_short(term)} dropped from {_short(node)}", sympy.Add(*rest)
    if isinstance(node, sympy.Pow) and node.exp in (2, sympy.Rational(1, 2)):
        yield f"{'square' if node.exp == 2 else 'root'} forgotten in {_short(node)}", node.base
    for index, argument in enumerate(node.args):
        for change, variant in _variants(argument):
            arguments = list(node.args)
            arguments[index] = variant
            yield change, node.func(*arguments)


def _swapped(whole: Any, theorem: Theorem) -> Iterator[tuple[str, Any]]:
    """Two keywords of the same unit exchanged: mu for beta, e_0 for eps."""
    symbols = sorted(whole.free_symbols, key=lambda symbol: symbol.name)
    units = {parameter.name: parameter.unit for parameter in theorem.parameters}
    for at, one in enumerate(symbols):
        for other in symbols[at + 1 :]:
            if units[one.name] == units[other.name] != (0, 0):
                exchanged = whole.xreplace({one: other, other: one})
                yield f"{one.name} and {other.name} exchanged", exchanged


def _moved_terms(node: Any, direction: str) -> Iterator[tuple[str, Any]]:
    """Each term of the bound's sum moved by 5 % to the stronger side; reached through factors and maxima alone."""
    import sympy

    if isinstance(node, sympy.Add):
        terms: tuple[Any, ...] = node.args
        for index, term in enumerate(terms):
            negative = term.could_extract_minus_sign()
            stronger = sympy.Rational(19, 20) if (direction == "upper") != negative else sympy.Rational(21, 20)
            arguments: list[Any] = list(node.args)
            arguments[index] = stronger * term
            yield f"{_short(term)} moved by 5 %", sympy.Add(*arguments)
    elif isinstance(node, (sympy.Mul, sympy.Max)):
        for index, argument in enumerate(node.args):
            for change, variant in _moved_terms(argument, direction):
                arguments = list(node.args)
                arguments[index] = variant
                yield change, node.func(*arguments)


def _short(node: Any) -> str:
    text = str(node)
    return text if len(text) <= 48 else text[:45] + "..."
