"""Exact values that the page draws: they are those of the claims and errata, and bounds that hold lie beyond them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds import PARAMETERS, THEOREMS, evaluate, find
from suffice.explorer import exact_values as module
from suffice.explorer.exact_values import erratum, exact_values, measured, middle
from suffice.explorer.measured_instances import Truth, _followed, truths
from suffice.verification import Evidence
from suffice.verification.claims import claim_of
from suffice.verification.errata import ERRATA

ROUNDED = 1e-9
"""Values have ten digits; moments and quadratures are good to about as many."""
SOME = ("adaptive/theorem-2-constant", "adaptive/lemma-2", "averaged-sgd/theorem-1-finite", "cobo/selection-margin")
KEY = "adaptive/theorem-2-constant"


@pytest.fixture(scope="module")
def kept():
    return exact_values()


def assert_below(record, instance):
    """Every point of every curve obeys the bound, on its side, where the conditions hold."""
    for name, (x, y) in instance["curves"].items():
        at = {**{other: np.full(len(x), value) for other, value in instance["at"].items()}, name: np.array(x)}
        for left, right in record.conditions(**{other: at[other] for other in record.condition_keywords}).values():
            assert np.all(left <= right + ROUNDED * np.abs(right)), f"{record} along {name}"
        bound = evaluate(record, enforce=False, **at)
        least = np.array(y) if record.direction == "upper" else -np.array(y)
        limit = bound if record.direction == "upper" else -bound
        assert (least <= limit + ROUNDED * np.abs(bound)).all(), f"{record} along {name}"


def assert_same(kept, now):
    """The same words in the same places, and the same numbers but for their last digits."""
    if isinstance(now, dict):
        assert list(kept) == list(now)
        for name in now:
            assert_same(kept[name], now[name])
    elif isinstance(now, list | tuple) and now and not isinstance(now[0], float):
        assert len(kept) == len(now)
        for one, other in zip(kept, now):
            assert_same(one, other)
    elif isinstance(now, str):
        assert kept == now
    else:
        np.testing.assert_allclose(kept, now, rtol=ROUNDED, atol=1e-300)


def test_errata_are_kept_as_they_are_computed_now(kept):
    assert [row["id"] for row in kept["errata"]] == [entry.id for entry in ERRATA], "run docs/generate.py exact-values"
    for row, entry in zip(kept["errata"], ERRATA):
        assert_same(row, erratum(entry))


def test_every_record_has_a_row(kept):
    assert list(kept["rows"]) == [f"{one.key} {one.edition}" for one in THEOREMS], "run docs/generate.py exact-values"
    for record in THEOREMS:
        row = kept["rows"][f"{record.key} {record.edition}"]
        assert "at" in row or row["instances"]
        for at in [one["at"] for one in (row, *row["instances"]) if "at" in one]:
            assert set(at) == {parameter.name for parameter in record.parameters}


@pytest.mark.parametrize("key", SOME)
def test_instances_are_kept_as_they_are_measured_now(kept, key):
    claims = [claim_of(key, edition) for edition in ("printed", "corrected")[key not in SOME[:2] :]]
    for (_, edition), found in truths(claims).items():
        for row, truth in zip(kept["rows"][f"{key} {edition}"]["instances"], found, strict=True):
            assert_same(row["curves"], dict(truth.curves))
            assert_same({**row["at"], "": row["value"]}, {**truth.at, "": truth.value})
            if edition == "corrected" and truth is found[0]:
                assert row["curves"]
                assert truth.value / evaluate(find(key), **truth.at) > 0.5


def test_what_another_package_adds_is_measured_when_it_is_asked_for(kept, monkeypatch, tmp_path):
    own = {name: paper for name, paper in module.OWN.items() if name != "averaged-sgd"}
    monkeypatch.setattr(module, "OWN", own)
    added = [name for name in kept["rows"] if name.startswith("averaged-sgd/")]
    file = tmp_path / "kept.json"
    rows = {name: row for name, row in kept["rows"].items() if name not in added}
    file.write_text(json.dumps({"rows": rows, "errata": kept["errata"]}), encoding="utf-8")
    monkeypatch.setattr(module, "FILE", file)
    found = exact_values()
    assert added
    assert set(found["rows"]) == set(kept["rows"])
    for name in added:
        assert_same(kept["rows"][name], found["rows"][name])
    assert found["errata"] == kept["errata"]


def test_the_counterexample_to_theorem_2_is_that_of_its_erratum(kept):
    (entry,) = (row for row in kept["errata"] if row["id"] == "adaptive-theorem-2-expectation")
    (truth,) = kept["rows"][f"{KEY} printed"]["instances"]
    record = find(KEY, "printed")
    assert truth["at"] == entry["at"]
    np.testing.assert_allclose(truth["value"], entry["measured"], rtol=ROUNDED)
    np.testing.assert_allclose(evaluate(record, **truth["at"]), entry["printed"], rtol=1e-11)
    x, y = truth["curves"]["T"]
    np.testing.assert_allclose(y[x.index(2.0)], entry["measured"], rtol=ROUNDED)  # by quadrature over one, all steps
    assert (np.array(y[1:]) > 20 * evaluate(record, **{**truth["at"], "T": np.array(x[1:])})).all()


def test_no_exact_value_is_beyond_a_bound_that_holds(kept):
    found = [(record, one) for record in THEOREMS if record.edition == "corrected"
             for one in kept["rows"][f"{record.key} corrected"]["instances"]]  # fmt: skip
    assert len(found) > 160
    for record, instance in found:
        assert_below(record, instance)


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
def test_everything_is_kept_as_it_is_measured_now(kept):
    assert_same({name: kept[name] for name in ("rows", "errata")}, measured())


def test_a_parameter_of_a_paper_of_ones_own_may_be_called_record():
    own = {"record": replace(PARAMETERS["eta"], name="record")}
    theorem = replace(find(KEY), bound=lambda *, record: record, conditions=lambda *, record: {}, own=own)
    assert middle(theorem, record=3.0) == {"record": 3.0}
