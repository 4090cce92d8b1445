"""Methods beside a plan: their times against plain simulation, the plan's row, what is not compared."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.planning.method_comparison import FEW, PLAN, STEPS, compare_methods
from suffice.simulate.algorithms import FedAvg, Local
from suffice.simulate.moments.recursion import ExactRecursion

SEEDS = 64


def table(seed=1, rows=40):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rows, 2)) for _ in range(4)]
    return sf.from_arrays(X, [x @ [1.0, 2.0 + 0.1 * i] + rng.normal(size=rows) for i, x in enumerate(X)])


@pytest.fixture(scope="module")
def compared():
    plan = sf.plan(table(), "10%")
    return plan, compare_methods(plan, seeds=SEEDS)


def by_name(comparison):
    (methods,) = comparison.precisions.values()
    return {one.name: one for one in methods}


def test_the_plan_comes_first_with_its_own_times(compared):
    plan, found = compared
    (methods,) = found.precisions.values()
    first, rows = methods[0], list(plan)
    assert first.name == PLAN
    assert first.iterations == max(row.exact.iterations for row in rows)
    assert first.gradients == sum(row.exact.iterations * np.count_nonzero(row.exact.weights) for row in rows)
    sent = sum(2 * row.exact.iterations * (np.count_nonzero(row.exact.weights) - 1) for row in rows)
    assert first.vectors == sent
    times = [np.inf if one.iterations is None else one.iterations for one in methods[1:]]
    assert times == sorted(times)


@pytest.mark.parametrize(("name", "rule"), [("local", Local()), ("fedavg", None)])
def test_a_time_is_the_first_at_which_the_mean_over_paths_is_at_the_precision(compared, name, rule):
    plan, found = compared
    one = by_name(found)[name]
    rule = rule or FedAvg(period=int(one.setting.partition("=")[2]))
    epsilon = np.mean([row.epsilon for row in plan])
    trace = sf.run(
        plan.problem, rule, iterations=2 * one.iterations, eta=one.eta, seeds=range(FEW, FEW + SEEDS), kernel="c"
    )
    mean = trace.excess.astype(float).mean((0, 2))
    assert one.iterations == int(np.argmax(mean <= epsilon))
    assert one.gradients == trace.oracle_calls[one.iterations] * plan.problem.batch
    assert one.vectors == trace.vectors_sent[one.iterations]
    assert one.low <= one.iterations


def test_the_step_is_the_best_of_the_grid(compared):
    plan, found = compared
    one = by_name(found)["local"]
    epsilon, scale = np.mean([row.epsilon for row in plan]), 1 / plan.constants.beta.max()
    assert np.isclose(scale * STEPS, one.eta, rtol=1e-12).any()
    moments = plan.problem.gradient_moments()
    alone = [ExactRecursion(moments=moments.only([i]), client=0) for i in range(moments.clients)]

    def first(eta):
        """The first iteration at which the exact mean excess of clients alone is at the precision."""
        below = np.mean([one.curve(np.array([eta]), 200) for one in alone], axis=0) <= epsilon
        return int(np.argmax(below)) if below.any() else np.inf

    with np.errstate(all="ignore"):  # steps at which paths leave
        assert first(one.eta) <= 1.5 * min(map(first, scale * STEPS)) + 2  # chosen by few paths


def test_what_is_not_compared_is_named_with_the_reason(compared):
    _, found = compared
    text = " ".join(str(found).split())
    assert "scaffold" in by_name(found)
    assert "no compiled paths" in by_name(found)["scaffold"].why_not
    assert "no compiled paths" in text
    # with alpha = 1/2 half of every model is its client's own minimiser before anything is sent
    assert by_name(found)["scafflix"].iterations < by_name(found)["scaffnew"].iterations
    assert "scafflix: with the clients' own minimisers, for which nothing is counted." in text
    assert not by_name(found)["scaffnew"].anchored
    entry = next(one for one in found.to_dict() if one["name"] == "scaffold")
    assert entry["iterations"] is None
    assert entry["epsilon"] == "10%"


def test_only_some_methods_and_bad_input():
    plan = sf.plan(table(), "10%")
    (methods,) = compare_methods(plan, only=["local"], seeds=4).precisions.values()
    assert [one.name for one in methods] == [PLAN, "local"]
    with pytest.raises(sf.InputError, match="only"):
        compare_methods(plan, only=["FedSGD"])
    with pytest.raises(sf.InputError, match="seeds"):
        compare_methods(plan, seeds=1)
    alike = sf.GradientDissimilarity(b2=np.zeros((2, 2)), c=np.zeros((2, 2)))
    constants = sf.Constants(mu=[1.0, 1.0], beta=[1.0, 1.0], sigma2=[1.0, 1.0], excess=[1.0, 1.0], heterogeneity=alike)
    with pytest.raises(sf.InputError, match="constants alone run nothing"):
        compare_methods(sf.plan(constants, 0.1))


def test_a_logistic_plan_is_compared_by_its_measured_times():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(40, 2)) for _ in range(3)]
    y = [(x @ [1.0, -1.0] + rng.normal(size=40) > 0).astype(int) for x in X]
    plan = sf.plan(sf.from_arrays(X, y, loss="logistic", regularisation=0.1), "20%")
    (methods,) = compare_methods(plan, only=["local", "fedavg"], seeds=8).precisions.values()
    assert methods[0].iterations == max(row.measured.iterations for row in plan)
    assert {one.name for one in methods} == {PLAN, "local", "fedavg"}
