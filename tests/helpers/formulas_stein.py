"""Weights on estimates, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def weighting(p):
    """Squared bias and the others' noise are what the distance has beyond (1 - w)^2 V; the own noise counts w^2 V."""
    others = p["apart2"] - (1 - p["own_weight"]) ** 2 * p["own_variance"]
    return others + p["own_weight"] ** 2 * p["own_variance"]


def james_stein(p):
    """Stein's identity for -c z/|z|^2: its squared norm c^2/|z|^2, twice its divergence -2 (d - 2) c/|z|^2."""
    alone, c = p["d"] * p["v"], p["shrink"]
    return alone + (c**2 - 2 * p["v"] * (p["d"] - 2) * c) / (p["gap2"] + alone)


def harmless(p, dimension):
    """1/H(a) is at least the integral of 1/(4 v^2 S r^(p-1)); S = 2 or 2 pi, and the ball has the volume S a^p/p."""
    sphere = 2 * mpmath.pi ** (dimension - 1)
    least = {1: p["outer"] - p["inner"], 2: mpmath.log(p["outer"]) - mpmath.log(p["inner"])}[dimension]
    return 4 * p["v"] ** 2 * sphere / least / (sphere * p["inner"] ** dimension / dimension)


def clusterings(p):
    """The clustering's own risk, and what its weight's logarithm costs."""
    return p["misplaced2"] - 4 * p["v"] * mpmath.log(p["prior"]) + p["clusters"] * p["v"] * p["d"]


FORMULAS = {
    ("stein/clusterings-score", "corrected"): lambda p: (
        p["mean_score"] - p["disagreement"] * (1 - p["v"] / p["temperature"] * 4)
    ),
    ("stein/clusterings", "corrected"): clusterings,
    ("stein/weighting", "corrected"): weighting,
    ("stein/james-stein", "corrected"): james_stein,
    ("stein/harmless-line", "corrected"): lambda p: harmless(p, 1),
    ("stein/harmless-plane", "corrected"): lambda p: harmless(p, 2),
}

VACUOUS: set = set()
"""No point meets the conditions."""

UNIT_FAULTS: dict = {}
"""What does not scale like its unit: "bound", or the name of a condition."""
