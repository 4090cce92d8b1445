"""One statement of a paper: where it stands, and the keys that cover it or why none does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A numbered or named statement: a theorem, a displayed inequality, a definition, an assumption, an algorithm.

    `place` is what the source locators of its records contain. `keys` are records and definitions (without their
    paper's key, or whole where they are another paper's), ids of errata and names of algorithms; `reason` says why
    there is none, or what of the statement they leave out.
    """

    place: str
    says: str
    keys: tuple[str, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if not self.keys and not self.reason:
            raise ValueError(f"{self.place}: give the keys that cover it, or the reason why none does")


def statement(place: str, says: str, keys: str = "", reason: str = "") -> Statement:
    """A statement with its keys separated by spaces."""
    return Statement(place=place, says=says, keys=tuple(keys.split()), reason=reason)
