"""The precision below which peers do not make a client faster, read off the rows of its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .plan_row import Row


def break_even(precisions: Mapping[float | str, Sequence[Row]]) -> list[dict[str, Any]]:
    """Of every client, by its `name`, among the precisions of a plan [loss]; none of a plan at a single one.

    helped   the smallest one at which peers save an iteration; None: they do at none
    stopped  the next smaller one, at which they no longer do; None: they help at the smallest one, or at none
    """
    found = []
    for rows in zip(*precisions.values()) if len(precisions) > 1 else ():
        levels = {row.epsilon: _helps(row) for row in sorted(rows, key=lambda row: row.epsilon)}
        helped = next((level for level, helps in levels.items() if helps), None)
        stopped = None if helped is None else max((level for level in levels if level < helped), default=None)
        found.append({"name": rows[0].name, "helped": helped, "stopped": stopped})
    return found


def _helps(row: Row) -> bool:
    """Whether the recommended plan arrives sooner than the client alone, which may never arrive."""
    together, alone = row.both(row.recommended)
    if together is None or together.iterations is None:
        return False
    return alone.iterations is None or alone.iterations - together.iterations >= 1
