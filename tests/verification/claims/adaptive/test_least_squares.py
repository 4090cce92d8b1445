"""Equalities are refuted from above too."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from suffice.verification import Outcome
from suffice.verification.claims.adaptive import least_squares

CLAIMS = {claim.theorem.key: claim for claim in least_squares.claims()}


@pytest.mark.parametrize("name", ["least-squares-rate", "least-squares-variance"])
def test_a_bound_that_is_larger_than_an_equality_is_violated(name):
    claim = CLAIMS[f"adaptive/{name}"]
    honest = claim.theorem.bound

    @functools.wraps(honest)
    def larger(**arguments):
        return 1.01 * honest(**arguments)

    assert replace(claim, theorem=replace(claim.theorem, bound=larger)).verify().outcome is Outcome.VIOLATED
