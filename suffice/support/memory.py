"""The limit of the memory of one call: what will be allocated is counted first, and refused above a limit."""

from __future__ import annotations

from .errors import InputError
from .numbers import as_number

MAX_MEMORY = 2e9
"""Bytes, unless something else is asked for: a table of ten million rows and twenty columns takes 1.6e9."""


class Memory:
    """The bytes that one call may still allocate."""

    def __init__(self, max_memory: float = MAX_MEMORY) -> None:
        self.limit = as_number("max_memory", max_memory, least=1)
        self.used = 0.0

    def take(self, what: str, size: float) -> None:
        """Count `size` bytes for `what`, or `InputError` when they would go beyond the limit."""
        self.check(what, size)
        self.used += size

    def check(self, what: str, size: float) -> None:
        """Raise `InputError` as `take` does, but count nothing: for what is freed before anything else is allocated."""
        if self.used + size > self.limit:
            already = f", beside {self.used:.2g} already taken" if self.used else ""
            remedy = f"more than the limit of {self.limit:.2g}{already}; raise it by max_memory (--max-memory)"
            raise InputError(f"memory for {what}", f"{size:.2g} bytes", remedy)
