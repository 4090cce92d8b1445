"""Results of a plan: one class for constant plans, exact, measured and in stages, and one for break-evens."""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np
import pytest

import suffice as sf
import suffice.planning
from suffice.planning.break_even import BreakEven
from suffice.planning.constant_plan import ConstantPlan

MOST_FIELDS = 12


@pytest.fixture(scope="module")
def exact():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(20, 2)) for _ in range(3)]
    y = [x @ [1.0, 2.0] + rng.normal(size=20) for x in X]
    return sf.plan(sf.from_arrays(X, y), "1%", schedule=True)


@pytest.fixture(scope="module")
def logistic():
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(20, 1)) for _ in range(2)]
    y = [(x[:, 0] + rng.normal(size=20) > 0).astype(float) for x in X]
    return sf.plan(sf.from_arrays(X, y, loss="logistic", regularisation=0.1), "20%")


def test_no_result_has_more_fields_than_one_can_keep_in_mind():
    sizes = {}
    for module in pkgutil.walk_packages(suffice.planning.__path__, "suffice.planning."):
        for name, found in vars(importlib.import_module(module.name)).items():
            if isinstance(found, type) and found.__module__ == module.name:
                fields = getattr(found, "_fields", None) or getattr(found, "__dataclass_fields__", ())
                sizes[name] = len(fields)
    assert {"Plan", "Row", "ConstantPlan", "BreakEven", "Schedules"} <= {*sizes}
    assert {name: size for name, size in sizes.items() if size > MOST_FIELDS} == {}


def test_exact_and_measured_plans_are_of_one_class_whose_time_says_which(exact, logistic):
    for row, kind in ((exact.rows[0], "exact"), (logistic.rows[0], "measured")):
        for found in row.plans[kind]:
            assert isinstance(found, ConstantPlan)
            assert (found.time.kind, found.end.kind) == (kind, kind)
            assert (found.iterations, found.between, found.note) == (
                found.time.value,
                found.time.error,
                found.time.why_not,
            )
    assert row.measured.model.time.kind == "exact"


def test_a_measured_plan_claims_nothing_that_is_known_of_its_model_alone(logistic):
    for row in logistic:
        found = row.measured
        np.testing.assert_allclose(found.model.curve(3)[0], found.model.start, rtol=1e-12)
        with pytest.raises(sf.InputError, match="only whole exact plans have an exact curve"):
            found.curve(3)
        assert (found.step_limit, found.floor, found.holds, found.hitting) == (None,) * 4
        assert found.model.step_limit > 0
        low, high = found.end.error
        np.testing.assert_allclose([(low + high) / 2, (high - low) / 4], [found.excess, found.excess_se], rtol=1e-12)


def test_a_stage_begins_where_the_last_one_ended(exact):
    staged = [row.exact for row in exact if row.exact.stages]
    assert staged
    for plan in staged:
        starts, ends = zip(*((stage.start, stage.excess) for stage in plan.stages))
        np.testing.assert_allclose(starts, (plan.start, *ends[:-1]), rtol=1e-12)
        assert plan.last is plan.stages[-1]
        assert plan.last.excess <= plan.epsilon
        with pytest.raises(sf.InputError, match="curve"):
            plan.last.curve(3)


def test_break_evens_of_both_kinds_are_of_one_class(exact):
    for kind, found in (("guaranteed", sf.plan(_constants(), 0.1).break_even()), ("exact", exact.exact_break_even())):
        assert all(isinstance(entry, BreakEven) and entry.kind == kind for entry in found)
        for entry in found:
            if entry.helped is None:
                assert (entry.stopped, entry.epsilon) == (None, None)
            elif entry.stopped is None:
                assert entry.epsilon == 0
            else:
                assert 0 < entry.stopped == entry.epsilon <= entry.helped
    assert any(entry.helped for entry in found)


def _constants():
    b2 = 0.01 * (1 - np.eye(3))
    heterogeneity = sf.GradientDissimilarity(b2=b2, c=np.zeros((3, 3)))
    return sf.Constants(
        mu=np.ones(3), beta=np.ones(3), sigma2=np.ones(3), heterogeneity=heterogeneity, excess=np.ones(3)
    )
