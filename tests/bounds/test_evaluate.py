"""Bounds stay on their side of the truth where floats cancel or errors add up; wrong input is one clear error."""

from __future__ import annotations

import time
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import suffice as sf
from suffice.bounds import find
from suffice.bounds.theorems.adaptive import recursion
from suffice.support.numbers import as_numbers


def test_similarity_is_never_above_the_truth_where_it_cancels():
    rng = np.random.default_rng(5)
    theorem = find("adaptive/lemma-2")
    for _ in range(500):
        c, mu, eps = rng.uniform(0, 0.99), np.exp(rng.normal()), np.exp(rng.normal())
        b = np.sqrt((1 - c) * 2 * mu * eps) * (1 - 10.0 ** rng.uniform(-16, -3))
        values = {"b": float(b), "c": float(c), "mu": float(mu), "eps": float(eps)}
        assert sf.evaluate(theorem, **values) <= sf.digits(theorem, **values)


@pytest.mark.parametrize("mu", [3e-12, 1e-11, 3e-11, 1e-3])
def test_the_decreasing_schedule_stays_above_its_recursion_over_a_long_horizon(mu):
    T, s2 = 100_000, 1e-30
    alone = sf.bounds.GradientDissimilarity(b2=[[0.0]], c=[[0.0]])
    clients = sf.bounds.Constants(mu=mu, beta=1.0, sigma2=s2, excess=1.0, heterogeneity=alone)
    row = sf.plan(clients, 1e-3, horizon=T).rows[0]
    decreasing = row.schedules.decreasing
    with localcontext(prec=40):
        level, exact_mu, half = Decimal(1), Decimal(mu), Decimal(s2) / 2
        for step in map(Decimal, (2 / (mu * (np.arange(1, T + 1) + decreasing["gamma"]))).tolist()):
            level = (1 - step * exact_mu) * level + step * step * half
        assert level <= Decimal(float(decreasing["bound"])) <= level * (1 + Decimal("1e-9"))


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ({"mu": 0.5, "eta": 0.5, "q": 0.25}, "use eta <= 0.25"),
        ({"mu": 1.5}, "use mu <= 1"),
        ({"eta": 1 + 1e-9}, "use eta <= 1"),
    ],
)
def test_the_remedy_names_the_number_that_fails(change, remedy):
    values = {"eta": 0.5, "mu": 0.5, "beta": 1.0, "q": 1.0, "e0": 1.0, "s2": 1.0, "T": 3} | change
    with pytest.raises(sf.ConditionError) as caught:
        sf.evaluate(find("adaptive/theorem-2-constant"), **values)
    assert str(caught.value).endswith(remedy)
    left, right = str(caught.value).split("(")[-1].split(")")[0].split(" > ")
    assert left != right


def test_a_remedy_that_is_copied_meets_the_condition():
    rng = np.random.default_rng(12)
    for beta in rng.uniform(1, 9, 100):  # six digits of 1 / beta round up in half of them
        values = {"eta": 1.0, "mu": 0.5, "beta": beta, "q": 1.0, "e0": 1.0, "s2": 1.0, "T": 3}
        theorem = find("adaptive/theorem-2-constant")
        with pytest.raises(sf.ConditionError) as caught:
            sf.evaluate(theorem, **values)
        limit = float(str(caught.value).rpartition("use eta <= ")[2])
        np.testing.assert_allclose(limit, 1 / beta, rtol=1e-5)
        sf.evaluate(theorem, **values | {"eta": limit})
    for mu in rng.uniform(1, 9, 100):
        values = {"mu": mu, "e0": 1.0, "sigma2": 1.0, "signal2": 0.1, "ball": 3.0, "T": 1}
        theorem = find("sample-optimal/theorem-1-excess")
        with pytest.raises(sf.ConditionError) as caught:
            sf.evaluate(theorem, **values)
        sf.evaluate(theorem, **values | {"signal2": float(str(caught.value).rpartition("use signal2 >= ")[2])})


def test_lists_are_as_good_as_arrays():
    theorem = find("adaptive/property-1")
    both = sf.evaluate(theorem, shift=[1, 2], distortion=0.5, gradient=1.0)
    np.testing.assert_array_equal(both, [sf.evaluate(theorem, shift=s, distortion=0.5, gradient=1.0) for s in (1, 2)])
    assert sf.GradientDissimilarity(b2=[[0, 1], [1, 0]], c=[[0, 0], [0, 0]]).entry_level(0.5)[0, 1] == 2


def test_nothing_is_promised_at_a_level_that_underflowed():
    certificate = sf.QuadraticCertificate(
        A=np.stack((np.eye(2), np.diag([1.05, 0.9]))), xi=np.array([[0.0, 0.0], [0.3, 0.1]])
    )
    np.testing.assert_array_equal(certificate.similarity(np.zeros(2)), np.eye(2))


def test_the_closed_form_of_a_constant_step_is_its_recursion_for_several_clients():
    eta, e0 = np.array([0.1, 0.3, 0.9]), np.array([1.0, 2, 3])
    given = {"mu": 0.7, "beta": 1.1, "s2": 0.6}
    levels = recursion(eta=np.tile(eta, (50, 1)), e0=e0, **given)
    closed = sf.evaluate("adaptive/theorem-2-constant", eta=eta, q=1.0, e0=e0, T=np.arange(51)[:, None], **given)
    np.testing.assert_allclose(levels, closed, rtol=1e-11)  # the closed form is rounded outward by 4.5e-13
    np.testing.assert_array_equal(levels[0], e0)


@pytest.mark.parametrize("value", [1e61, 1e300, float("inf"), float("nan"), mpmath.mpf("1e1000000"), 1e-61])
def test_digits_refuses_the_sizes_that_evaluate_refuses(value):
    """Beyond 1e60 they took minutes, since as many places as a number is long are carried along."""
    theorem = find("adaptive/theorem-2-constant")
    values = {parameter.name: 0.1 for parameter in theorem.parameters} | {"T": 10}
    assert sf.evaluate(theorem, **values) >= float(sf.digits(theorem, **values))
    began = time.monotonic()
    for name in values:
        if sf.PARAMETERS[name].open_lower or not value < 1:
            for call in (sf.evaluate, sf.digits):
                with pytest.raises(sf.InputError, match=name):
                    call(theorem, **values | {name: value})
    with pytest.raises(sf.InputError, match=r"e0 = .*: give 0, or a number of at least 1e-308"):
        sf.digits(theorem, **values | {"e0": mpmath.mpf("1e-1000000")})
    assert time.monotonic() - began < 5


def test_the_least_number_that_a_refusal_names_is_taken():
    """1 / 1e60 is a rounding above 1e-60."""
    sf.PARAMETERS["p"].check(1e-60)
    assert as_numbers("x", [1e-60], ("n",), positive=True).item() == 1e-60
    for call in (sf.PARAMETERS["p"].check, lambda x: as_numbers("x", [x], ("n",), positive=True)):
        with pytest.raises(sf.InputError, match=r"1e-60"):
            call(np.nextafter(1e-60, 0))


@pytest.mark.parametrize("wrong", [None, [1.0, None], "0.5", True, [2**70, True], 1j, [[1.0], [1.0, 2.0]]])
def test_what_is_no_number_is_refused_also_among_objects(wrong):
    with pytest.raises(sf.InputError, match=r"^b = .*: give real numbers"):
        sf.evaluate("adaptive/lemma-2", b=wrong, c=0.0, mu=1.0, eps=1.0)
    assert sf.evaluate("adaptive/lemma-2", b=Fraction(1, 2), c=0.0, mu=1.0, eps=1.0) == sf.evaluate(
        "adaptive/lemma-2", b=0.5, c=0.0, mu=1.0, eps=1.0
    )
