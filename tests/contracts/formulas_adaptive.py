"""The adaptive paper, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def level(p, printed=False):
    """B_T: the recursion itself, one step at a time; the printed row keeps the whole noise floor."""
    B, noise = p["e0"], p["eta"] ** 2 * p["beta"] * p["s2"] / 2
    for _ in range(int(p["T"])):
        B = B - p["eta"] * p["mu"] * B + (0 if printed else noise)
    return B + (noise / (p["eta"] * p["mu"]) if printed else 0)


def drift(p):
    """Delta of Corollary 1: half of the full contraction at eta = mu eps / (beta s2)."""
    best = p["mu"] * p["eps"] / (p["beta"] * p["s2"])
    return p["eta"] * p["mu"] * (1 - p["eta"] / best / 2)


def still_running(p):
    x = p["e0"] / p["eps"]
    for _ in range(int(p["T"])):
        x -= drift(p) * x
    return x


def similarity(p, power):
    return max(mpmath.mpf(0), 1 - p["c"] - p["b"] ** power / p["mu"] / p["eps"] / 2)


FORMULAS = {
    ("adaptive/property-1", "printed"): lambda p: 2 * (p["shift"] ** 2 + (p["distortion"] * p["gradient"]) ** 2),
    ("adaptive/property-1", "corrected"): lambda p: 8 * p["shift"] ** 2 + 2 * (p["distortion"] * p["gradient"]) ** 2,
    ("adaptive/lemma-2", "printed"): lambda p: similarity(p, 1),
    ("adaptive/lemma-2", "corrected"): lambda p: similarity(p, 2),
    ("adaptive/theorem-2-constant", "printed"): lambda p: level(p, printed=True),
    ("adaptive/theorem-2-constant", "corrected"): level,
    ("adaptive/theorem-2-constant-running", "corrected"): lambda p: level(p) / p["eps"],
    ("adaptive/theorem-2-constant-stopped", "corrected"): lambda p: level(p) + p["eps"],
    ("adaptive/corollary-1-probability", "corrected"): still_running,
    ("adaptive/corollary-1-expected-time", "corrected"): lambda p: mpmath.log(mpmath.e * p["e0"] / p["eps"]) / drift(p),
}

VACUOUS = {("adaptive/theorem-2-decreasing", "printed")}
"""No point meets the conditions."""

UNIT_FAULTS = {("adaptive/lemma-2", "printed"): {"bound"}}
"""What does not scale like its unit: "bound", or the name of a condition."""
