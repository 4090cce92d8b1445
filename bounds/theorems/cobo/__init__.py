"""Hashemi, He, Jaggi (2024): CoBo, collaborative learning by bilevel optimisation."""

from __future__ import annotations

from ...theorem import Definition, Theorem

THEOREMS: tuple[Theorem, ...] = ()
DEFINITIONS: tuple[Definition, ...] = ()
