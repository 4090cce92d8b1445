"""The worst-case results, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def one_step(p):
    """The two ends of the ball of directions, each by smoothness along it, and the decrease 1/beta would give."""
    G, eta, beta = p["gradient"] ** 2, p["eta"], p["beta"]
    ends = (p["pull"], p["weight"] + (p["weight"] - p["pull"]))
    change = max(-eta * x * G + eta**2 * beta * x**2 * G / 2 for x in ends)
    return change + eta**2 * beta * p["V"] / 2 + G / beta / 2


def sharp_step(p):
    """The value at the best weights of a client with two equal peers: x_k, the pull, the noise."""
    G, beta, Y = p["gradient"] ** 2, p["beta"], p["agreement"]
    left = 1 / (1 + G * Y)  # 1 - beta sum p_k x_k
    noise = beta / 2 * (G * left / beta) ** 2 * Y  # (beta / 2) sum x_k^2 sigma_k^2
    return G / (2 * beta) * left**2 + noise


def contraction(p):
    error = mpmath.sqrt(p["e0"])
    for _ in range(int(p["T"])):
        error -= p["eta"] * p["mu"] * p["pull"] * error
    return error**2


def noise_floor(p):
    """Second moments along the two curvatures, one step at a time."""
    noise = mpmath.mpf(0)
    for _ in range(int(p["T"])):
        noise = (1 - p["eta"] * p["beta"] * p["pull"]) ** 2 * noise + p["eta"] ** 2 * p["beta"] * p["V"] / 2
    return contraction(p) + noise


FORMULAS = {
    ("worst-case/quadratic-certificate", "corrected"): lambda p: p["c"] + (p["b"] / p["gradient"]) ** 2,
    ("worst-case/quadratic-norms", "corrected"): lambda p: (
        p["distortion"] ** 2 + 4 * p["distortion"] * p["shift"] / p["gradient"] + 4 * (p["shift"] / p["gradient"]) ** 2
    ),
    ("worst-case/quadratic-excess", "corrected"): lambda p: (p["dual"] * p["slack"] + p["seen"] ** 2) / p["slack"],
    ("worst-case/one-step", "corrected"): one_step,
    ("worst-case/sharp-step", "corrected"): sharp_step,
    ("worst-case/contraction", "corrected"): contraction,
    ("worst-case/noise-floor", "corrected"): noise_floor,
}

VACUOUS: set = set()
"""No point meets the conditions."""

UNIT_FAULTS: dict = {}
"""What does not scale like its unit: "bound", or the name of a condition."""
