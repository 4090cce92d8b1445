"""Proof steps are certified exactly, and wrong steps are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

from suffice.bounds import find
from suffice.verification.identities import IDENTITIES, Step, Vector, identities, vectors
from suffice.verification.identities.adaptive import lemma_1
from suffice.verification.identities.sample_optimal import fixed_weights_descent
from suffice.verification.identities.worst_case import contraction

every = pytest.mark.parametrize("identity", IDENTITIES, ids=lambda entry: f"{entry.key}: {entry.says}")


@every
def test_step_is_certified(identity):
    assert identity.step().certified()
    assert find(identity.key).guarantee


@every
def test_each_moved_coefficient_of_the_right_side_is_refused(identity):
    step = identity.step()
    terms = sympy.Add.make_args(sympy.expand(step.right))
    assert len(terms) >= 1
    for term in terms:
        assert not replace(step, right=step.right - term / 20).certified(), term


@every
def test_a_step_rests_on_each_of_its_hypotheses(identity):
    step = identity.step()
    if not step.terms:  # an equality needs none
        return
    assert not replace(step, terms=step.terms[1:]).certified()
    if any(fact in step.facts for _, fact in step.terms if not isinstance(fact, Vector)):
        assert not replace(step, facts=()).certified()
    if any(not sympy.sympify(multiplier).is_Rational for multiplier, _ in step.terms):
        assert not replace(step, atoms=()).certified()


def test_a_negative_multiplier_is_refused_even_where_the_identity_is_exact():
    (g,) = vectors("g")
    eta = sympy.Symbol("eta", real=True)
    step = Step(left=eta * (g @ g), right=sympy.Integer(0), terms=[(-eta, g)], atoms=[eta])
    assert not step.certified()
    assert replace(step, left=0, right=eta * (g @ g), terms=[(eta, g)]).certified()


def test_inner_products_are_bilinear_and_symmetric():
    rng = np.random.default_rng(0)
    u, v, w = vectors("u v w")
    numbers = {name: rng.normal(size=4) for name in "uvw"}
    gram = {
        sympy.Symbol(f"<{a}, {b}>", real=True): float(numbers[a] @ numbers[b])
        for a, b in ("uu", "uv", "uw", "vv", "vw", "ww")
    }
    left, right = 2 * u - 3 * v + w, v - w
    expected = (2 * numbers["u"] - 3 * numbers["v"] + numbers["w"]) @ (numbers["v"] - numbers["w"])
    np.testing.assert_allclose(float((left @ right).subs(gram)), expected, rtol=1e-12)
    assert sympy.expand(left @ right - right @ left) == 0


def test_lemma_1_beyond_the_step_limit_needs_what_is_no_longer_nonnegative():
    """At eta beta A = 1.1 the same difference is negative for some vectors: the atom is necessary."""
    step = lemma_1()
    values = {"eta": 1.1, "beta": 1.0, "V": 0.0, "e": 0.0, "a1": 0.4, "a2": 0.3, "a3": 0.3}
    difference = step.right - step.left
    alike = {s: 1.0 for s in difference.free_symbols if s.name.startswith("<")}  # all vectors equal, norm 1
    named = {s: values[s.name] for s in difference.free_symbols if s.name in values}
    assert float(difference.subs(alike | named)) < 0


def test_the_contraction_beyond_its_step_limit_is_false_for_a_quadratic_and_for_no_other_reason():
    """f = L x^2/2 at eta (L + m) = 2.2: it contracts by (1 - eta L)^2 > (1 - eta m)^2, and only `room` is negative."""
    step, L, m, eta = contraction(), 1.0, 0.1, 2.0
    room = 2 - eta * (L + m)
    assert room < 0 < 1 - eta * m
    e, d = L / 2, L * (1 - eta * L) ** 2 / 2
    values = {"eta": eta, "m": m, "L": L, "e": e, "d": d}
    at = {"x": 1.0, "g": L, "h": L * (1 - eta * L)}
    gram = {f"<{a}, {b}>": at[a] * at[b] for a in at for b in at}
    names = {s: {**values, **gram}[s.name] for s in (step.right - step.left).free_symbols}
    assert float((step.right - step.left).subs(names)) < 0
    facts = [float(fact.subs({s: {**values, **gram}[s.name] for s in fact.free_symbols})) for fact in step.facts]
    assert min(facts) >= -1e-12  # interpolated by a quadratic: equalities but for rounding


def test_steps_of_one_theorem_are_found_by_its_key():
    assert len(identities("scafflix/theorem-1")) == 3
    assert identities("sample-optimal/theorem-2")[0].step is fixed_weights_descent
    assert len(identities()) == len(IDENTITIES)
