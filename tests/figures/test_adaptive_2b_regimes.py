"""The study behind Figure 2b: which ratio gives two regimes in which setting."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.figures.figure import SEPARATOR

RULES = [(rule, kind) for rule in ("exact", "m=1", "m=16", "released") for kind in ("binary", "continuous")]
RULES += [(rule, "none") for rule in ("local", "fedavg", "oracle")]


@pytest.fixture(scope="module")
def study():
    from suffice.figures.adaptive_2b_regimes import regimes

    return regimes("stated", seeds=2, iterations=80)


def curve(study, setting, rule, criterion):
    return study.data[SEPARATOR.join((setting, "10", rule, criterion))]


def slope(study, first, last, *key):
    values = curve(study, *key)["mean_log10_excess"]
    return (values[last] - values[first]) / (last - first)


def test_in_the_released_codes_setting_the_exact_ratio_has_two_regimes(study):
    # first as fast as FedAvg, with everybody; then as slow as Local, alone
    for kind in ("binary", "continuous"):
        key = ("published", "exact", kind)
        assert slope(study, 0, 15, *key) == pytest.approx(slope(study, 0, 15, "published", "fedavg", "none"), rel=0.1)
        assert slope(study, 50, 80, *key) == pytest.approx(slope(study, 50, 80, "published", "local", "none"), rel=0.35)
        assert curve(study, *key)["collaborators"][0] > 19
        assert curve(study, *key)["collaborators"][80] < 1.2


def test_with_one_sample_the_ratio_of_equation_1_reaches_a_plateau_there(study):
    values = curve(study, "published", "m=1", "binary")["mean_log10_excess"]
    assert abs(values[80] - values[60]) < 0.25
    assert values[80] > curve(study, "published", "m=16", "binary")["mean_log10_excess"][80] + 0.5


def test_in_the_stated_setting_the_exact_ratio_is_the_oracle_and_the_released_one_is_fedavg(study):
    exact, oracle = (curve(study, "stated", *key) for key in (("exact", "binary"), ("oracle", "none")))
    # nothing but the first steps differs, when all gradients may still agree
    assert abs(exact["mean_log10_excess"][80] - oracle["mean_log10_excess"][80]) < 1.0
    assert exact["collaborators"][80] == oracle["collaborators"][80] == 10
    released, fedavg = (curve(study, "stated", *key) for key in (("released", "binary"), ("fedavg", "none")))
    assert abs(released["mean_log10_excess"][80] - fedavg["mean_log10_excess"][80]) < 0.4
    assert released["collaborators"][80] > 15


def test_collaborators_count_the_client_itself(study):
    assert len(study.data) == 2 * len(RULES)
    for name, one in study.data.items():
        sizes = one["collaborators"]
        assert np.all((sizes >= 1) & (sizes <= 20)), name
    for setting in ("stated", "published"):
        assert np.all(curve(study, setting, "local", "none")["collaborators"] == 1)
        assert np.all(curve(study, setting, "fedavg", "none")["collaborators"] == 20)
