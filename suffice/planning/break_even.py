"""The precision below which peers do not make a client faster, by its guaranteed plans or by its exact ones."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.support.numbers import plain

from .number import Kind

SHOWN = {
    "guaranteed": ("client", "name", "epsilon", "first_peer"),
    "exact": ("name", "helped", "stopped", "tried", "iterations", "doubled"),
}
"""Fields in JSON."""


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """Of one client, by its plans of a kind at the precisions that were tried [loss].

    helped      the smallest one at which peers help; None: there is none
    stopped     the next smaller one that was tried, from which on they do not; None: they help at the smallest one
    tried       the smallest one; of exact plans, that could be planned within 2000 iterations at least with peers
    first_peer  of guaranteed plans the precision below which no peer is known to be similar at all; None: no peer ever
    iterations  of the exact plan at its own precision; doubled  the same if a gradient averaged twice as many rows
    """

    client: int
    name: str
    kind: Kind
    helped: float | None
    stopped: float | None
    tried: float | None
    first_peer: float | None = None
    iterations: int | None = None
    doubled: int | None = None

    @property
    def epsilon(self) -> float | None:
        """Peers help at no precision tried below; 0: they do at the smallest ones; None: they help at none."""
        return None if self.helped is None else self.stopped or 0.0

    def to_dict(self) -> dict[str, float | int | str | None]:
        return plain({name: getattr(self, name) for name in SHOWN[self.kind]})
