"""Quantities in four words, and functions of the state: an excess that is counted twice, exactly and on paths."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from suffice.bounds import InputError, Quantity
from suffice.simulate.quadratic_forms import QuadraticForm
from suffice.verification import Outcome, check, families
from suffice.verification.check import record
from suffice.verification.quantity import form_of, quantity, quantity_of

pytestmark = pytest.mark.usefixtures("brief")


def curved(*, state, problem, mu):
    away = state["models"] - problem.optimum
    return (problem.excess(state["models"]) + mu / 2 * away.square().sum(-1))[:, 0]


CURVED = quantity(of=curved)
FAMILY = families.quadratics(features=1, longest=20)


def steps(*, eta, beta):
    return {"step": (eta, 1 / beta)}


def twice(*, eta, mu, beta, e0, sigma2, T):
    return 2 * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu))


def less(*, eta, mu, beta, e0, sigma2, T):
    return 1.5 * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu))


def test_a_violation_is_evaluated_again():
    found = check(less, conditions=steps, quantity=CURVED, family=FAMILY).counterexample
    assert found is not None
    a = {name: float(value) for name, value in found["arguments"].items()}
    by_hand = (1 - a["eta"] * a["mu"]) ** (2 * a["T"]) * a["e0"]  # e = h x^2 / 2, noise of variance sigma2 a step
    shrinks = (1 - a["eta"] * a["mu"]) ** 2
    by_hand += a["mu"] / 2 * a["eta"] ** 2 * a["sigma2"] * sum(shrinks**t for t in range(int(a["T"])))
    assert float(found["measured"]) == pytest.approx(2 * by_hand, rel=1e-12)


def test_a_name_alone_is_the_quantity_itself():
    assert quantity_of("mean excess") is Quantity.MEAN_EXCESS
    assert form_of(record(twice)).form == QuadraticForm(of="excess")


def test_a_sum_by_weights_is_refused():
    with pytest.raises(InputError, match="did you mean excess"):
        check(twice, quantity="exces", family=FAMILY)


@pytest.mark.slow
def test_what_is_no_quadratic_is_followed_on_paths():
    """E|theta_T - theta*|^4 without noise is its start's, contracted."""

    def fourth(state, best):
        return ((state["models"] - best) ** 2).sum((1, 2)) ** 2

    def quiet(*, eta, beta, sigma2):
        return {"step": (eta, 1 / beta), "quiet": (sigma2, 0)}

    for power, stands in ((4, True), (4.2, False)):
        verdict = check(
            lambda *, eta, mu, T, distance2, power=power: (1 - eta * mu) ** (power * T) * distance2**2,
            conditions=quiet, quantity=quantity(of=fourth), family=FAMILY,
        )  # fmt: skip
        assert verdict.valid == stands, str(verdict)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"of": "exces"}, r"^of = 'exces': did you mean excess\? use excess, distance, .* or a function"),
        ({"at": "mean modl"}, r"^at = 'mean modl': did you mean mean model\?"),
        ({"over": "averge"}, r"^over = 'averge': did you mean average\?"),
        ({"until": "tua"}, "^until = 'tua': .*use T, tau"),
        ({"of": np.eye(3)}, r"^of = .*: use excess, .* or a function of the state"),
        ({"of": "consensus", "at": "client"}, "^at = 'client': consensus and functions of the state are of all"),
        ({"of": "distance", "until": "tau"}, "^until = 'tau': tau is known of excess and gradient"),
        ({"over": ("sufix", 3)}, "^over = .*sufix.*: give \"last\""),
        ({"over": ("suffix", -1)}, "^T0 = -1: give a whole number"),
        ({"over": "mean iterate", "until": "tau"}, "^over = 'mean iterate': it is at the mean of the models until T"),
        ({"over": "time"}, "^over = 'time': use last, average, rounds, mean iterate"),
        ({"of": lambda state: state["models"]}, r"^of = '<lambda>': it returns \(\d+, 1, 2\): return one number"),
        ({"of": lambda state: state["h"].sum((1, 2))}, r"^of = '<lambda>': it fails on the state of local"),
        ({"of": lambda state: state["models"].sum((1, 2))}, "^of = '<lambda>': it is -.* never negative"),
        ({"of": lambda state, foo: state["models"].sum((1, 2))}, "^parameter = 'foo': the family gives mu, "),
        ({"over": lambda t, T: 1.0}, "^over = .*: its weights sum to 2 at T = 1: let them be >= 0 and sum to 1"),
        ({"over": ("suffix", 5)}, r"^over = .*: its weights are empty \(a suffix needs T0 <= T\) at T = 1"),
        ({"over": lambda t, T: t.foo}, "^over = '<lambda>': it fails "),
    ],
)  # fmt: skip
def test_words_that_say_nothing_are_named(words, message):
    with pytest.raises(InputError, match=message):
        check(lambda *, e0: e0, quantity=quantity(**words))


def test_a_product_with_a_name_is_that_quantity():
    assert quantity(of="gradient", at="clients", over="average") is Quantity.AVERAGE_CLIENT_GRADIENT
    assert quantity(over="time", until="tau") is Quantity.HITTING_TIME


def test_functions_of_a_quantity_take_the_letters_of_the_bound():
    """sum_t w_t E[e_t] with weights of gamma, and eta times a distance, both halved once."""

    def w(t, T, gamma, m):
        rising = (1 - gamma * m) ** -t
        return rising / rising.sum()

    def moved(*, state, problem, gamma):
        return gamma * (state["models"] - problem.optimum).square().sum((1, 2))

    letters, short = {"gamma": "eta", "m": "mu"}, families.quadratics(features=1, longest=5)
    quiet = {"conditions": lambda *, eta, beta, sigma2: {"step": (eta, 0.5 / beta), "quiet": (sigma2, 0)}}
    for of, bound in (
        ({"over": w}, lambda *, e0, m, c: c * e0 + 0 * m),
        ({"of": moved}, lambda *, gamma, distance2, c, m: c * gamma * distance2 + 0 * m),
    ):
        asked = {"quantity": quantity(**of), "names": letters, "family": short, **quiet}
        assert check(partial(bound, c=1.0), **asked).valid
        assert check(partial(bound, c=0.5), **asked).outcome is Outcome.VIOLATED
    given = {"quantity": quantity(over=w), "names": letters, "family": short, **quiet}
    with pytest.raises(InputError, match=r"^names = 'n': no function has this keyword"):
        check(lambda *, e0: e0, **{**given, "names": {"n": "N"}})
