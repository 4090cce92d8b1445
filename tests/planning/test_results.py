"""Results of a plan: one class for constant plans, exact, measured and in stages, and one for break-evens."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest

import suffice as sf
import suffice.planning
from suffice.planning.client_plan import ClientPlan
from suffice.planning.constant_plan import ConstantPlan
from suffice.planning.precision import Precision


@pytest.fixture(scope="module")
def logistic():
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(20, 1)) for _ in range(2)]
    y = [(x[:, 0] + rng.normal(size=20) > 0).astype(float) for x in X]
    return sf.plan(sf.from_arrays(X, y, loss="logistic", regularisation=0.1), "20%")


def test_what_a_table_shows_is_a_field_of_a_row_or_of_its_plans():
    """No class of a plan makes up attributes, or computes what a column could read."""
    kinds = set()
    for module in pkgutil.walk_packages(suffice.planning.__path__, "suffice.planning."):
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and kind.__module__.startswith("suffice.planning"):
                kinds.add(kind)
                assert "__getattr__" not in vars(kind)
    outside = {kind for kind in kinds if ".exact." not in kind.__module__}
    assert len(outside) <= 11
    numbers = {"iterations", "excess", "note", "matrix", "step_limit", "floor", "holds", "between"}
    assert numbers <= {field.name for field in dataclasses.fields(ConstantPlan)}
    plans = {"schedules", "local", "exact", "exact_local", "measured", "measured_local"}
    assert plans <= {field.name for field in dataclasses.fields(ClientPlan)}


def test_a_measured_plan_claims_nothing_that_is_known_of_its_model_alone(logistic):
    for row in logistic:
        found = row.measured
        np.testing.assert_allclose(found.model.curve(3)[0], found.model.start, rtol=1e-12)
        with pytest.raises(sf.InputError, match="only whole exact plans have an exact curve"):
            found.curve(3)
        assert found.step_limit is found.floor is found.holds is None
        assert found.model.step_limit > 0
        assert 0 < found.excess_se < found.excess


@pytest.mark.parametrize("kind", ["exact", "guaranteed"])
def test_a_break_even_is_read_off_the_rows_of_the_plan(kind):
    precisions = ["50%", "5%", "1%", "0.1%"]
    if kind == "exact":
        rng = np.random.default_rng(1)
        X = [rng.normal(size=(20, 2)) for _ in range(3)]
        y = [x @ [1.0, 2.0 + 0.3 * i] + rng.normal(size=20) for i, x in enumerate(X)]
        plan = sf.plan(sf.from_arrays(X, y), precisions)
    else:
        plan = sf.plan(_constants(), precisions)
    found = plan.break_even()
    assert {entry["name"] for entry in found} == {row.name for row in plan}
    for entry in found:
        rows = sorted(plan[entry["name"]], key=lambda row: row.epsilon)
        both = [(row.epsilon, *row.both(row.recommended)) for row in rows]
        faster = [epsilon for epsilon, together, alone in both if alone.iterations - together.iterations >= 1]
        assert entry["helped"] == (min(faster) if faster else None)
        smaller = [row.epsilon for row in rows if faster and row.epsilon < min(faster)]
        assert entry["stopped"] == (max(smaller) if smaller else None)
    assert any(entry["helped"] for entry in found)
    assert any(entry["stopped"] for entry in found)
    assert sf.plan(_constants(), 0.1).break_even() == []


def _constants():
    b2 = 0.01 * (1 - np.eye(3))
    heterogeneity = sf.GradientDissimilarity(b2=b2, c=np.zeros((3, 3)))
    return sf.Constants(
        mu=np.ones(3), beta=np.ones(3), sigma2=np.ones(3), heterogeneity=heterogeneity, excess=np.ones(3)
    )


def test_a_precision_is_parsed_once_at_the_door(monkeypatch):
    parsed = []

    def parse(entry, **about):
        parsed.append(entry)
        return once(entry, **about)

    once = Precision.parse
    monkeypatch.setattr(Precision, "parse", parse)
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(20, 1)) for _ in range(2)]
    plan = sf.plan(sf.from_arrays(X, [x[:, 0] + rng.normal(size=20) for x in X]), ["10%", 0.1, "noise", " 10% "])
    assert parsed == ["10%", 0.1, "noise", " 10% "]
    assert [(row.epsilon_given, row.epsilon_of) for row in plan.rows[::2]] == [
        ("10%", "constant"), ("0.1", "loss"), ("noise", "noise"),
    ]  # fmt: skip
    assert list(plan.precisions) == ["10%", 0.1, "noise"]
