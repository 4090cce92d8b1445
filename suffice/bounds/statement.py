"""One statement of a paper: where it stands, and the keys that cover it or why none does."""

from __future__ import annotations

from typing import NamedTuple


class Statement(NamedTuple):
    """A numbered or named statement: a theorem, a displayed inequality, a definition, an assumption, an algorithm.

    `place` is what the source locators of its records contain. `keys` are records and definitions (without their
    paper's key, or whole where they are another paper's), ids of errata and names of algorithms; `reason` says why
    there is none, or what of the statement they leave out.
    """

    place: str
    says: str
    keys: tuple[str, ...]
    reason: str


def statement(place: str, says: str, keys: str = "", reason: str = "") -> Statement:
    """A statement with its keys separated by spaces."""
    return Statement(place, says, tuple(keys.split()), reason)
