"""What an erratum is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any, Literal, cast

from suffice.bounds.papers import Paper
from suffice.simulate.threads import one_thread

Kind = Literal["typo", "constant", "hypothesis", "vacuous", "false", "code"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The two numbers of an erratum on its instance: what the print gives and what is true."""

    inputs: dict[str, Any]
    printed: float
    measured: float


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """`measured` contradicts `printed` on `inputs`; `key` is the corrected statement, if it has a record."""

    id: str
    paper: str
    location: str
    kind: Kind
    claim: str
    truth: str
    key: str | None = None
    compute: Callable[[], Finding] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The row of `suffice errata --json`, computed now."""
        with one_thread():
            found = self.compute()
        said = {name: getattr(self, name) for name in ("id", "paper", "location", "kind", "claim", "truth")}
        return {**said, **vars(found), "key": self.key}


def declare(
    *, paper: Paper, location: str, kind: Kind, claim: str, truth: str, key: str | None = None
) -> Callable[[Callable[[], Finding]], Erratum]:
    """Makes the decorated function, which computes the two numbers and is named as the id without the paper, one."""
    said: dict[str, Any] = {"location": location, "kind": kind, "claim": claim, "truth": truth, "key": key}

    def entry(compute: Callable[[], Finding]) -> Erratum:
        name = cast(FunctionType, compute).__name__.replace("_", "-")
        return Erratum(id=f"{paper.key}-{name}", paper=paper.title, **said, compute=compute)

    return entry


def declared(*modules: ModuleType) -> tuple[Erratum, ...]:
    """The errata of these modules, in the order of the files."""
    return tuple(entry for module in modules for entry in vars(module).values() if isinstance(entry, Erratum))
