"""Exact values that the page draws: they are those of the claims and errata, and bounds that hold lie beyond them."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import evaluate, find
from suffice.explorer.truth import Truth, _best, _followed, _with_figure, truths
from suffice.verification import Evidence, errata
from suffice.verification.claims import claim_of

ROUNDED = 1e-9
"""Curves have twelve digits; moments and quadratures are good to about as many."""
SOME = ("adaptive/theorem-2-constant", "adaptive/theorem-3", "averaged-sgd/theorem-1-finite", "cobo/selection-margin")


def assert_below(record, truth):
    """Every point of every curve obeys the bound, on its side, where the conditions hold."""
    for name, (x, y) in truth.curves.items():
        at = {**{other: np.full(len(x), value) for other, value in truth.at.items()}, name: np.array(x)}
        for left, right in record.conditions(**{other: at[other] for other in record.condition_keywords}).values():
            assert np.all(left <= right + ROUNDED * np.abs(right)), f"{record} along {name}"
        bound = evaluate(record, enforce=False, **at)
        least = np.array(y) if record.direction == "upper" else -np.array(y)
        limit = bound if record.direction == "upper" else -bound
        assert (least <= limit + ROUNDED * np.abs(bound)).all(), f"{record} along {name}"


@pytest.mark.parametrize("key", SOME)
def test_instances_are_tight_and_obey_the_bound(key):
    record = find(key)
    truth = _best(claim_of(key))
    assert_below(record, truth)
    assert truth.curves
    assert truth.value / evaluate(record, **truth.at) > 0.5


def test_the_counterexample_to_theorem_2_is_that_of_its_erratum():
    (entry,) = errata("adaptive-theorem-2-expectation")
    found = entry.compute()
    truth = _with_figure(_best(claim_of("adaptive/theorem-2-constant", "printed")))
    record = find("adaptive/theorem-2-constant", "printed")
    assert truth.at["T"] == 2
    np.testing.assert_allclose(truth.value, found.measured, rtol=1e-9)
    np.testing.assert_allclose(evaluate(record, **truth.at), found.printed, rtol=1e-12)
    x, y = truth.curves["T"]
    np.testing.assert_allclose(y[x.index(2.0)], found.measured, rtol=1e-9)  # by quadrature over one and over all steps
    assert (np.array(y[1:]) > 20 * evaluate(record, **{**truth.at, "T": np.array(x[1:])})).all()


def test_a_curve_is_of_one_argument_alone():
    record = find("adaptive/theorem-2-constant-running")
    one = {"eta": 0.5, "mu": 0.5, "beta": 1.0, "e0": 1.0, "s2": 0.1, "T": 3.0, "eps": 0.1, "q": 1.0}
    many = {name: np.full(12, value) for name, value in one.items()}
    many["e0"] = np.array([1, 2, 3, 4, 1, 2, 3, 4, 1, 1, 1, 1.0])
    many["T"] = np.array([3, 3, 3, 3, 3, 4, 5, 6, 3, 4, 5, 6.0])
    many["eta"] = np.where(many["T"] == 6, 2.0, 0.5)  # beyond the limit q/beta
    found = Evidence(engine="made up", measured=0.01 * np.arange(1, 13), arguments=many)
    truth = Truth(at=one, value=0.01, words="")
    curves = _followed(record, found, truth, [np.arange(4), np.arange(4, 8), np.arange(8, 12)])
    assert curves == {"e0": ([1, 2, 3, 4], [0.01, 0.02, 0.03, 0.04]), "T": ([3, 4, 5], [0.09, 0.1, 0.11])}


@pytest.mark.slow
def test_no_exact_value_is_beyond_a_bound_that_holds():
    found = truths()
    assert len(found) > 180
    for (key, edition), truth in found.items():
        if edition == "corrected":
            assert_below(find(key), truth)
