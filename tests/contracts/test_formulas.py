"""Every record's bound against the formula of the theory, written anew and run at forty digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from bounds import THEOREMS, digits


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
    ("worst-case/quadratic-certificate", "corrected"): lambda p: p["c"] + (p["b"] / p["gradient"]) ** 2,
}


@pytest.mark.parametrize("theorem", [t for t in THEOREMS if (t.key, t.edition) in FORMULAS], ids=str)
def test_record_has_the_value_of_the_formula_in_the_theory(theorem):
    rng = np.random.default_rng(31)
    positive = 0
    for _ in range(30):
        values = {parameter.name: np.exp(rng.uniform(-2, 0)).item() for parameter in theorem.parameters}
        if "T" in values:
            values["T"] = int(rng.integers(0, 200))
        with mpmath.workdps(60):
            expected = FORMULAS[theorem.key, theorem.edition]({k: mpmath.mpf(v) for k, v in values.items()})
            # 60 digits on this side and 65 on the other: 40 leave room for T steps and cancellation
            assert abs(digits(theorem, **values) - expected) <= mpmath.mpf(10) ** -40 * abs(expected)
        positive += expected != 0
    assert positive >= 3


def test_each_formula_here_is_a_record():
    assert FORMULAS.keys() <= {(t.key, t.edition) for t in THEOREMS}
