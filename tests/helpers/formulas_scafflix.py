"""The Scafflix paper, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def level(p, start, kick, printed=False, left=None):
    """E of the Lyapunov function: its recursion, one iteration at a time; the print keeps the whole floor. `left` is
    what an iteration leaves of the models' squared distances."""
    rate = min(p["contraction"] if left is None else 1 - left, p["p"] * p["p"])
    value = p[start]
    for _ in range(int(p["T"])):
        value = value - rate * value + (0 if printed else kick)
    return value + (kick / rate if printed else 0)


def one(p, printed=False):
    return level(p, "Psi0", p["eta_min"] * p["noise"], printed)


def two(p, printed=False):
    return level(p, "V0", p["N"] * p["noise"], printed)


def start(p):
    return p["eta_min"] * p["distance2"] / p["p"] ** 2 * (p["inverse_step"] * p["p"] ** 2 + p["stiffness"])


def logarithm(x):
    """ln(x)_+ as the area under 1/x."""
    return mpmath.quad(lambda y: 1 / y, [1, x]) if x > 1 else mpmath.mpf(0)


def iterations(rate, ratio):
    return logarithm(ratio) / rate


def communications(rate, p, ratio):
    """Of the last iteration too, which the whole number may add."""
    return p * (iterations(rate, ratio) + 1)


def first(p):
    return min(1 / p["kappa_max"], p["p"] ** 2)


def second(p):
    return min(1 / p["kappa_max"], p["eps_Psi"] * p["mu_min"] / p["noise_max"] / 2)


def equal(p):
    return min(1 / p["kappa_max"], p["eps_mu"] / p["noise_mean"])


def batch(p):
    """|mean u|^2 counts m - 2 times of m, or not at all; m samples count twice."""
    m = p["batch"]
    mean = 2 * p["beta"] * p["bregman"] * max(m - 2, 0)
    return (mean + 2 * (2 * p["beta_max"] * p["bregman"] + p["sigma2_star"])) / m


def of_left(left):
    return lambda p: level(p, "Psi0", p["eta_min"] * p["noise"], left=left(p))


def often(kappa):
    """Where p^2 = 1 - ((kappa - 1)/(kappa + 1))^2."""
    return mpmath.sqrt((1 - (kappa - 1) / (kappa + 1)) * (1 + (kappa - 1) / (kappa + 1)))


def quarter(p):
    """M of the equalised steps."""
    return max(p["kappa_max"], p["noise_mean"] / p["eps_mu"])


FORMULAS = {
    ("scafflix/theorem-1-sharp", "corrected"): of_left(lambda p: (1 - p["contraction"]) ** 2),
    ("scafflix/theorem-1-noisy", "corrected"): of_left(
        lambda p: 1 - 2 * p["contraction"] + p["contraction"] * p["reach"]
    ),
    ("scafflix/corollary-1-sharp-iterations", "corrected"): lambda p: iterations(
        min(4 / p["kappa_max"], -mpmath.log((1 - p["p"]) * (1 + p["p"]))), p["Psi0"] / p["eps_Psi"]
    ),
    ("scafflix/corollary-1-sharp", "corrected"): lambda p: communications(
        4 / p["kappa_max"], often(p["kappa_max"]), p["Psi0"] / p["eps_Psi"]
    ),
    ("scafflix/equalised-sharp-iterations", "corrected"): lambda p: iterations(
        4 / quarter(p), p["mu_max"] * p["Psi0"] / p["eps_mu"]
    ),
    ("scafflix/equalised-sharp-communications", "corrected"): lambda p: communications(
        4 / quarter(p), often(quarter(p)), p["mu_max"] * p["Psi0"] / p["eps_mu"]
    ),
    ("scafflix/assumption-3-additive", "corrected"): lambda p: p["sigma2"] + p["bregman"] * p["beta"] * 2,
    ("scafflix/assumption-3-finite-sum", "printed"): lambda p: 2 * (2 * p["beta"] * p["bregman"] + p["sigma2_star"]),
    ("scafflix/assumption-3-finite-sum", "corrected"): lambda p: batch(p | {"batch": 1, "beta": 0}),
    ("scafflix/assumption-3-minibatch", "corrected"): batch,
    ("scafflix/assumption-3-nonuniform", "corrected"): lambda p: (
        2 * (p["sigma2_star"] + p["beta_drawn"] * (p["bregman"] + p["bregman"]))
    ),
    ("scafflix/theorem-1", "printed"): lambda p: one(p, printed=True),
    ("scafflix/theorem-1", "corrected"): one,
    ("scafflix/theorem-1-excess", "corrected"): lambda p: p["reach"] / p["eta_min"] / 2 * one(p),
    ("scafflix/theorem-2", "printed"): lambda p: two(p, printed=True),
    ("scafflix/theorem-2", "corrected"): two,
    ("scafflix/initial-lyapunov", "printed"): start,
    ("scafflix/initial-lyapunov", "corrected"): start,
    ("scafflix/corollary-1-iterations", "corrected"): lambda p: iterations(first(p), p["Psi0"] / p["eps_Psi"]),
    ("scafflix/corollary-1-communications", "corrected"): lambda p: communications(
        first(p), p["p"], p["Psi0"] / p["eps_Psi"]
    ),
    ("scafflix/corollary-1", "corrected"): lambda p: communications(
        1 / p["kappa_max"], mpmath.sqrt(1 / p["kappa_max"]), p["Psi0"] / p["eps_Psi"]
    ),
    ("scafflix/corollary-2-iterations", "corrected"): lambda p: iterations(second(p), 2 * p["Psi0"] / p["eps_Psi"]),
    ("scafflix/corollary-2-communications", "corrected"): lambda p: communications(
        second(p), mpmath.sqrt(second(p)), 2 * p["Psi0"] / p["eps_Psi"]
    ),
    ("scafflix/equalised-iterations", "corrected"): lambda p: iterations(
        equal(p), p["mu_max"] * p["Psi0"] / p["eps_mu"]
    ),
    ("scafflix/equalised-communications", "corrected"): lambda p: communications(
        equal(p), mpmath.sqrt(equal(p)), p["mu_max"] * p["Psi0"] / p["eps_mu"]
    ),
}

VACUOUS: set = set()
"""No point meets the conditions."""

UNIT_FAULTS: dict = {}
"""What does not scale like its unit: "bound", or the name of a condition."""
