"""Averaged iterates, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def finite(p):
    """The mean of the errors along curvature mu, iterate by iterate; of the noise, T shares of 1/(T + 1) each."""
    error = total = mpmath.sqrt(p["e0"])
    for _ in range(int(p["T"])):
        error -= p["eta"] * p["mu"] * error
        total += error
    share = 1 / (p["T"] + 1)
    return (total * share) ** 2 + p["T"] * share**2 * p["sigma2"] / p["mu"] / 2


FORMULAS = {("averaged-sgd/theorem-1-finite", "corrected"): finite}

VACUOUS: set = set()
"""No point meets the conditions."""

UNIT_FAULTS: dict = {}
"""What does not scale like its unit: "bound", or the name of a condition."""
