"""The sample-optimality paper, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

FORMULAS: dict = {}

VACUOUS: set = set()
"""No point meets the conditions."""

UNIT_FAULTS: dict = {}
"""What does not scale like its unit: "bound", or the name of a condition."""
