"""The list as data: one row a bound. Conditions and formulas are Python's expressions.

    name | case | largest step of its author's family, in units of 1/beta | conditions | bound | source
      /name | that step | conditions | bound | what is wrong with it

The second kind is a false bound, made by hand from the true one above it, of which an empty cell is left as it is.
Lines that start with # derive the bound below them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from suffice.bounds import elementary


def exp(x):
    library = elementary.library_of(x)
    return np.exp(x) if library is None else library.exp(x)


FUNCTIONS: dict[str, Any] = {
    "exp": exp, "log": elementary.log, "sqrt": elementary.sqrt, "abs": abs,
    "max": elementary.maximum, "min": elementary.minimum, "pi": pi,
}  # fmt: skip


def function(text: str) -> Callable[..., Any]:
    """The expression as somebody's function of its names, scalars by keyword."""
    names = [node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)]
    taken = [name for name in dict.fromkeys(names) if name not in FUNCTIONS]
    return eval(f"lambda {', '.join(['*', *taken] if taken else [])}: {text}", dict(FUNCTIONS))


def conditions(text: str) -> Callable[..., Any]:
    """`left <= right; left <= right`, as `check` takes them."""
    pairs = (f"{each!r}: ({', '.join(each.split(' <= '))})" for each in text.split("; "))
    return function(f"{{{', '.join(pairs)}}}")


@dataclass(frozen=True, kw_only=True)
class Record:
    """A bound as its author would hand it in: `source` of a true one, `fault` and `of` (the true one) of a false one,
    and then where it is too small: an instance, and truth and bound there."""

    name: str
    case: Any
    steps: float
    limit: Callable[..., Any]
    bound: Callable[..., Any]
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
        return all(left <= right * most for left, right in self.value(self.limit, scalars).values())

    def value(self, function: Callable[..., Any], scalars: Mapping[str, float]) -> Any:
        """That of the bound or its conditions, which take some of the scalars."""
        given = {**scalars, "delta": self.case.delta}
        return function(**{name: given[name] for name in signature(function).parameters})


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
            changed |= {"limit": conditions(limit)} if limit else {}
            changed |= {"bound": function(bound)} if bound else {}
            against_it = against.pop(right.name + of)
            records.append(replace(right, **changed, name=right.name + of, of=right.name, source="", fault=fault,
                                   counterexample=against_it))  # fmt: skip
        else:
            case, steps, limit, bound, source = cells
            records.append(Record(name=of, case=cases[case], steps=float(steps), limit=conditions(limit),
                                  bound=function(bound), source=source))  # fmt: skip
    assert not against, "counterexamples to no bound of the list"
    return records
