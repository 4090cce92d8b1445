"""What a user pays for training: prices of a round, an iteration, a vector, a byte and a gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers
from suffice.support.parse import nearest

BYTES = 8
"""Of a number that is sent."""


class Spent(NamedTuple):
    """Of all clients together: vectors down to clients and up from them, stochastic gradients of one sample each."""

    iterations: float
    rounds: float
    down: float
    up: float
    gradients: float
    features: int

    @property
    def bytes_down(self) -> float:
        return BYTES * self.features * self.down

    @property
    def bytes_up(self) -> float:
        return BYTES * self.features * self.up


class Prices(NamedTuple):
    """By default rounds alone count."""

    round: float = 0.0
    iteration: float = 0.0
    vector: float = 0.0
    byte: float = 0.0
    gradient: float = 0.0

    @classmethod
    def of(cls, given: Any) -> Prices:
        """From "round=1 vector=.1", or a mapping; None is rounds alone. Raises `InputError`."""
        if given is None:
            return cls(round=1.0)
        pairs = given.items() if hasattr(given, "items") else _pairs(given)
        found: dict[str, float] = {}
        for name, value in pairs:
            if name not in cls._fields:
                near = nearest(str(name), cls._fields)
                meant = f"did you mean {near}? " if near else ""
                raise InputError("cost", name, f"{meant}there are {', '.join(cls._fields)}")
            if name in found:
                raise InputError("cost", name, "give each price once")
            found[name] = float(as_numbers("cost", value, ()))
            if found[name] < 0:
                raise InputError("cost", f"{name}={value}", "give prices >= 0")
        if not any(found.values()):
            raise InputError("cost", given, "give a price above 0, such as round=1")
        return cls(**found)

    def of_all(self, spent: Spent) -> float:
        return (
            self.round * spent.rounds
            + self.iteration * spent.iterations
            + self.vector * (spent.down + spent.up)
            + self.byte * (spent.bytes_down + spent.bytes_up)
            + self.gradient * spent.gradients
        )

    def __str__(self) -> str:
        return " ".join(f"{name}={value:g}" for name, value in self._asdict().items() if value)


def _pairs(text: Any) -> list[tuple[str, float]]:
    if not isinstance(text, str):
        raise InputError("cost", text, 'give prices as "round=1 vector=.1 gradient=.001"')
    found = []
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        try:
            found.append((name, float(value)))
        except ValueError:
            remedy = 'give prices as "round=1 vector=.1 gradient=.001"'
            raise InputError("cost", part if equals else text, remedy) from None
    return found
