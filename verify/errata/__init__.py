"""Printed statements found wrong: what is printed, what a direct computation gives, and how to see it.

Each entry computes both numbers when asked; nothing here is typed in.
"""

from __future__ import annotations

import difflib

from bounds import THEOREMS, InputError

from . import adaptive, cobo, sample_optimal, scafflix
from .erratum import Erratum as Erratum
from .erratum import Finding as Finding

ERRATA: tuple[Erratum, ...] = (*adaptive.ERRATA, *sample_optimal.ERRATA, *cobo.ERRATA, *scafflix.ERRATA)


def errata(identifier: str | None = None) -> list[Erratum]:
    """All entries, those of a paper such as "cobo", or the one of an id; `InputError` with the nearest id if none."""
    if identifier is None:
        return list(ERRATA)
    if identifier in {theorem.key.partition("/")[0] for theorem in THEOREMS}:
        return [entry for entry in ERRATA if entry.id.startswith(f"{identifier}-")]
    known = [entry.id for entry in ERRATA]
    if identifier not in known:
        near = difflib.get_close_matches(identifier, known, n=1, cutoff=0.3)
        raise InputError("erratum", identifier, f"did you mean {near[0]}?" if near else "`suffice errata` lists them")
    return [entry for entry in ERRATA if entry.id == identifier]
