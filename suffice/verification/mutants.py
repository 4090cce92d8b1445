"""Deliberately wrong variants of a bound, made from its own expression.

Each added term dropped, each square or square root forgotten, two keywords of one unit exchanged, T shifted by one,
each term of the sum that makes the bound moved by 5 %, and the whole moved by a little more than what the worst
measured ratio lets us see. A check that cannot tell them from the bound is weak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .array_formula import Formulas

SMALLEST_SHIFT = 1e-6
LEAST_RATIO = 1e-3
POINTS = 5
_COUNTED = ("T",)
Change = tuple[str, Callable[[], str] | None, Any]
"""The id of a change, words that say more of it, and the changed expression."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A wrong variant: its value as a function of the bound's keywords, and what was changed, worded when asked.

    Claims name it by its `id`, which says where: "term /1/0 dropped" is about the first argument of the expression's
    second one.
    """

    id: str
    value: Callable[..., Any]
    worded: Callable[[], str] | None = None

    @property
    def change(self) -> str:
        return self.id if self.worded is None else self.worded()


def mutants(theorem: Theorem, *, worst_ratio: float) -> list[Mutant]:
    """All variants of the theorem's bound; `worst_ratio` sets how small a shift of the whole is asked for."""
    import sympy

    found: list[tuple[str, Callable[[], str] | None, Callable[..., Any]]] = []
    whole = theorem.expression()
    formulas = Formulas(whole, theorem.bound_keywords)
    # Nothing is simplified, which took half the time of a check; variants that are one function have one value.
    with sympy.evaluate(False):
        changes = [*_variants(whole), *_moved_terms(whole, theorem.direction)]
    values = [(name, words, formulas.function(variant)) for name, words, variant in changes]
    taken, same = sorted(symbol.name for symbol in whole.free_symbols), formulas.function(whole)
    values += [(name, None, _changed(same, change)) for name, change in _rearranged(theorem, taken)]
    points = _points(theorem)
    seen: set[tuple[str, ...]] = set()
    for name, words, value in values:
        numbers = np.broadcast_to(value(**points), POINTS)
        key = tuple(f"{number:.12g}" for number in numbers)
        if key in seen and not np.isnan(numbers).all():
            continue
        seen.add(key)
        found.append((name, words, value))

    @cache
    def names() -> list[str]:
        """The wordings of all changes, made on demand: one takes as long as its change, and only survivors need it."""
        given: list[str] = []
        with sympy.evaluate(False):
            for name, words, _ in found:
                change = name if words is None else words()
                # two places of the formula may read alike: each is tried
                again = f"{change}, place {sum(other.startswith(change) for other in given) + 1}"
                given.append(again if change in given else change)
        return given

    made = [Mutant(id=name, worded=lambda at=at: names()[at], value=value) for at, (name, _, value) in enumerate(found)]
    return [*made, _scaled(theorem, worst_ratio)]


def _points(theorem: Theorem) -> dict[str, np.ndarray]:
    """Arguments at which variants are told apart: `POINTS` points, of no special ratio to each other."""
    names = theorem.bound_keywords
    share = np.modf((1 + np.arange(len(names)))[:, None] * np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0][:POINTS]))[0]
    taken = [theorem.parameter(name).typical for name in names]
    return {name: low * (high / low) ** part for name, (low, high), part in zip(names, taken, share)}


def numeric_mutants(theorem: Theorem, *, worst_ratio: float) -> list[Mutant]:
    """Variants of a bound that gives no expression: keywords exchanged, moved by 5 %, taken as 0; the whole scaled."""
    assert theorem.bound is not None
    changes = []
    for one in map(theorem.parameter, theorem.bound_keywords):
        factors = () if one.integer else (0.95, 1.05)
        changes += [(f"{one.name} times {by}", lambda v, a=one.name, by=by: {a: by * v[a]}) for by in factors]
        if not one.integer and one.lower == 0 and not one.open_lower:
            changes.append((f"{one.name} taken as 0", lambda v, a=one.name: {a: 0 * v[a]}))
    changes += _rearranged(theorem, theorem.bound_keywords)
    found = [Mutant(id=name, value=_changed(theorem.bound, change)) for name, change in changes]
    return [*found, _scaled(theorem, worst_ratio)]


def _changed(value: Callable[..., Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[..., Any]:
    """The function at arguments of which `change` replaces some."""
    return lambda **given: value(**given | change(given))


def _rearranged(theorem: Theorem, names: Sequence[str]) -> list[tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]]:
    """Changes of arguments: two keywords of the same unit exchanged, mu for beta, e_0 for eps; T counted from one
    iteration further on or further back."""
    unit = {name: theorem.parameter(name).unit for name in names}
    pairs = [(a, b) for a, b in combinations(names, 2) if unit[a] == unit[b] != (0, 0)]
    counted = [(name, by) for name in names if name in _COUNTED for by in (1, -1)]
    return [
        *((f"{a} and {b} exchanged", lambda v, a=a, b=b: {a: v[b], b: v[a]}) for a, b in pairs),
        *((f"{name} shifted by {by:+d}", lambda v, a=name, by=by: {a: v[a] + by}) for name, by in counted),
    ]


def _scaled(theorem: Theorem, worst_ratio: float) -> Mutant:
    bound = theorem.bound
    assert bound is not None
    # twice as far from 1 as the worst ratio, in logarithms: never a bound of the other sign
    factor = min(max(worst_ratio, LEAST_RATIO) ** 2, 1 - SMALLEST_SHIFT) ** (1 if theorem.direction == "upper" else -1)
    words = f"whole bound times {factor:.7g}"
    return Mutant(id="whole bound scaled", worded=lambda: words, value=lambda **values: factor * bound(**values))


def readable(theorem: Theorem) -> Mutant:
    """The unchanged bound, evaluated the way mutants are: what they are compared with."""
    whole = theorem.expression()
    formulas = Formulas(whole, theorem.bound_keywords)
    return Mutant(id="unchanged", value=formulas.function(whole))


def _variants(node: Any, place: str = "") -> Iterator[Change]:
    """Every single change below `node`, which is at `place`."""
    import sympy

    if isinstance(node, sympy.Add):
        for index, term in enumerate(node.args):
            rest = [other for at, other in enumerate(node.args) if at != index]
            name = f"term {place}/{index} dropped"
            yield name, lambda term=term: f"{_short(term)} dropped from {_short(node)}", sympy.Add(*rest)
    if isinstance(node, sympy.Pow) and node.exp in (2, sympy.Rational(1, 2)):
        which = "square" if node.exp == 2 else "root"
        yield f"{which} {place or '/'} forgotten", lambda: f"{which} forgotten in {_short(node)}", node.base
    yield from _below(node, lambda index, argument: _variants(argument, f"{place}/{index}"))


def _below(node: Any, changes: Callable[[int, Any], Iterator[Change]]) -> Iterator[Change]:
    """The changes of each argument of `node`, put back into it."""
    for index, argument in enumerate(node.args):
        for name, words, variant in changes(index, argument):
            yield name, words, node.func(*node.args[:index], variant, *node.args[index + 1 :])


def _moved_terms(node: Any, direction: str, place: str = "") -> Iterator[Change]:
    """Each term of the bound's sum moved by 5 % to the stronger side; reached through factors and maxima alone."""
    import sympy

    if isinstance(node, sympy.Add):
        terms: tuple[Any, ...] = node.args
        for index, term in enumerate(terms):
            negative = term.could_extract_minus_sign()
            stronger = sympy.Rational(19, 20) if (direction == "upper") != negative else sympy.Rational(21, 20)
            moved = sympy.Add(*terms[:index], stronger * term, *terms[index + 1 :])
            yield f"term {place}/{index} moved", lambda term=term: f"{_short(term)} moved by 5 %", moved
    elif isinstance(node, (sympy.Mul, sympy.Max)):
        yield from _below(node, lambda index, argument: _moved_terms(argument, direction, f"{place}/{index}"))


@lru_cache(maxsize=4096)
def _short(node: Any) -> str:
    text = str(node)
    return text if len(text) <= 48 else text[:45] + "..."
