"""The adaptive paper's name in every entry."""

from __future__ import annotations

PAPER = "Adaptive collaboration (Philippenko et al., 2025)"
