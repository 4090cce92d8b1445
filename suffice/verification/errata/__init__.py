"""Printed statements found wrong: what is printed, what a direct computation gives, and how to see it.

Each entry computes both numbers when asked; nothing here is typed in. Entries of the kind *loose* are true statements
of which something is to be said; `WITHDRAWN` has those that did not stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.bounds.papers import LazyTuple, parts
from suffice.bounds.theorems import ids_of, is_paper, nearest, spelled
from suffice.support.errors import InputError
from suffice.support.frames import to_frame

from .erratum import Erratum as Erratum
from .erratum import Finding as Finding
from .erratum import Withdrawn as Withdrawn

ERRATA: Sequence[Erratum] = LazyTuple(lambda: parts("errata", "ERRATA"))
WITHDRAWN: Sequence[Withdrawn] = LazyTuple(lambda: parts("errata", "WITHDRAWN"))


class Entries(list[Any]):
    """A list of errata."""

    def to_frame(self) -> Any:
        """Computed now, as pandas' or polars' data frame, else a mapping of columns."""
        rows = [entry.to_dict() for entry in self]
        return to_frame(
            row | {"inputs": [f"{name} = {value}" for name, value in row["inputs"].items()]} for row in rows
        )


def errata(identifier: str | None = None) -> Entries:
    """List all errata, those of a paper or of a result, or show the one with an id.

    identifier  a paper ("cobo"), a result ("adaptive/theorem-2") or an id; None lists all

    Case does not matter, nor do spaces for hyphens. The id of a withdrawn erratum gives the reason. Raises `InputError`
    with the nearest id if there is none.
    """
    if identifier is None:
        return Entries(ERRATA)
    text = _id(identifier)
    if gone := Entries(entry for entry in WITHDRAWN if entry.id == text):
        return gone
    named = ids_of(identifier, [entry.id for entry in ERRATA])
    found = Entries(entry for entry in ERRATA if entry.id in named)
    if not found and not is_paper(text):
        near = nearest(text, [entry.id for entry in ERRATA], 0.3)
        raise InputError("erratum", identifier, f"did you mean {near}?" if near else "`suffice errata` lists them")
    return found


def one(identifier: str | None) -> bool:
    """Whether `identifier` is the whole id of one entry, rather than a part of several ids."""
    return identifier is not None and any(entry.id == _id(identifier) for entry in (*ERRATA, *WITHDRAWN))


def _id(identifier: str) -> str:
    return spelled(identifier).replace("/", "-")
