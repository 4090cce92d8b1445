"""Claims on the worst-case results."""

from __future__ import annotations

from ..claim import Claim


def claims() -> tuple[Claim, ...]:
    """Built on demand."""
    return ()
