"""Every corrected bound beside measurements: sharp instances attain it, nothing exceeds it."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import InputError, find
from suffice.figures import figure
from suffice.figures.bound_against_measured_all import two_columns

SOME = ("adaptive/lemma-2-gradient", "worst-case/contraction", "sample-optimal/theorem-2", "scafflix/initial-lyapunov")


@pytest.fixture(scope="module")
def drawn():
    return figure("bound-against-measured-all", keys=SOME, draws=24)


@pytest.mark.parametrize("key", SOME)
def test_sharp_instances_attain_and_none_exceeds(drawn, key):
    row = {column: float(values[0]) for column, values in drawn.data[key].items()}
    # exact engines are good to about 1e-12, claims are compared at 1e-9
    assert 0.99 < row["sharp"] <= 1 + 1e-9
    assert row["low"] <= row["median"] <= row["high"] <= 1 + 1e-9
    assert row["high"] < row["sharp"]
    assert row["sharp_instances"] > 0


def test_condition_numbers_are_asked_where_the_theorem_has_them(drawn):
    for key in SOME:
        takes = {"mu", "beta"} <= {parameter.name for parameter in find(key).parameters}
        assert drawn.data[key]["conditioned"][0] == takes, key
    # far from sharp: the median instance of condition 10 or more leaves at least half of the bound unused
    assert drawn.data["sample-optimal/theorem-2"]["median"][0] < 0.5


def test_ill_conditioned_instances_are_a_part_of_all(drawn):
    assert 0 < drawn.data["worst-case/contraction"]["instances"][0] < 2 * 24


def test_a_sharp_ratio_comes_again_from_the_claim(drawn):
    from suffice.verification.claims import claim_of

    claim = claim_of("worst-case/contraction")
    best = []
    for family in claim.families:
        if family.sharp is not None:
            evidence = family.evidence(family.sharp())
            best.append(evidence.ratio(claim.theorem)[evidence.counted(claim.theorem)].max())
    np.testing.assert_allclose(drawn.data["worst-case/contraction"]["sharp"][0], max(best), rtol=1e-12)


LONG = ("worst-case/contraction", "sample-optimal/theorem-2", "sample-optimal/theorem-1-excess", "scafflix/theorem-1")


@pytest.fixture(scope="module")
def curves():
    return figure("bound-against-measured-curves", keys=LONG)


@pytest.mark.parametrize("key", LONG)
def test_curves_stay_on_their_side_of_the_bound_and_sharp_ones_follow_it(curves, key):
    lower = find(key).direction == "lower"
    kinds = [name.split(" | ")[1] for name in curves.data if name.startswith(f"{key} | ")]
    assert kinds[0] == "sharp"
    assert len(kinds) == 2
    for kind in kinds:
        curve = curves.data[f"{key} | {kind}"]
        top, bottom = (curve["bound"], curve["measured"]) if lower else (curve["measured"], curve["bound"])
        assert (top <= bottom * (1 + 1e-9)).all()
        assert curve["bound"][0] == 1
        assert (np.diff(curve["T"]) > 0).all()
    sharp = curves.data[f"{key} | sharp"]
    assert np.median(sharp["measured"] / sharp["bound"]) > 0.99


def test_the_ill_conditioned_curve_is_of_the_largest_condition_number(curves):
    condition = curves.data["sample-optimal/theorem-2 | largest beta/mu"]["condition"]
    assert condition[0] > 10
    assert np.ptp(condition) == 0
    assert "scafflix/theorem-1 | random" in curves.data


def test_curves_are_refused_for_the_published_edition_and_unknown_theorems():
    for options in ({"edition": "published"}, {"keys": ("adaptive/lemma-2",)}):
        with pytest.raises(InputError):
            figure("bound-against-measured-curves", **options)


def test_papers_stay_whole_in_two_columns_of_like_length():
    keys = [f"{paper}/{k}" for paper, count in (("a", 30), ("b", 5), ("c", 20), ("d", 4)) for k in range(count)]
    left, right = two_columns(keys)
    assert [text for key, text in left if not key] == ["a"]
    assert [text for key, text in right if not key] == ["b", "c", "d"]
    assert [key for key, _ in left + right if key] == keys
