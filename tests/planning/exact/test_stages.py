"""Plans in stages: their curve, its derivatives, and never slower than constant rates."""

from __future__ import annotations

import numpy as np
import pytest
from site_data import site_rows

from suffice.planning.exact.plan import exact_plans
from suffice.planning.exact.stages import STAGES, StagedRecursion, in_stages, lengths
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.recursion import ExactRecursion


@pytest.fixture(scope="module")
def moments():
    """Four clients alike, one of few rows, another start for each: there is much to gain from peers, then to lose."""
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(n, 2)) for n in (6, 30, 30, 12)]
    y = [x @ (np.ones(2) + 0.3 * rng.normal(size=2)) + rng.normal(size=len(x)) for x in X]
    return moments_of_rows(list(zip(X, y)), start=np.full((4, 2), 3.0), batch=2)


def test_the_curve_is_a_step_at_a_time_and_derivatives_are_its_differences(moments):
    rng, h = np.random.default_rng(0), 1e-6
    for i, T in zip((0, 2, 3), (2, 7, 11)):
        parts = lengths(T)
        assert (len(parts), sum(parts)) == (STAGES, T)
        assert max(parts) - min(parts) <= 1
        recursion, v = ExactRecursion(moments=moments, client=i), 0.03 * rng.uniform(size=STAGES * 4)
        staged, z, expected = StagedRecursion(recursion), recursion.start, [float(recursion.excess)]
        for j in np.repeat(range(STAGES), parts):
            z = recursion.matrix(v.reshape(STAGES, 4)[j]) @ z
            expected.append(float(recursion.loss @ z))
        value, gradient = staged.derivatives(v, T)
        np.testing.assert_allclose(staged.curve(v, T), expected, rtol=1e-12)
        np.testing.assert_allclose(value, expected[-1], rtol=1e-12)
        ends = [[staged.curve(v + s * h * e, T)[-1] for s in (1, -1)] for e in np.eye(STAGES * 4)]
        # central differences: h^2 times the third derivative, and rounding 1e-16 / h
        np.testing.assert_allclose(gradient, np.diff(ends)[:, 0] / (-2 * h), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("share", [0.1, 0.02])
def test_a_plan_in_stages_arrives_earlier_and_each_stage_begins_where_the_last_one_ended(moments, share):
    plans = exact_plans(moments, share * moments.excess, schedule=True)
    for i, pair in enumerate(plans):
        for one in pair:
            if not one.stages:
                assert one.scheduled == one.iterations
                continue
            assert one.scheduled == sum(stage.iterations for stage in one.stages) < one.iterations
            assert one.stages[-1].excess <= one.epsilon
            starts, ends = zip(*((stage.start, stage.excess) for stage in one.stages))
            np.testing.assert_allclose(starts, (one.start, *ends[:-1]), rtol=1e-12)
            np.testing.assert_allclose([stage.weights.sum() for stage in one.stages], 1, rtol=1e-12)
        assert all(np.flatnonzero(stage.weights).tolist() == [i] for stage in pair[1].stages)
    assert any(together.stages for together, _ in plans)


def test_stages_save_two_fifths_on_a_table():
    """Language scores: the sixth class needs 92 constant steps, in stages that shorten its steps at most 55."""
    blocks = site_rows("classes-language", 6)
    moments = moments_of_rows(blocks, start=np.zeros((6, blocks[0][0].shape[1])))
    epsilon = 0.1 * moments.excess
    constant = exact_plans(moments, epsilon, precondition=False)[5][0]
    recursion = ExactRecursion(moments=moments, client=5, unit=epsilon[5])
    plan = in_stages(constant, recursion, np.eye(6))
    rates, steps = np.array([stage.rates for stage in plan.stages]), plan.scheduled
    assert steps <= 0.6 * constant.iterations
    curve = StagedRecursion(recursion)
    assert curve.curve(rates.ravel(), steps)[-1] <= 1 < curve.curve(rates.ravel(), steps - 1)[-1]
    assert rates[-1].sum() < rates[0].sum()
    assert all(recursion.limit(v) > 1 for v in rates)


def test_the_arrival_is_that_of_halving_where_the_curve_is_above_the_precision_again(monkeypatch):
    """Stages have other lengths at each T, so that E e_T may rise with T, and there are several arrivals."""
    above = {*range(14), 16, 17, 19}
    monkeypatch.setattr(StagedRecursion, "curve", lambda self, v, T: np.array([1.1 if T in above else 0.9]))
    found = [StagedRecursion(None).arrival(np.ones(3), most) for most in (13, 14, 15, 20, 21, 23, 25, 31)]
    assert found == [np.inf, 14, 14, 14, 14, 18, 14, 14]
