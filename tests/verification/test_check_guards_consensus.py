"""A bound that nothing could refute is not called valid."""

from __future__ import annotations

import pytest

from suffice.simulate.algorithms import FedAMP
from suffice.verification import Outcome, check
from suffice.verification.families import quadratics

pytestmark = pytest.mark.usefixtures("brief")


@pytest.mark.share(2)
@pytest.mark.parametrize("size", [1e-9, 1.0])
def test_nothing_is_concluded_where_nothing_is_measured(size):
    def no_noise(*, sigma2, eta, beta):
        return {"sigma2 = 0": (sigma2, 0 * sigma2), "eta <= 1/beta": (eta, 1 / beta)}

    verdict = check(
        lambda *, T: size + 0 * T, conditions=no_noise, quantity="last_consensus", algorithm=FedAMP(),
        family=quadratics(clients=2, features=1, identical=True, longest=5),
    )  # fmt: skip
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no positive bound of it could fail" in str(verdict)
    assert verdict.tried
