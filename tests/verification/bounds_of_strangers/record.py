"""One bound of the list, and the book in which a module enters its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .cases import Case


@dataclass(frozen=True, kw_only=True)
class Record:
    """A bound as its author would hand it in: `source` of a true one, `fault` and `of` (the true one) of a false one.

    `steps` is the largest step of the author's family in units of 1/beta, where there is one.
    """

    name: str
    case: Case
    bound: Callable[..., Any]
    limit: Callable[..., Any]
    source: str = ""
    fault: str = ""
    of: str = ""
    steps: float = 1.0

    @property
    def true(self) -> bool:
        return not self.fault


def step(largest: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The condition eta <= largest(mu, beta)."""

    def conditions(*, eta, mu, beta):
        return {"step size": (eta, largest(mu, beta))}

    return conditions


def over_beta(factor: float) -> Callable[..., Any]:
    """The condition eta <= factor / beta."""

    def conditions(*, eta, beta):
        return {"step size": (eta, factor / beta)}

    return conditions


ONE = over_beta(1)
CLASSIC = step(lambda mu, beta: 2 / (mu + beta))


@dataclass(frozen=True)
class Book:
    """The records of one module, in order; `false` enters a wrong variant of the last true one."""

    records: list[Record] = field(default_factory=list)

    def true(self, case: Case, limit: Callable[..., Any], source: str, steps: float = 1.0) -> Callable[..., Any]:
        def enter(bound: Callable[..., Any]) -> Callable[..., Any]:
            name = bound.__name__.replace("_", "-")
            entry = Record(name=name, case=case, bound=bound, limit=limit, source=source, steps=steps)
            self.records.append(entry)
            return bound

        return enter

    def false(
        self,
        name: str,
        fault: str,
        bound: Callable[..., Any] | None = None,
        limit: Callable[..., Any] | None = None,
        steps: float | None = None,
    ) -> None:
        """With another bound, another limit (which steps of the family reach), or both."""
        right = next(entry for entry in reversed(self.records) if entry.true)
        self.records.append(
            Record(
                name=f"{right.name}/{name}",
                case=right.case,
                bound=right.bound if bound is None else bound,
                limit=right.limit if limit is None else limit,
                fault=fault,
                of=right.name,
                steps=right.steps if steps is None else steps,
            )
        )
