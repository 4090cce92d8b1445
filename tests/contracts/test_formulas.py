"""The bounds that nothing measures against the formulas of the papers: printed records without a claim."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from suffice.bounds import THEOREMS, digits
from suffice.verification.claims import all_claims

CLAIMED = {(claim.theorem.key, claim.theorem.edition) for claim in all_claims()}
UNMEASURED = [t for t in THEOREMS if t.bound is not None and (t.key, t.edition) not in CLAIMED]


def level(p):
    """The recursion of the Lyapunov function, one iteration at a time; the print keeps the whole floor."""
    rate, value = min(p["contraction"], p["p"] * p["p"]), p["V0"]
    for _ in range(int(p["T"])):
        value -= rate * value
    return value + p["N"] * p["noise"] / rate


FORMULAS = {
    "adaptive/remark-3-binary": lambda p: p["threshold"],
    "adaptive/remark-3-continuous": lambda p: p["share"],
    "adaptive/definition-2-binary": lambda p: 1 / p["threshold"] / p["similar_mass"],
    "scafflix/theorem-2": level,
}
"""Written anew from the papers, of mpmath numbers in the dictionary p."""


@pytest.mark.parametrize("theorem", UNMEASURED, ids=str)
def test_record_has_the_value_of_the_formula_in_the_paper(theorem):
    rng = np.random.default_rng(31)
    for _ in range(30):
        values = {}
        for parameter in theorem.parameters:
            if parameter.integer:
                values[parameter.name] = int(rng.integers(max(parameter.lower, 1), 200))
            else:
                low = max(np.exp(-2), parameter.lower)
                values[parameter.name] = low * np.exp(rng.uniform(1e-3, 2)).item()
        with mpmath.workdps(60):
            expected = FORMULAS[theorem.key]({k: mpmath.mpf(v) for k, v in values.items()})
            # 60 digits on this side and 65 on the other: 40 leave room for T steps and cancellation
            assert abs(digits(theorem, **values) - expected) <= mpmath.mpf(10) ** -40 * abs(expected)
            assert expected > 0


def test_every_record_without_a_claim_is_printed_and_has_a_formula_here():
    assert [(t.key, t.edition) for t in UNMEASURED] == [(key, "printed") for key in FORMULAS]
