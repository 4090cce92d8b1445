"""Bounds with T that solve an affine recursion: start and induction step for every T, and what is slightly else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import sympy

from suffice.bounds import THEOREMS, ConditionError, InputError, evaluate, find
from suffice.bounds.saved_verdicts import saved_proof
from suffice.verification.all_certificates import PROVED, proof_of
from suffice.verification.closed_form import ClosedForm, closed_form
from suffice.verification.recheck import refusal

WITH_T = [record for record in THEOREMS if record.guarantee and "T" in record.bound_keywords]
FORMS = [record.key for record in WITH_T if "closed form for all T" in saved_proof(record)]
RIGHT = [""] * 2


@cache
def form_of(key: str) -> ClosedForm:
    form = closed_form(find(key))
    assert isinstance(form, ClosedForm)
    return form


OFF = sympy.Rational(101, 100)


def test_every_bound_with_T_has_a_closed_form_or_a_reason():
    """The texts are kept, and the test of generated pages computes them."""
    reasons = (
        "the bound has no power of T",
        "the bound has powers of T that differ",
        "the power is not that of a constant to a multiple of T",
        "T stands outside a power",
    )
    others = [record for record in WITH_T if record.key not in FORMS]
    assert len(FORMS) >= 27
    assert [record.key for record in others if not any(why in saved_proof(record) for why in reasons)] == []
    assert closed_form(find("worst-case/noise-floor")) == "the bound has powers of T that differ"


def at_point(expression, point) -> Fraction:
    return Fraction(expression.subs({s: sympy.Rational(point[s.name]) for s in expression.free_symbols}))


@pytest.mark.share(3)
@pytest.mark.parametrize("key", FORMS)
def test_start_and_induction_step_are_proved_and_what_is_one_percent_off_is_not(key):
    form = form_of(key)
    assert [refusal(one) for one in form.certificates()] == RIGHT
    wrong = [
        replace(form, start=form.start * OFF),
        replace(form, bound=form.bound / OFF),
        replace(form, bound=form.bound * sympy.Symbol("z", real=True)),  # an exponent off
    ]
    if form.add != 0:
        wrong += [replace(form, add=form.add * OFF), replace(form, rho=form.rho * OFF)]
    for one in wrong:
        assert "right - left is not the sum of the terms" in [refusal(each) for each in one.certificates()]


@pytest.mark.share(3)
@pytest.mark.parametrize("key", FORMS)
def test_the_recursion_iterated_in_fractions_gives_the_record_s_own_numbers(key):
    """The second route: the record at T = 0..5 against the recursion that was read off, from a point of the domain."""
    form, record = form_of(key), find(key)
    point = {name: Fraction(text) for name, text in form.certificates()[0]["proof"]["point"].items()}
    point |= {name: Fraction(text) for name, text in form.certificates()[1]["proof"]["point"].items()}
    if any("constant_" in name for name in point):  # a maximum, named: its value is not a number of the record's own
        return
    names = record.bound_keywords
    at = {name: point.get(name, Fraction(1)) for name in names if name != "T"}
    level = at_point(form.start, at)
    for T in range(6):
        bound = record.bound(**at, T=T)
        assert abs(float(bound) - float(level)) <= 1e-12 * abs(float(level))
        level = at_point(form.rho, at) * level + at_point(form.add, at)


def test_what_a_page_says_of_a_proof():
    said = saved_proof(find("adaptive/theorem-2-constant"))
    assert said == proof_of(find("adaptive/theorem-2-constant"))
    assert said.startswith("steps 1 of 1, closed form for all T, ")
    assert "the bound has no power of T" in saved_proof(find("adaptive/theorem-3"))
    assert saved_proof(find("adaptive/theorem-2-constant", "printed")) == ""
    assert set(PROVED) <= {record.key for record in THEOREMS}


def test_a_row_whose_bound_is_wrong_is_not_said_to_be_proved(monkeypatch):
    record = find("adaptive/theorem-2-constant")
    wrong = replace(closed_form(record), add=sympy.Integer(0))
    monkeypatch.setattr("suffice.verification.all_certificates.closed_form", lambda record: wrong)
    assert "closed form for all T" not in proof_of(record)


@pytest.mark.share(6)
@pytest.mark.parametrize("key", FORMS)
def test_the_conditions_of_the_theorem_give_the_hypothesis_that_the_factor_is_not_negative(key):
    """At no hundred points of the domain, or all of a thousand draws, is rho < 0, which the induction step forbids."""
    form, record, rng, met = form_of(key), find(key), np.random.default_rng(0), 0
    if "constant_" in str(form.rho):  # a maximum, named: it has no value
        return
    for _ in range(1000):
        at = {parameter.name: Fraction(10 ** rng.uniform(-3, 1)) for parameter in record.parameters}
        at |= {name: Fraction(int(rng.integers(1, 9))) for name in ("T", "d", "batch", "size") if name in at}
        conditions = record.conditions(**{name: float(at[name]) for name in record.condition_keywords})
        try:
            evaluate(record, **{name: int(x) if x.denominator == 1 else float(x) for name, x in at.items()})
        except (InputError, ConditionError):
            continue
        met += 1
        assert all(left <= right for left, right in conditions.values())
        assert at_point(form.rho, at) >= 0
        if met == 100:
            break
    assert met >= 20
