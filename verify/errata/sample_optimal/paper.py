"""The sample-optimality paper's name in every entry."""

from __future__ import annotations

PAPER = "Sample optimality (Even, Massoulie, Scaman, 2022)"
