"""Equalities are refuted from above too; Corollary 1 is sharp while it is running, not for the stopped process."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds.theorems.adaptive import corollary_1 as hitting_records
from suffice.verification import Outcome
from suffice.verification.claims.adaptive import hitting, least_squares
from suffice.verification.instances.scheduled import Decreasing

CLAIMS = {claim.theorem.key: claim for claim in least_squares.claims()}


@pytest.mark.parametrize("name", ["least-squares-rate", "least-squares-variance"])
def test_a_bound_that_is_larger_than_an_equality_is_violated(name):
    claim = CLAIMS[f"adaptive/{name}"]
    honest = claim.theorem.bound

    @functools.wraps(honest)
    def larger(**arguments):
        return 1.01 * honest(**arguments)

    assert replace(claim, theorem=replace(claim.theorem, bound=larger)).verify().outcome is Outcome.VIOLATED


def test_the_corollary_is_sharp_while_running_and_by_a_factor_of_two_not_for_the_stopped_process():
    """Why it bounds E[e_T 1{tau >= T}]: E[e_min(T, tau)] <= 2 eps is reached in half of the iterations or fewer."""
    record = next(theorem for theorem in hitting_records.THEOREMS if theorem.edition == "corrected")
    assert record.key == "adaptive/corollary-1"
    batch = Decreasing.of(hitting._sharp_decreasing_confidence())
    arguments = batch.arguments()
    names = ("C", "gamma", "mu", "beta", "e0", "s2", "eps")
    bound = record.bound(**{name: arguments[name] for name in names})
    assert 0.99 < (batch.last_above() / bound).max() <= 1
    # E[e_min(t, tau)] <= E[e_t 1{tau >= t}] + eps P(tau < t), and tau is T here
    halved = Decreasing.of(vars(batch) | {"eps": batch.eps / 2})
    arguments = halved.arguments()
    bound = record.bound(**{name: arguments[name] for name in names})
    stopped = np.where(halved.excess() > 2 * halved.eps, halved.T, 0)
    assert (stopped / bound).max() < 0.55
