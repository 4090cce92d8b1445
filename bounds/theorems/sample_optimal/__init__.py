"""Even, Massoulie, Scaman (2022): sample optimality of All-for-one and All-for-all."""

from __future__ import annotations

from ...theorem import Definition, Theorem

THEOREMS: tuple[Theorem, ...] = ()
DEFINITIONS: tuple[Definition, ...] = ()
