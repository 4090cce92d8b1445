"""What `check` measures beside the excess: other quantities that second moments determine, lower bounds."""

from __future__ import annotations

import pytest

from suffice.bounds import InputError
from suffice.bounds.elementary import survive
from suffice.verification import Outcome, check
from suffice.verification.families import quadratics


def right(*, eta, mu, e0, sigma2, T):
    return survive(eta * mu, 2 * T) * e0 + eta * sigma2 / 2


def within(*, eta, beta):
    return {"step": (eta, 1 / beta)}


def test_bounds_of_other_quantities_are_judged():
    """SGD on strongly convex quadratics: each true bound is valid, each with a constant too small is violated."""
    line = quadratics(features=1, longest=20)
    one = quadratics(features=2, longest=20)
    cases = (
        ("last_distance", lambda *, eta, mu, e0, sigma2, T: 2 / mu * (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / mu,
         lambda *, eta, mu, e0, sigma2, T: 1 / mu * (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / mu, one),
        # the descent lemma, summed over t < T: (eta/2) sum |grad|^2 <= e0 + T beta eta^2 sigma2/2
        ("average_gradient", lambda *, eta, beta, e0, sigma2, T: 2 * e0 / (eta * T) + eta * beta * sigma2,
         lambda *, eta, beta, e0, sigma2, T: 2 * e0 / (eta * T**2) + eta * beta * sigma2, one),
        ("mean_iterate_excess", lambda *, e0, sigma2, T, mu: e0 + sigma2 * T / (2 * mu * (T + 1) ** 2),
         lambda *, e0, sigma2, T, mu: e0 + sigma2 / (2 * mu * (T + 1) ** 2), line),
    )  # fmt: skip
    for quantity, true, wrong, family in cases:
        verdict = check(true, conditions=within, quantity=quantity, family=family)
        assert verdict.valid, str(verdict)
        verdict = check(wrong, conditions=within, quantity=quantity, family=family)
        assert verdict.outcome is Outcome.VIOLATED, str(verdict)
        assert verdict.counterexample is not None
        assert verdict.counterexample["margin"] > 0


def test_lower_bounds_are_judged():
    """On a quadratic of curvatures up to beta at eta <= 1/beta no direction contracts faster than 1 - eta beta."""
    given = {"conditions": within, "direction": "lower", "family": quadratics(features=2, longest=20)}
    verdict = check(lambda *, eta, beta, e0, T: (1 - eta * beta) ** (2 * T) * e0, **given)
    assert verdict.valid, str(verdict)
    wrong = check(lambda *, eta, mu, e0, T: (1 - eta * mu) ** (2 * T) * e0, **given)
    assert wrong.outcome is Outcome.VIOLATED
    assert wrong.counterexample is not None
    assert wrong.counterexample["measured"] < wrong.counterexample["bound"]


def test_quantities_and_directions_that_are_none_are_named():
    with pytest.raises(
        InputError, match=r"^quantity = 'samples': exact moments give excess, last_distance, last_gradient"
    ):
        check(right, quantity="samples")
    with pytest.raises(InputError, match=r"^direction = 'sideways': use upper or lower"):
        check(right, direction="sideways")
