"""Exact plans of all clients: never slower than alone, coordinates of each client's own, and what cannot be planned."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import suffice as sf
from suffice.planning.constant_plan import ConstantPlan
from suffice.planning.exact.plan import BY_ROWS, _described, exact_plans
from suffice.planning.exact.weights import HORIZON, fastest
from suffice.planning.plan_rows import unknown
from suffice.simulate import LeastSquares
from suffice.simulate.moments.by_rows import GradientRows
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.preconditioning import own_bases, shared_bases
from suffice.simulate.moments.recursion import ExactRecursion


@pytest.fixture(scope="module")
def problem():
    """Three clients alike, ill-conditioned features."""
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(n, 2)) * [1.0, 4.0] for n in (20, 30, 40)]
    y = [x @ (np.ones(2) + 0.05 * rng.normal(size=2)) + rng.normal(size=len(x)) for x in X]
    return LeastSquares.of(X, y)


@pytest.fixture(scope="module")
def plans(problem):
    moments = problem.gradient_moments()
    return exact_plans(moments, 0.1 * moments.excess)


def test_the_plan_is_what_its_curve_says_and_never_slower_than_alone(plans):
    for i, (together, alone) in enumerate(plans):
        assert together.iterations <= alone.iterations
        assert not together.note
        assert np.flatnonzero(alone.weights).tolist() == [i]
        for one in (together, alone):
            curve = one.curve(one.iterations)
            assert curve[-1] <= one.epsilon < curve[-2]
            assert one.eta < one.step_limit
            np.testing.assert_allclose(curve[0], one.start, rtol=1e-12)
            np.testing.assert_allclose([one.weights.sum(), one.excess], [1, curve[-1]], rtol=1e-12)
            assert one.holds == (one.curve(3000)[one.iterations :].max() <= one.epsilon)
    assert sum(together.iterations < alone.iterations for together, alone in plans) == 3


@pytest.mark.parametrize("off", [-3, -1, 0, 1])
def test_a_time_that_a_search_has_not_quite_right_is_put_right(problem, off):
    moments = problem.gradient_moments()
    epsilon = 0.1 * moments.excess[0]
    recursion = ExactRecursion(moments=moments, client=0, unit=epsilon)
    rates = fastest({"none": recursion}, HORIZON)
    assert rates.steps > 4
    plan = ConstantPlan.begun(3, epsilon, moments.excess[0])
    found = _described(plan, {"none": recursion}, replace(rates, time=rates.time + off), np.eye(3))
    assert found.iterations == rates.steps
    np.testing.assert_allclose(found.excess, epsilon * recursion.curve(rates.v, rates.steps)[-1], rtol=1e-12)


def test_a_choice_of_coordinates_keeps_every_loss_and_is_never_slower_than_none(problem, plans):
    moments = problem.gradient_moments()
    bases = shared_bases(moments) | own_bases(moments, 1)
    choices = {name: moments.in_basis(basis) for name, basis in bases.items()}
    assert set(choices) == {"none", "diagonal", "pooled", "pooled, whole", "own", "own, ridge"}
    for there in choices.values():
        np.testing.assert_allclose(there.excess, moments.excess, rtol=1e-10)
    np.testing.assert_allclose(choices["own"].A[1], np.eye(2), atol=1e-10)
    for pair, without in zip(plans, exact_plans(moments, 0.1 * moments.excess, precondition=False)):
        for chosen, plain in zip(pair, without):
            assert plain.preconditioner == "none"
            assert chosen.iterations <= max(plain.iterations, int(1.05 * plain.iterations))


def test_what_cannot_be_planned_is_said(problem, monkeypatch):
    moments = problem.gradient_moments()
    (above, alone), (below, _), (ordinary, _) = exact_plans(
        moments, moments.excess * [2.0, 1e-15, 0.5], precondition=False
    )
    assert (above.iterations, alone.iterations, above.eta, above.holds) == (0, 0, 0, True)
    assert "already below" in above.note
    assert (below.iterations, below.weights.sum()) == (None, 0)
    assert "below rounding" in below.note
    assert (ordinary.note, ordinary.iterations > 0) == ("", True)
    monkeypatch.setattr("suffice.planning.exact.plan.HORIZON", 50)
    (long, _), *_ = exact_plans(moments, 1e-6 * moments.excess, precondition=False)
    assert long.iterations is None
    assert "within 50 iterations" in long.note


@pytest.fixture(scope="module")
def groups():
    """Ten clients in two groups."""
    rng = np.random.default_rng(6)
    centre = rng.normal(size=(2, 4))
    X = [rng.normal(size=(40, 4)) for _ in range(10)]
    y = [x @ (centre[k % 2] + 0.05 * rng.normal(size=4)) + rng.normal(size=40) for k, x in enumerate(X)]
    return moments_of_rows(list(zip(X, y)), start=np.zeros((10, 4)))


def test_many_are_planned_nearly_as_fast_as_few_and_exactly(groups, monkeypatch):
    epsilon = 0.1 * groups.excess
    few = exact_plans(groups, epsilon)
    monkeypatch.setattr("suffice.planning.exact.plan.WORK", 0.0)
    many = exact_plans(groups, epsilon)
    for i, ((together, alone), (best, lone)) in enumerate(zip(many, few)):
        for one in (together, alone):
            curve = one.curve(one.iterations)
            assert curve[-1] <= one.epsilon < curve[-2]
            assert one.eta < one.step_limit
        assert together.iterations <= alone.iterations
        assert not together.note
        assert np.flatnonzero(alone.weights).tolist() == [i]
        assert best.iterations <= together.iterations <= max(best.iterations + 1, 1.2 * best.iterations)
        assert lone.iterations <= alone.iterations <= max(lone.iterations + 2, 1.5 * lone.iterations)
    assert sum(together.iterations < alone.iterations for together, alone in many) >= 8
    monkeypatch.setattr("suffice.planning.exact.weights.WORK", 0.0)
    for together, alone in exact_plans(groups, epsilon):
        assert ("not polished" in together.note) == (together is not alone and together.iterations > 1)
        assert not alone.note


def peak(call):
    """What it allocates at most through NumPy [MB], and what it returns."""
    tracemalloc.start()
    found = call()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most, found


@pytest.mark.parametrize("clients", [200, 400])
def test_rows_keep_one_matrix_of_pairs_and_not_one_each(clients):
    most, rows = peak(lambda: unknown(clients))
    assert all(row["weights"][i] == 1 for i, row in enumerate(rows))
    assert most < 8e-6 * 6 * clients**2 + 2


def wide(d, n, clients=6):
    rng = np.random.default_rng(6)
    centre = rng.normal(size=(2, d))
    X = [rng.normal(size=(n, d)) for _ in range(clients)]
    return [(x, x @ (centre[k % 2] + 0.05 * rng.normal(size=d)) + rng.normal(size=n)) for k, x in enumerate(X)]


def test_times_are_exact_and_near_those_of_the_full_search():
    blocks, start = wide(4, 40), np.zeros((6, 4))
    moments = moments_of_rows(blocks, start=start)
    epsilon = 0.1 * moments.excess * [1, 1, 1, 1, 20, 1e-15]
    found, best = (exact_plans(one, epsilon) for one in (GradientRows.of(blocks, start=start), moments))
    for i, ((together, alone), (fast, lone)) in enumerate(zip(found[:4], best)):
        for one in (together, alone):
            curve = one.curve(one.iterations)
            assert curve[-1] <= one.epsilon < curve[-2]
            np.testing.assert_allclose(curve[[0, -1]], [one.start, one.excess], rtol=1e-12)
            assert one.eta < one.step_limit
            assert one.note == BY_ROWS
            assert one.floor is None
        assert np.flatnonzero(alone.weights).tolist() == [i]
        assert fast.iterations <= together.iterations <= max(fast.iterations + 2, 1.5 * fast.iterations)
        assert lone.iterations <= alone.iterations <= 2 * lone.iterations
    assert sum(together.iterations < alone.iterations for together, alone in found[:4]) >= 3
    assert found[4][0].iterations == 0
    assert "below rounding" in found[5][0].note


def test_more_than_forty_coefficients_are_planned_by_rows():
    blocks = wide(45, 120, clients=4)
    problem = sf.from_arrays(*map(list, zip(*blocks)), standardise="none", intercept=False)
    assert problem.gradient_moments() is None
    plan = sf.plan(problem, "10%")
    assert all(row.exact.iterations <= row.exact_local.iterations < 10_000 for row in plan)
    assert all(BY_ROWS in row.warnings and row.schedules is None for row in plan)
    assert max(map(len, str(plan).splitlines())) <= 80
    measured = plan.simulate(seeds=512)
    for one in measured:
        assert abs(one.together.excess - one.together.exact) < 5 * one.together.excess_se
    with pytest.raises(sf.InputError, match=r"^memory for rows of 4 clients with 45 coefficients"):
        sf.plan(problem, "10%", max_memory=1e5)


def nearly_dependent(seed, rho):
    """Six sites whose three columns nearly depend on each other, and whose targets are what little tells them apart."""
    rng = np.random.default_rng(seed)
    w, X, y = rng.normal(size=3) / np.sqrt(1 - rho**2), [], []
    for _ in range(6):
        common = rng.normal(size=(int(rng.integers(6, 14)), 1))
        X.append(common + np.sqrt(1 - rho**2) * rng.normal(size=(len(common), 3)))
        y.append(X[-1] @ (w + 0.2 * rng.normal(size=3)) + 0.3 * rng.normal(size=len(common)))
    return sf.from_arrays(X, y).gradient_moments()


def whitened(moments):
    """In the coordinates in which the mean second moment is the identity, without a ridge."""
    values, vectors = np.linalg.eigh(moments.A.mean(0))
    return moments.in_basis(vectors / np.sqrt(values) @ vectors.T)


@pytest.mark.parametrize(("seed", "rho"), [(103, 0.99), (104, 0.999)])
def test_no_plan_is_slower_than_equal_weights_in_the_pooled_whitening(seed, rho):
    moments = nearly_dependent(seed, rho)
    epsilon = 0.02 * moments.excess
    simple = whitened(moments)
    for i, (together, _) in enumerate(exact_plans(moments, epsilon)):
        recursion = ExactRecursion(moments=simple, client=i, unit=epsilon[i])
        gap = simple.optimum - simple.optimum[i]
        order = np.argsort(np.einsum("kd,de,ke->k", gap, simple.A[i], gap), kind="stable")
        best = np.inf
        for many in (2, 4, 6):
            v = np.zeros(6)
            v[order[:many]] = 1 / many
            limit = recursion.limit(v)
            lengths = np.geomspace(0.05, 0.95, 20) * limit
            best = min(best, *(recursion.arrival(c * v, 500) for c in lengths))
        assert together.iterations is not None
        assert together.iterations <= max(np.ceil(best), 1)
