"""Resampling: what a plan says of rows drawn anew."""

from __future__ import annotations

import numpy as np
import pytest
from cipher import numbers
from client_data import near_and_far

import suffice as sf
from suffice.planning.bootstrap import resampled


def test_many_rows_make_a_stable_cluster_and_few_rows_an_unstable_one():
    sure = sf.plan(near_and_far(2000), 0.1).stability(resamples=3)
    assert [entry.cluster for entry in sure] == [(0, 1), (0, 1), (2,)]
    assert all(entry.same == 1 and entry.weakest == 1 and entry.failed == 0 for entry in sure)
    assert sure[0].share == (1, 1, 0)
    shaky = sf.plan(near_and_far(15), 0.2).stability(resamples=5)
    assert shaky[1].cluster == (0, 1)
    assert shaky[1].weakest < 0.9
    assert not shaky[1].to_dict()["stable"]
    assert all(entry.share[entry.client] == 1 for entry in shaky)


def test_resampled_predictions_surround_the_plan_and_come_with_the_numbers_of_the_same_resamples():
    plan = sf.plan(near_and_far(300), 0.3)
    stable, numbers = plan.uncertainty(resamples=4, root=1)
    assert stable == plan.stability(resamples=4, root=1)
    again = plan.statistics(resamples=4, root=1)
    np.testing.assert_array_equal(numbers.sigma2.high, again.sigma2.high)
    assert len(plan) == len(stable) == 3
    for row, entry in zip(plan, stable):
        low, high = entry.iterations
        # resampling widens: an interval may miss the plan itself, not by half
        assert 0.5 * low < row.exact.iterations < 2 * high
        assert entry.speedup[0] <= entry.speedup[1]
        assert entry.to_dict()["stable"] is entry.stable


FEW = [np.array([[0.0], [1.0], [3.0], [4.0]]), np.arange(8.0)[:, None]]


def test_the_bootstrap_is_reproducible_and_refuses_what_has_no_rows():
    targets = [np.array([0.0, 1, 5, 2]), np.arange(8.0) ** 1.5]
    plan = sf.plan(sf.from_arrays(FEW, targets, standardise="none"), [0.5, 0.1])
    once, again = (plan.stability(resamples=2, root=48) for _ in range(2))
    assert once == again
    # four times one row, which resample 0 draws, is planned all the same
    assert {number >> 62 for number in numbers(4, seed=0, root=48, iteration=0, stream=6)} == {0}
    assert {(entry.resamples, entry.failed) for entry in once} == {(2, 0)}
    with pytest.raises(sf.InputError, match="no rows to resample"):
        sf.plan(sf.Quadratics.of(np.ones((1, 1, 1)), [[0.0]], sigma2=1.0, start=[1.0]), 0.1).stability()
    with pytest.raises(sf.InputError, match=r"^bootstrap = 1"):
        plan.stability(resamples=1)


def test_resamples_of_one_class_are_counted_as_failed():
    classes = [np.array([0, 1, 0, 1]), np.array([0, 1] * 4)]
    plan = sf.plan(sf.from_arrays(FEW, classes, loss="logistic"), 0.05)
    entries = plan.stability(resamples=12, root=3)
    assert 0 < entries[0].failed < 12
    assert {entry.resamples + entry.failed for entry in entries} == {12}


@pytest.mark.parametrize("certainty", ["certified", "estimated", "everywhere"])
def test_resamples_find_their_constants_as_the_problem_does(certainty):
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(60 + 7 * i, 2)) for i in range(3)]
    y = [(x.sum(1) + rng.normal(size=len(x)) > 0).astype(int) for x in X]
    problem = sf.from_arrays(X, y, loss="logistic", regularisation=0.1, certainty=certainty)
    drawn = list(resampled(problem, resamples=3))
    assert len(drawn) == 3
    for again, constants in drawn:
        assert (again.reach, again.points) == (problem.reach, problem.points)
        assert constants.notes[0] == problem.constants().notes[0]
        assert again.data.counts.tolist() == problem.data.counts.tolist()


def test_resample_r_draws_rows_by_root_and_r_alone():
    X, y = ([np.arange(float(n)) for n in (5, 8)] for _ in "Xy")
    options = {"regularisation": 0.1, "standardise": "none", "intercept": False}
    source = sf.from_arrays([x[:, None] for x in X], [2 * target**2 for target in y], **options)
    (again, _), (third, _) = list(resampled(source, resamples=3, root=6))[0::2]
    for index, problem in ((0, again), (2, third)):
        drawn = numbers(13, seed=index, root=6, iteration=0, stream=6)
        expected = [5 * number >> 64 for number in drawn[:5]] + [8 * number >> 64 for number in drawn[5:]]
        np.testing.assert_array_equal(problem.data.X[:, 0], expected)
