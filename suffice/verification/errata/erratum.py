"""An erratum is a printed statement, a counterexample to it, and what holds instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, Literal, cast, get_args

from suffice.bounds import THEOREMS
from suffice.bounds.papers import Paper
from suffice.simulate.threads import one_thread

Kind = Literal["typo", "constant", "hypothesis", "vacuous", "false", "code", "loose"]
Direction = Literal["upper", "lower", "equality", "other"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The two numbers of an erratum on its instance: what the print gives and what is true."""

    inputs: dict[str, Any]
    printed: float
    measured: float


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """`measured` contradicts `printed` on `inputs`; `key` is the corrected statement, if it has a record.

    Kind "loose": the printed statement is true and something is to be added; no error.
    `direction` is what the print says of `printed`: that the quantity is at most it (upper), at least it (lower) or
    equal to it (equality), or none of these (other). None: as the corrected record; equality where that says nothing,
    and for code.
    """

    id: str
    paper: str
    location: str
    kind: Kind
    claim: str
    truth: str
    key: str | None = None
    direction: Direction | None = None
    compute: Callable[[], Finding] = field(repr=False)

    @property
    def counts(self) -> bool:
        """Whether the entry is an error: true of every kind but "loose"."""
        return self.kind != "loose"

    @property
    def side(self) -> Direction:
        """The direction, taken from the corrected record where none is given."""
        if self.direction is not None or self.kind == "code":
            return self.direction or "equality"
        return next((record.direction for record in THEOREMS if record.key == self.key), "equality")

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice errata --json`, computed now."""
        with one_thread():
            found = self.compute()
        said = {name: getattr(self, name) for name in ("id", "paper", "location", "kind", "claim", "truth")}
        return {**said, **vars(found), "key": self.key, "direction": self.side}


@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """An erratum that did not stand: what it said of the print (`claim`), and why it is withdrawn (`truth`)."""

    id: str
    paper: str
    location: str
    claim: str
    truth: str
    kind: str = "withdrawn"

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice errata ID --json`: the fields of an erratum, without numbers."""
        return {**vars(self), "inputs": {}, "printed": None, "measured": None, "key": None, "direction": None}


def declare(
    *,
    paper: Paper,
    location: str,
    kind: Kind,
    claim: str,
    truth: str,
    key: str | None = None,
    direction: Direction | None = None,
) -> Callable[[Callable[[], Finding]], Erratum]:
    """Make an erratum of the decorated function, which computes both numbers and is named as the id less the paper."""
    said: dict[str, Any] = {"location": location, "kind": kind, "claim": claim, "truth": truth, "key": key}

    def entry(compute: Callable[[], Finding]) -> Erratum:
        name = cast(FunctionType, compute).__name__.replace("_", "-")
        return Erratum(id=f"{paper.key}-{name}", paper=paper.title, **said, direction=direction, compute=compute)

    return entry


def kinds(paper: Paper) -> tuple[partial[Callable[[Callable[[], Finding]], Erratum]], ...]:
    """`declare` for the errata of a paper, once for each `Kind` in its order."""
    return tuple(partial(declare, paper=paper, kind=kind) for kind in get_args(Kind))


def withdraw(paper: Paper, name: str, *, location: str, claim: str, truth: str) -> Withdrawn:
    """The erratum of that name is withdrawn; its id goes on answering."""
    return Withdrawn(id=f"{paper.key}-{name}", paper=paper.title, location=location, claim=claim, truth=truth)


def declared(*modules: ModuleType) -> tuple[Erratum, ...]:
    """The errata of these modules, in the order of the files."""
    return tuple(entry for module in modules for entry in vars(module).values() if isinstance(entry, Erratum))
