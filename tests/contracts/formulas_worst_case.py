"""The worst-case results, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

FORMULAS = {("worst-case/quadratic-certificate", "corrected"): lambda p: p["c"] + (p["b"] / p["gradient"]) ** 2}

VACUOUS: set = set()
"""No point meets the conditions."""

UNIT_FAULTS: dict = {}
"""What does not scale like its unit: "bound", or the name of a condition."""
