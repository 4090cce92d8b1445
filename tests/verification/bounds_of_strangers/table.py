"""The list as data: one row a bound. Conditions and formulas are text that is read here, never run as Python.

    name | case | largest step of its author's family, in units of 1/beta | conditions | bound | source
      /name | that step | conditions | bound | what is wrong with it

The second kind is a false bound, made by hand from the true one above it, of which an empty cell is left as it is.
Lines that start with # derive the bound below them.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import Parameter, Signature
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from suffice.bounds import elementary

OPERATIONS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg,
}  # fmt: skip


def exp(x):
    library = elementary.library_of(x)
    return np.exp(x) if library is None else library.exp(x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": exp, "log": elementary.log, "sqrt": elementary.sqrt, "abs": abs,
    "max": elementary.maximum, "min": elementary.minimum,
}  # fmt: skip


def value(node: ast.AST, given: Mapping[str, Any]) -> Any:
    """Of arithmetic and `FUNCTIONS`, for all kinds of numbers; a KeyError for anything else."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return pi if name == "pi" else given[name]
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](value(left, given), value(right, given))
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATIONS[type(op)](value(operand, given))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return FUNCTIONS[name](*(value(argument, given) for argument in arguments))
    raise KeyError(ast.dump(node))


def keywords(*trees: ast.AST) -> Signature:
    """What somebody's function would take by name."""
    names = dict.fromkeys(node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name))
    return Signature(Parameter(name, Parameter.KEYWORD_ONLY) for name in names if name not in FUNCTIONS | {"pi": pi})


class Formula:
    """A bound of scalars by keyword, as `check` takes it; names that it does not have are ignored."""

    def __init__(self, text: str) -> None:
        self._tree = ast.parse(text, mode="eval").body
        self.__signature__ = keywords(self._tree)

    def __call__(self, **given: Any) -> Any:
        return value(self._tree, given)


class Conditions:
    """`left <= right; left <= right`, as `check` takes them."""

    def __init__(self, text: str) -> None:
        self._sides = {each: [ast.parse(side, mode="eval").body for side in each.split(" <= ")]
                       for each in text.split("; ")}  # fmt: skip
        self.__signature__ = keywords(*(side for sides in self._sides.values() for side in sides))

    def __call__(self, **given: Any) -> dict[str, tuple[Any, Any]]:
        return {name: (value(left, given), value(right, given)) for name, (left, right) in self._sides.items()}


@dataclass(frozen=True, kw_only=True)
class Record:
    """A bound as its author would hand it in: `source` of a true one, `fault` and `of` (the true one) of a false one,
    and then where it is too small: an instance, and truth and bound there."""

    name: str
    case: Any
    steps: float
    limit: Conditions
    bound: Formula
    source: str = ""
    fault: str = ""
    of: str = ""
    counterexample: Mapping[str, Any] | None = None

    @property
    def true(self) -> bool:
        return not self.fault

    def allowed(self, scalars: Mapping[str, float]) -> bool:
        """Whether the conditions hold; but for 1e-12 where the step is read off beta."""
        most = 1.0 if self.case.exact else 1 + 1e-12
        return all(left <= right * most for left, right in self.limit(**self.known(scalars)).values())

    def known(self, scalars: Mapping[str, float]) -> dict[str, Any]:
        """What a bound and its conditions may ask for."""
        return {**scalars, "delta": self.case.delta}


def listed(cases: Mapping[str, Any]) -> list[Record]:
    """The rows of bounds.txt with the counterexamples of bounds.json."""
    path, records = Path(__file__).with_name("bounds"), []
    against = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    for line in path.with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        of, *cells = (cell.strip() for cell in line.split("|", 4 if line.startswith("  /") else 5))
        if of.startswith("/"):
            steps, limit, bound, fault = cells
            right = next(record for record in reversed(records) if record.true)
            changed: dict[str, Any] = {"steps": float(steps)} if steps else {}
            changed |= {"limit": Conditions(limit)} if limit else {}
            changed |= {"bound": Formula(bound)} if bound else {}
            against_it = against.pop(right.name + of)
            records.append(replace(right, **changed, name=right.name + of, of=right.name, source="", fault=fault,
                                   counterexample=against_it))  # fmt: skip
        else:
            case, steps, limit, bound, source = cells
            records.append(Record(name=of, case=cases[case], steps=float(steps), limit=Conditions(limit),
                                  bound=Formula(bound), source=source))  # fmt: skip
    assert not against, "counterexamples to no bound of the list"
    return records
