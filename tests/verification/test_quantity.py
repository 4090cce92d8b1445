"""Sums of quantities: weights that turn a distance into an excess count it twice, exactly and on paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds import InputError, Quantity
from suffice.simulate import Local
from suffice.simulate.quadratic_forms import QuadraticForm
from suffice.verification import check, families
from suffice.verification.check import record
from suffice.verification.problem_measure import measured_family
from suffice.verification.quantity import Composed, form_of, quantity_of
from suffice.verification.sampled_check import path_measures

CURVED = {"excess": 1.0, "last_distance": lambda *, mu: mu / 2}
FAMILY = families.quadratics(features=1, longest=20)


class Bold(Local):
    """Local, followed on paths."""

    linear = False


def steps(*, eta, beta):
    return {"step": (eta, 1 / beta)}


def twice(*, eta, mu, beta, e0, sigma2, T):
    return 2 * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu))


def less(*, eta, mu, beta, e0, sigma2, T):
    return 1.5 * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu))


def bounded(quantity):
    return replace(record(twice), quantity=quantity_of(quantity))


def test_on_one_curvature_the_sum_is_twice_the_excess():
    """E[e_T] + (mu/2) E|theta_T - theta*|^2 = 2 E[e_T] in R^1."""
    found = {}
    for name, quantity in (("excess", "excess"), ("sum", CURVED)):
        found[name] = measured_family(FAMILY, bounded(quantity)).evidence(FAMILY.sharp()).measured
    # the same moments times mu/2 or h/2, which differ in the last bit
    np.testing.assert_allclose(found["sum"], 2 * found["excess"], rtol=1e-14)
    assert found["excess"].max() > 1
    assert bounded(CURVED).quantity.expression == "E[e_T] + c(mu) E|theta_T - theta*|^2"


def test_a_violation_is_evaluated_again():
    found = check(less, conditions=steps, quantity=CURVED, family=FAMILY).counterexample
    assert found is not None
    a = {name: float(value) for name, value in found["arguments"].items()}
    by_hand = (1 - a["eta"] * a["mu"]) ** (2 * a["T"]) * a["e0"]  # e = h x^2 / 2, noise of variance sigma2 a step
    shrinks = (1 - a["eta"] * a["mu"]) ** 2
    by_hand += a["mu"] / 2 * a["eta"] ** 2 * a["sigma2"] * sum(shrinks**t for t in range(int(a["T"])))
    assert float(found["measured"]) == pytest.approx(2 * by_hand, rel=1e-12)


def test_paths_are_weighted_one_by_one():
    drawn = {"curvature": np.full((2, 1, 1), 2.0), "sigma2": np.array([0.0, 1.0]), "far": np.ones(2),
             "direction": np.ones((2, 1)), "step": np.full(2, 0.1), "T": np.array([3.0, 5.0])}  # fmt: skip
    found = {}
    for name, quantity in (("excess", "excess"), ("sum", CURVED)):
        theorem = bounded(quantity)
        [measure], reason = path_measures(theorem, Bold(), FAMILY, 0, effort="quick", root=0, delta=None)
        assert reason == ""
        found[name] = measure.family(theorem).evidence(drawn).measured
    np.testing.assert_allclose(found["sum"], 2 * found["excess"], rtol=1e-12)
    assert found["excess"].min() > 0


def test_a_name_alone_is_the_quantity_itself():
    assert quantity_of("mean excess") is Quantity.MEAN_EXCESS
    total = quantity_of({"mean_excess": 2})
    assert isinstance(total, Composed)
    assert total.expression.startswith("2 ")
    [(form, weight)] = form_of(record(twice)).parts
    assert (form, weight) == (QuadraticForm(of="excess"), 1.0)


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        ({}, r"^quantity = \{\}: give a quantity by name, or weights by name"),
        ({"exces": 1.0}, r"^quantity = 'exces': did you mean excess\? use excess, "),
        ({"excess": -1.0}, r"^quantity\['excess'\] = -1"),
        ({"excess": "much"}, r"^quantity\['excess'\] = 'much'"),
        ({"excess": 1.0, "last_gradient": lambda *, kappa: kappa}, r"^parameter = 'kappa': the family gives mu, "),
        ({"excess": lambda *, mu: -mu}, r"^quantity\['excess'\] = -.*: give a weight that is finite and not negative"),
    ],
    ids=["none", "unknown", "negative", "word", "parameter", "negative function"],
)
def test_bad_sums_are_named(quantity, message):
    with pytest.raises(InputError, match=message):
        check(twice, quantity=quantity, family=FAMILY)
