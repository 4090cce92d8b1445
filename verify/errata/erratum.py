"""What an erratum is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

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
        return {
            "id": self.id,
            "paper": self.paper,
            "location": self.location,
            "kind": self.kind,
            "claim": self.claim,
            "truth": self.truth,
            "inputs": found.inputs,
            "printed": found.printed,
            "measured": found.measured,
            "key": self.key,
        }


def declare(
    *, id: str, paper: str, location: str, kind: Kind, claim: str, truth: str, key: str | None = None
) -> Callable[[Callable[[], Finding]], Erratum]:
    """Makes the decorated function, which computes the two numbers, an erratum."""
    return lambda compute: Erratum(
        id=id, paper=paper, location=location, kind=kind, claim=claim, truth=truth, key=key, compute=compute
    )


def declared(*modules: ModuleType) -> tuple[Erratum, ...]:
    """The errata of these modules, in the order of the files."""
    return tuple(entry for module in modules for entry in vars(module).values() if isinstance(entry, Erratum))
