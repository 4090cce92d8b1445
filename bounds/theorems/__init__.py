"""The library of statements. Keys are permanent and read paper/result[-row]."""

from __future__ import annotations

import difflib

from ..errors import InputError
from ..theorem import Definition, Theorem
from . import adaptive, cobo, sample_optimal, scafflix, worst_case

THEOREMS: tuple[Theorem, ...] = (
    *adaptive.THEOREMS,
    *worst_case.THEOREMS,
    *sample_optimal.THEOREMS,
    *cobo.THEOREMS,
    *scafflix.THEOREMS,
)
DEFINITIONS: tuple[Definition, ...] = (
    *adaptive.DEFINITIONS,
    *worst_case.DEFINITIONS,
    *sample_optimal.DEFINITIONS,
    *cobo.DEFINITIONS,
    *scafflix.DEFINITIONS,
)


def find(key: str, edition: str = "corrected") -> Theorem:
    """The record of `key` in one edition; `InputError` with the nearest key, or its rows, when there is none."""
    for theorem in THEOREMS:
        if (theorem.key, theorem.edition) == (key, edition):
            return theorem
    keys = sorted({theorem.key for theorem in THEOREMS})
    if key in keys:
        raise InputError("edition", edition, f"{key} has no such edition; use printed or corrected")
    below = [each for each in keys if each.startswith(f"{key}-")]
    if below:
        raise InputError("theorem", key, f"say which: {', '.join(below)}")
    near = difflib.get_close_matches(str(key), keys, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else "`suffice theorem` lists them"
    raise InputError("theorem", key, hint)
