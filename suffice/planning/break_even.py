"""The precision below which peers do not make a client faster, read off the rows of its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from suffice.support.numbers import plain

from .plan_row import Row


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """Of one client, among the precisions of the plan [loss].

    helped   the smallest one at which peers save an iteration; None: they do at none
    stopped  the next smaller one, at which they no longer do; None: they help at the smallest one, or at none
    """

    name: str
    helped: float | None
    stopped: float | None

    def to_dict(self) -> dict[str, float | str | None]:
        return plain(vars(self))


def break_even(precisions: Mapping[float | str, Sequence[Row]]) -> list[BreakEven]:
    """One entry per client; none of a plan at one precision, which has nothing to compare."""
    if len(precisions) < 2:
        return []
    return [_of(sorted(rows, key=lambda row: -row.epsilon)) for rows in zip(*precisions.values())]


def _of(rows: Sequence[Row]) -> BreakEven:
    """`rows` are one client's, from the largest precision to the smallest."""
    helping = [at for at, row in enumerate(rows) if _helps(row)]
    after = rows[helping[-1] + 1 :] if helping else ()
    return BreakEven(
        name=rows[0].name,
        helped=rows[helping[-1]].epsilon if helping else None,
        stopped=after[0].epsilon if after else None,
    )


def _helps(row: Row) -> bool:
    """Whether the recommended plan arrives sooner than the client alone, which may never arrive."""
    _, _, alone, together = row.times()
    return together is not None and (alone is None or alone - together >= 1)
