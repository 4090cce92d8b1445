"""What is extreme between mu and beta is found there: at 1/eta, and at the other zeros of an algorithm's recursion."""

from __future__ import annotations

import pytest

from suffice.simulate.algorithms import Momentum
from suffice.verification import Outcome, check

pytestmark = pytest.mark.usefixtures("brief")


def below(limit):
    return lambda *, eta, beta: {f"eta <= {limit}/beta": (eta, limit / beta)}


# |1 - eta h| is least at h = beta as long as eta beta <= 1, and 0 at h = 1/eta beyond.
LOWER = {
    "excess": lambda *, eta, beta, e0, T: (1 - eta * beta) ** (2 * T) * e0,
    "last_distance": lambda *, eta, beta, distance2, T: (1 - eta * beta) ** (2 * T) * distance2,
    "last_gradient": lambda *, eta, mu, beta, e0, T: 2 * mu * (1 - eta * beta) ** (2 * T) * e0,
}


@pytest.mark.share(3)
@pytest.mark.parametrize("quantity", LOWER)
@pytest.mark.parametrize("limit", [1.02, *(pytest.param(limit, marks=pytest.mark.slow) for limit in (1.1, 1.2, 1.9))])
def test_a_lower_bound_that_knows_the_ends_alone_is_refuted(quantity, limit):
    verdict = check(LOWER[quantity], direction="lower", quantity=quantity, conditions=below(limit))
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)


# one quantity is searched for what is not there by users' effort, the others where it is slow
@pytest.mark.parametrize(
    "quantity", [name if name == "excess" else pytest.param(name, marks=pytest.mark.slow) for name in LOWER]
)
def test_the_same_bound_holds_up_to_one_over_beta(quantity):
    assert check(LOWER[quantity], direction="lower", quantity=quantity, conditions=below(1.0)).valid


@pytest.mark.share(2)
@pytest.mark.parametrize("q", [0.5, 0.9])
def test_momentum_forgets_the_start_elsewhere(q):
    """Two steps leave (1 + q - a)(1 - a) - q of the start, a = eta h: 0 at a = (2 + q - sqrt(q^2 + 4 q)) / 2 < 1."""

    def bound(*, eta, beta, e0, T):
        return (1e-3 * (1 - eta * beta) ** 2) ** T * e0

    verdict = check(bound, direction="lower", conditions=below(0.9), algorithm=Momentum(weight=q))
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
