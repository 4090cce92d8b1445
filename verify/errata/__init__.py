"""Printed statements found wrong: what is printed, what a direct computation gives, and how to see it.

Each entry computes both numbers when asked; nothing here is typed in.
"""

from __future__ import annotations

import difflib

from bounds import InputError

from . import adaptive, cobo, sample_optimal, scafflix
from .erratum import Erratum as Erratum
from .erratum import Finding as Finding

ERRATA: tuple[Erratum, ...] = (*adaptive.ERRATA, *sample_optimal.ERRATA, *cobo.ERRATA, *scafflix.ERRATA)


def errata(identifier: str | None = None) -> list[Erratum]:
    """All entries, or the one asked for; `InputError` with the nearest id when there is none."""
    if identifier is None:
        return list(ERRATA)
    known = [entry.id for entry in ERRATA]
    if identifier not in known:
        near = difflib.get_close_matches(identifier, known, n=1, cutoff=0.3)
        raise InputError("erratum", identifier, f"did you mean {near[0]}?" if near else "`suffice errata` lists them")
    return [entry for entry in ERRATA if entry.id == identifier]
