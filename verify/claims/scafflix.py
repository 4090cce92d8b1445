"""Claims on the Scafflix paper."""

from __future__ import annotations

from ..claim import Claim


def claims() -> tuple[Claim, ...]:
    """Built on demand."""
    return ()
