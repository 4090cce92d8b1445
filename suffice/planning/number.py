"""One number of a plan, with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["guaranteed", "exact", "measured"]
"""An upper bound that a theorem proves; a mean from second moments; a mean over simulated paths."""


@dataclass(frozen=True)
class Number:
    """`value` is None where there is none, and `why_not` then says why; `error` has the two ends of a measured number,
    two standard errors away, an end being None where it is not known."""

    value: float | None
    kind: Kind
    error: tuple[float | None, float | None] = (None, None)
    why_not: str = ""
