"""What one outcome or a name of the state's own must not change."""

from __future__ import annotations

import pytest

import suffice as sf
from suffice.verification.verdict import Outcome

pytestmark = pytest.mark.usefixtures("brief")


@pytest.mark.parametrize(("share", "outcome"), [(1 - 1e-3, Outcome.VIOLATED), (1 + 1e-3, Outcome.HOLDS)])
def test_participation_of_all_clients_is_no_coin(share, outcome):
    """Without noise nothing is random then, and the chance that the gradient is large is 0 or 1."""
    verdict = sf.check(
        lambda *, e0: share,
        conditions=lambda *, sigma2: {"no noise": (sigma2, 0.0)},
        quantity="gradient_still_running",
        algorithm=sf.algorithms.FedAvg(period=2, participants=3),
        family=sf.families.quadratics(clients=3, features=1, longest=4),
    )
    assert verdict.outcome is outcome


def test_a_mean_of_iterates_is_checked_where_the_algorithm_keeps_a_sum_of_its_own():
    verdict = sf.check(
        lambda *, eta, beta, e0: e0 / 100,
        conditions=lambda *, eta, beta: {"step": (eta * beta, 1.0)},
        quantity="mean_iterate_excess",
        algorithm=sf.algorithms.MinibatchSGD(period=2),
        family=sf.families.quadratics(clients=1, features=1, longest=4),
    )
    assert verdict.outcome is Outcome.VIOLATED
