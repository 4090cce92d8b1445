"""Mutants have ids that say which kind of change is where; their words are cut off, and may read alike."""

from __future__ import annotations

import math

import pytest

from suffice.bounds import THEOREMS, find
from suffice.verification.mutants import mutants, numeric_mutants

EVALUABLE = [theorem for theorem in THEOREMS if theorem.bound is not None]


def ids(theorem, make=mutants):
    return [mutant.id for mutant in make(theorem, worst_ratio=1.0)]


@pytest.mark.parametrize("make", [mutants, numeric_mutants], ids=["terms", "keywords"])
def test_no_two_mutants_of_a_bound_have_one_id(make):
    for theorem in EVALUABLE[:: 1 if make is numeric_mutants else 8]:
        made = ids(theorem, make)
        assert len(set(made)) == len(made), theorem.key


def test_an_id_says_what_was_changed_and_where():
    """e_0 ((1 - (1 - eta mu)^n) / (n eta mu))^2 + sigma^2 T / (2 mu n^2), n = T + 1."""
    at = {"eta": 0.5, "mu": 0.4, "e0": 2.0, "sigma2": 3.0, "T": 4.0}
    start, noise = (1 - 0.8**5) / (5 * 0.2), 3 * 4 / (2 * 0.4 * 25)
    shifted = 2 * ((1 - 0.8**6) / (6 * 0.2)) ** 2 + 3 * 5 / (2 * 0.4 * 36)
    made = {mutant.id: mutant for mutant in mutants(find("averaged-sgd/theorem-1-finite"), worst_ratio=0.5)}
    expected = {
        "term /0 dropped": noise,
        "term /1 dropped": 2 * start**2,
        "square /0/0 forgotten": 2 * start + noise,
        "term /1 moved": 2 * start**2 + 0.95 * noise,
        "T shifted by +1": shifted,
        "whole bound scaled": 0.25 * (2 * start**2 + noise),
    }
    for name, value in expected.items():
        assert math.isclose(made[name].value(**at), value, rel_tol=1e-12), name
    assert made["term /1 dropped"].change.startswith("(T*sigma2)/(((2*mu)*(T + 1)**2)) dropped from e0*")
    assert made["T shifted by +1"].change == "T shifted by +1"
    assert made["whole bound scaled"].change == "whole bound times 0.25"


def test_an_id_does_not_depend_on_the_ratio_seen():
    theorem = find("adaptive/theorem-2-constant")
    assert [mutant.id for mutant in mutants(theorem, worst_ratio=0.3)] == ids(theorem)
