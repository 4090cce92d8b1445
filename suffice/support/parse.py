"""Numbers and labels from text, as people type them into files and commands."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .errors import InputError


def parse_number(place: str, text: str) -> float:
    """A plain decimal number; Python's own extras (underscores, other alphabets' digits) are refused."""
    try:
        if not text.isascii() or "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise InputError(place, text, "give a number") from None


def as_label(text: str) -> float | str:
    """A label as typed: a number where it reads as one."""
    try:
        return parse_number("", text)
    except InputError:
        return text


def nearest(word: str, known: Iterable[str]) -> str:
    """The one of `known` that `word` may mean, whatever its capitals; empty where none is near."""
    folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.7)
    return folded[near[0]] if near else ""
