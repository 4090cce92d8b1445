"""The rounding of a bound or of what is measured refutes no bound, and a bound that is false is refuted."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from suffice.verification import Outcome, check
from suffice.verification.check import record
from suffice.verification.families import quadratics
from suffice.verification.problem_measure import stated
from suffice.verification.rounding_violations import at_digits

pytestmark = pytest.mark.usefixtures("brief")

BRIEF = quadratics(longest=300)


def below(limit):
    return lambda *, eta, beta: {f"eta <= {limit}/beta": (eta, limit / beta)}


# The mean of (1 - eta mu)^(2t) over t < T, and t eta^2 beta sigma2 / 2 at most of noise at each t.
def averaged(*, eta, mu, beta, e0, sigma2, T):
    return e0 * (1 - (1 - eta * mu) ** (2 * T)) / (T * eta * mu * (2 - eta * mu)) + (T - 1) * eta**2 * beta * sigma2 / 4


# T steps keep (1 - eta mu)^(2T) of the start, and a sum over t < T of these powers of eta^2 beta sigma2 / 2.
def last(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta**2 * sigma2 * beta / 2 * (1 - np.exp(2 * T * np.log(1 - eta * mu))) / (
        1 - (1 - eta * mu) ** 2
    )


# The same, but for 1 - (1 - x)^2 = x (2 - x), as a careful author writes it.
def careful(*, eta, mu, beta, e0, sigma2, T):
    kept = 2 * T * np.log1p(-eta * mu)
    return np.exp(kept) * e0 - np.expm1(kept) * eta * sigma2 * beta / (2 * mu * (2 - eta * mu))


# It gives no formula, and passes mpmath's numbers on in part.
def of_floats(*, eta, mu, beta, e0, sigma2, T):
    x, noise = float(eta * mu), float(eta) ** 2 * float(beta) * float(sigma2) / 2
    return (1 - x) ** (2 * T) * float(e0) + noise * (1 - (1 - x) ** (2 * T)) / (1 - (1 - x) ** 2)


# (K + y)^2 - K^2 - y^2 = 2 K y: of y = (1 - eta mu)^(2T) e0 hardly a digit is left.
def large(*, eta, mu, beta, e0, sigma2, T):
    y = (1 - eta * mu) ** (2 * T) * e0
    return ((1e6 + y) ** 2 - 1e12 - y**2) / 2e6 + eta * sigma2 * beta / (2 * mu)


LIMITS = (0.9, pytest.param(0.0005, marks=pytest.mark.slow), 1e-6)  # the middle one loses less than the last


@pytest.mark.share(3)
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("bound", [averaged, last, careful, of_floats, large], ids=lambda each: each.__name__)
def test_a_true_bound_is_not_refuted_by_rounding(bound, limit):
    quantity = "random_iterate_excess" if bound is averaged else "excess"
    verdict = check(bound, conditions=below(limit), quantity=quantity, family=BRIEF)
    assert verdict.valid, str(verdict)


@pytest.mark.share(2)
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("bound", [averaged, last, of_floats], ids=lambda each: each.__name__)
def test_the_same_bound_a_little_smaller_is_refuted(bound, limit):
    def smaller(*, eta, mu, beta, e0, sigma2, T):
        return 0.999 * bound(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2, T=T)

    quantity = "random_iterate_excess" if bound is averaged else "excess"
    verdict = check(smaller, conditions=below(limit), quantity=quantity, family=BRIEF)
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
    found = verdict.counterexample
    assert found is not None
    assert found["measured"] > found["bound"] * (1 + 1e-4)


def test_no_more_is_allowed_than_float64_loses():
    """1 - (1 - x)^n of a small x loses 2^-53 / x of itself, twice here: the allowance is some times that."""
    x = np.array([1e-8, 1e-6, 1e-4, 1e-2, 0.5])
    arguments = {name: np.ones(5) for name in ("beta", "e0", "sigma2", "distance2")}
    arguments |= {"eta": np.full(5, 0.5), "mu": 2 * x, "T": np.full(5, 3.0)}
    theorem = record(last)
    _, allowed = stated(theorem, arguments)
    bound = theorem.bound(**{name: arguments[name] for name in theorem.bound_keywords})
    rows = [{name: float(value[at]) for name, value in arguments.items()} for at in range(5)]
    truth = np.array([float(at_digits(theorem, row)[0]) for row in rows])
    assert (np.abs(bound - truth) <= allowed + 1e-15 * truth).all()
    assert (allowed <= 100 * 2.0**-53 / x * truth).all()


def test_all_digits_of_a_bound_reach_the_counterexample():
    arguments = {"eta": 0.3, "mu": 0.7, "beta": 1.1, "e0": 0.9, "sigma2": 0.2, "T": 3.0}
    value, good = at_digits(record(last), arguments)
    assert good == 50
    with mpmath.workdps(60):
        eta, mu, beta, e0, sigma2 = (mpmath.mpf(arguments[name]) for name in ("eta", "mu", "beta", "e0", "sigma2"))
        x = 1 - eta * mu
        right = x**6 * e0 + eta**2 * sigma2 * beta / 2 * (1 + x**2 + x**4)
        assert abs(value / right - 1) < mpmath.mpf(10) ** -49  # one rounding at 50 digits


def test_a_function_that_makes_floats_of_digits_has_fifteen_of_them():
    arguments = {"eta": 0.3, "mu": 0.7, "beta": 1.1, "e0": 0.9, "sigma2": 0.2, "T": 3.0}
    assert at_digits(record(of_floats), arguments)[1] == 15


def test_a_number_that_rounding_makes_none_is_no_violation():
    """x / (1 - (1 - x)) is 1, and in float64 infinite for x below 1e-16, so that 0 times it is no number."""

    def bound(*, eta, mu, e0, beta, sigma2):
        x = eta * mu
        return e0 * (x / (1 - (1 - x))) + eta * sigma2 * beta / mu

    verdict = check(bound, conditions=below(1e-7), family=BRIEF)
    assert verdict.valid, str(verdict)
    undefined = check(lambda *, eta, mu, e0: e0 * ((eta - eta) / (mu - mu)), conditions=below(1e-7), family=BRIEF)
    assert undefined.outcome is Outcome.VIOLATED
    assert undefined.evidence.undefined == undefined.instances
