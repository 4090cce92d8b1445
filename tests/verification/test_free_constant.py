"""Bounds of order O(.): the least constant that is needed, which is known here, and whether it grows."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest

from suffice.bounds import InputError
from suffice.verification import Outcome, check
from suffice.verification.families import quadratics

pytestmark = pytest.mark.usefixtures("brief")


ONE = quadratics(features=2, longest=60)


def step(*, eta, beta, most=1):
    return {"step": (eta, most / beta)}


def noise(*, eta, mu, beta, e0, sigma2, T, C):
    """eta beta sigma2 / (2 mu), attained where mu = beta = 1/eta."""
    return (1 - eta * mu) ** (2 * T) * e0 + C * eta * beta * sigma2 / mu


def by_clients(*, eta, mu, beta, e0, sigma2, T, N, C):
    """As if clients that train alone averaged their noise."""
    return (1 - eta * mu) ** (2 * T) * e0 + C * eta * beta * sigma2 / (mu * N)


def by_condition(*, eta, mu, e0, sigma2, T, C):
    return (1 - eta * mu) ** (2 * T) * e0 + C * eta**2 * sigma2 * mu * T


def too_fast(*, eta, distance2, T, sigma2, C):
    return C * (distance2 / (eta * T**2) + eta * sigma2)


def test_the_least_constant_is_found_and_stands():
    found = check(noise, conditions=step, free="C", family=ONE)
    assert found.valid
    assert found.constant == pytest.approx(0.5, rel=1e-4)
    assert "it does not grow with kappa, N or T" in found.tried
    for C, stands in ((0.5 + 1e-6, True), (0.5 - 1e-4, False)):
        assert check(partial(noise, C=C), conditions=step, family=ONE).valid == stands


@pytest.mark.parametrize(
    ("bound", "quantity", "grows"),
    [(by_clients, "excess", "N"), (by_condition, "excess", "kappa"), (too_fast, "random_iterate_excess", "T")],
)
def test_a_false_order_is_told_by_what_its_constant_grows_with(bound, quantity, grows):
    found = check(bound, conditions=step, quantity=quantity, free="C", family=None if grows == "N" else ONE)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert f"{grows} (at its smaller half" in found.reason


def test_a_keyword_with_a_value_of_its_own_is_a_constant():
    """By default argument, by partial and as a fraction; what the family gives is the family's."""

    def bound(*, eta, mu, e0, sigma2, T, beta, share=Fraction(1, 2), sigma=3.0):
        return (1 - eta * mu) ** (2 * T) * e0 + share * eta * beta * sigma2 / mu * sigma / 3

    whole = check(bound, conditions=step, family=ONE)
    assert whole.outcome is Outcome.HOLDS  # its variants were read from a formula
    assert check(partial(bound, share=Fraction(1, 3)), conditions=step, family=ONE).outcome is Outcome.VIOLATED

    def given(*, e0=-1.0, sigma2=-1.0):
        return 1e9 * (e0 + sigma2 + 1) if e0 >= 0 and sigma2 >= 0 else -1.0

    assert check(given, conditions=lambda *, eta, beta: {"step": (eta, 1 / beta)}, family=ONE).valid


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "^free = 'C': no constant makes the bound hold"),
        ({"free": "c"}, "^free = 'c': the bound takes e0, C"),
        ({"free": "C", "direction": "lower"}, "^free = 'C': constants are found for upper bounds"),
        ({"free": "C", "quantity": "stopped_excess"}, "^free = 'C': constants are found for upper bounds of linear"),
    ],
)
def test_constants_that_cannot_be_found_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        check(lambda *, e0, C: 0 * C - 1, **{"free": "C", "family": ONE, **options})
