"""Every condition of every corrected record holds with equality somewhere, and the bound is above the truth there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from at_limits import at_limits

from suffice.bounds import ConditionError, evaluate
from suffice.bounds.theorems.cobo.theorem_1_star import run_conditions
from suffice.verification.claims import all_claims, claim_of

CLAIMS = [claim for claim in all_claims() if claim.theorem.guarantee and claim.theorem.condition_names()]
CLAIMS = [claim for claim in CLAIMS if claim.theorem.superseded_by is None]  # those lie above their successors
EXACT = 1 + 1e-9

UNREACHED = {
    ("sample-optimal/theorem-2-last-iterate", "curvature mu <= beta"): "its losses have a kink, so that mu < beta",
    (
        "sample-optimal/theorem-2-mixture-rounds",
        "bias bias^2 <= 1.8 mu eps",
    ): "its weights are drawn, and their bias with them",
    ("sample-optimal/theorem-4", "two agents 2 <= N"): "its instances have two clusters of two agents at least",
    ("sample-optimal/theorem-4-sharp", "two agents 2 <= N"): "its instances have two clusters of two agents at least",
}
"""Conditions that no instance meets with equality, and why."""


def assert_at_limits(claims=CLAIMS, **how):
    unreached, beyond = set(), {}
    for claim in claims:
        known = [name for key, name in UNREACHED if key == claim.theorem.key and not how.get("always")]
        found = at_limits(claim, unreached=known, **how)
        unreached |= {(claim.theorem.key, name) for name in found.missing()}
        if found.worst > EXACT:
            beyond[claim.theorem.key] = found.worst, found.at
    assert not beyond
    keys = {claim.theorem.key for claim in claims}
    assert unreached == {(key, name) for key, name in UNREACHED if key in keys}


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_bound_is_below_the_truth_where_a_condition_holds_with_equality(part):
    """Of every second claim each time."""
    assert len(CLAIMS) >= 118
    assert sum(len(claim.theorem.condition_names()) for claim in CLAIMS) >= 277
    assert_at_limits(CLAIMS[part::2], rows=6, tries=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_no_bound_is_below_the_truth_at_many_limits(seed):
    assert_at_limits(rows=120, seed=seed, always=True, tries=3)


# --- what the contract was made for ------------------------------------------------------------------------------


def times_what_vanishes(*, eta, beta, rho, size, least_weight, dissimilarity, T, tilt, kept):
    """corollary-2-star as it was: the condition on the mean times tilt - s, 0 where the share is at its limit."""
    used = tilt * (beta / (least_weight * rho * size)) ** 2 + kept
    left, taken = tilt - used, tilt * used * dissimilarity
    return {
        "share": (used, tilt),
        "deviations": (taken, left),
        "mean": ((eta * beta + kept - 1) * (tilt * left - taken), (left - taken) * (tilt - 1)),
        **run_conditions(eta=eta, rho=rho, size=size, least_weight=least_weight, T=T),
    }


def test_a_condition_times_what_vanishes_at_the_limit_is_seen():
    claim = claim_of("cobo/corollary-2-star")
    found = at_limits(replace(claim, theorem=replace(claim.theorem, conditions=times_what_vanishes)), rows=6)
    assert found.worst > 5
    np.testing.assert_allclose(found.at["tilt"] * (1 - (found.at["beta"] / (found.at["rho"] * found.at["size"])) ** 2),
                               found.at["kept"], rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("row", ["line", "plane"])
def test_a_rounding_beyond_the_limit_is_no_negative_bound(row):
    claim = claim_of(f"stein/harmless-{row}")
    found = at_limits(replace(claim, theorem=replace(claim.theorem, conditions=balls)), rows=6, tries=4)
    assert found.worst > EXACT  # infinite: the bound was -1e15
    with pytest.raises(ConditionError, match=r"inner <= 0\.999 outer"):
        evaluate(claim.theorem, v=1.0, inner=1 + 2.0**-52, outer=1.0)


def balls(*, inner, outer):
    return {"inner <= outer": (inner, outer)}
