"""The search for rates against enumeration of supports, and instances on which simpler searches fail."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from site_data import site_rows
from sklearn.datasets import load_diabetes

from suffice.planning.exact import weights as search
from suffice.planning.exact.weights import HORIZON, fastest, fastest_alone, lowered, one_step
from suffice.simulate.moments.gradient_moments import moments_of_quadratics, moments_of_rows
from suffice.simulate.moments.recursion import ExactRecursion


def best_rates(recursion, epsilon, horizon=HORIZON):
    """Of one client in one choice of coordinates."""
    return fastest({"none": replace(recursion, unit=epsilon)}, horizon)


def best_alone(recursion, epsilon, horizon=HORIZON):
    return fastest_alone({"none": replace(recursion, unit=epsilon).only([recursion.client])}, horizon)


def quadratics(seed, n=4):
    """Clients of one or two groups with additive noise."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    root = rng.normal(size=(n, d, d))
    A = root @ root.swapaxes(1, 2) / d + 0.2 * np.eye(d)
    optimum = rng.normal(size=(n, d)) * np.exp(rng.uniform(-4, 0))
    covariance = np.exp(rng.uniform(-2, 2, n))[:, None, None] * np.eye(d)
    return moments_of_quadratics(A, optimum, start=np.tile(2 * rng.normal(size=d), (n, 1)), covariance=covariance)


def table(name, sites, whiten=True):
    """The first sites, or those of a slice."""
    blocks = site_rows(name, sites.stop)[sites] if isinstance(sites, slice) else site_rows(name, sites)
    return whitened(moments_of_rows(blocks, start=np.zeros((len(blocks), blocks[0][0].shape[1]))), whiten)


def whitened(moments, whiten=True):
    values, vectors = np.linalg.eigh(moments.A.mean(0))
    return moments.in_basis(vectors / np.sqrt(values)) if whiten else moments


def reached(recursion, epsilon, T, *, supports, starts=2):
    """Whether a descent on E e_T from any support, random directions and lengths stably arrives in T steps."""
    rng = np.random.default_rng(0)
    n = recursion.moments.clients
    for support in supports:
        for _ in range(starts):
            direction = np.zeros(n)
            direction[list(support)] = rng.dirichlet(np.ones(len(support)))
            limit = recursion.limit(direction)
            value, best = min((recursion.curve(s * limit * direction, T)[-1], s) for s in (0.1, 0.3, 0.6, 0.9))
            if value <= epsilon:
                return True
            scale, free = best * limit, list(support)

            def log_excess(x, scale=scale, free=free):
                v = np.zeros(n)
                v[free] = x * scale
                with np.errstate(over="ignore", invalid="ignore"):
                    e, gradient = recursion.derivatives(v, T)
                if not 0 < e < np.inf or not np.isfinite(gradient).all():
                    return 1e3, np.zeros(len(free))
                return np.log(e), gradient[free] * scale / e

            found = minimize(
                log_excess, direction[free], jac=True, method="L-BFGS-B", bounds=[(0, 10)] * len(free),
                options={"maxiter": 60},
            )  # fmt: skip
            if found.fun > np.log(epsilon):
                continue
            v = np.zeros(n)
            v[free] = found.x * scale
            v *= min(1.0, 0.999 * recursion.limit(v))  # no plan goes beyond the step limit, where paths explode
            if recursion.curve(v, T)[-1] <= epsilon:
                return True
    return False


def assert_near_best(recursion, share):
    """T <= max(T_ref, floor(1.05 T_ref)) with T_ref over all supports; what is found must be able to lose.

    The least E e_T falls with T (in 180 of 180 problems), so that one T tells: the largest that would refute.
    """
    n = recursion.moments.clients
    epsilon = share * recursion.excess
    found = best_rates(recursion, epsilon)
    assert found.steps is not None
    curve = recursion.curve(found.v, found.steps)
    assert curve[-1] <= epsilon < curve[-2]
    assert recursion.limit(found.v) > 1
    supports = [s for size in range(1, n + 1) for s in combinations(range(n), size)]
    faster = max((T for T in range(1, found.steps) if max(T, int(1.05 * T)) < found.steps), default=0)
    assert not faster or not reached(recursion, epsilon, faster, supports=supports)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_no_support_is_faster_on_quadratics(seed):
    moments = quadratics(seed)
    for client in (0, 1):
        assert_near_best(ExactRecursion(moments=moments, client=client), 0.1)


def rows(seed):
    """Four to six sites with two to four columns, the first of ones, the others alike; whitened if the seed is odd."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 7)), int(rng.integers(2, 5))
    common, rho, apart, blocks = rng.normal(size=d), rng.uniform(0.5, 0.99), rng.uniform(0.1, 1.5), []
    for _ in range(n):
        z = rng.normal(size=(int(rng.integers(d + 1, 25)), 1))
        X = np.sqrt(rho) * z + np.sqrt(1 - rho) * rng.normal(size=(len(z), d))
        X = X * np.exp(rng.uniform(-0.7, 0.7)) + 0.5 * rng.normal(size=d)
        X[:, 0] = 1
        y = X @ (common + apart * rng.normal(size=d)) + np.exp(rng.uniform(-2, 0)) * rng.normal(size=len(X))
        blocks.append((X, y))
    return whitened(moments_of_rows(blocks, start=np.zeros((n, d))), seed % 2 == 1)


@pytest.mark.parametrize("seed", range(8))
def test_the_best_rates_for_one_step_are_a_minimum(seed):
    """Descents by another method from random rates end above it, and some of them there."""
    recursion, rng = ExactRecursion(moments=rows(seed), client=1), np.random.default_rng(seed)
    n = recursion.moments.clients
    v, least = one_step(recursion)
    np.testing.assert_allclose(recursion.curve(v, 1)[1], least, rtol=1e-9)
    scale = recursion.limit(np.ones(n)) / 2
    ends = [
        minimize(
            lambda x: recursion.curve(scale * x, 1)[1] / recursion.excess, rng.uniform(size=n), bounds=[(0, None)] * n
        ).fun
        for _ in range(4)
    ]
    # L-BFGS-B ends where a step gains 2e-9 of the starting excess
    np.testing.assert_allclose(min(ends), least / recursion.excess, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["subjects-sleep", "countries-gasoline", "secondary-attainment", "states-output", "classes-language"]
)
def test_none_of_63_supports_is_faster(name):
    for client in range(3):
        for share in (0.1, 0.05):
            assert_near_best(ExactRecursion(moments=table(name, 6), client=client), share)


def test_descent_is_faster_than_its_starts_and_never_slower_than_alone(monkeypatch):
    gains = []
    for seed in range(6):
        recursion = ExactRecursion(moments=rows(seed), client=0)
        epsilon = 0.05 * recursion.excess
        alone, found = (find(recursion, epsilon) for find in (best_alone, best_rates))
        with monkeypatch.context() as without:
            without.setattr(search, "polished", lambda curve, one, best, *_: best)
            starts = best_rates(recursion, epsilon)
        assert found.steps <= min(starts.steps, alone.steps)
        gains.append(starts.time / found.time)
    assert max(gains) > 1.05


FAST = {
    "the start is enough": (lambda: quadratics(0), 0, 1.01, 0),
    "one step is": (lambda: table("countries-gasoline", slice(3, 10), whiten=False), 5, 0.06, 1),
    "rates beyond the limit, which arrive, are no plan": (lambda: quadratics(56, 6), 1, 0.1, 2),
    "from a start that never arrives": (lambda: table("countries-gasoline", 6), 0, 0.1, 10),
    "from another one": (lambda: table("states-output", 12), 0, 0.02, 13),
    "the first start to arrive allows for others": (lambda: table("states-output", 6), 0, 0.1, 11),
}
"""Moments, client and share of its excess, with the steps that are enough: of the last one simpler searches need 15."""


@pytest.mark.parametrize("name", FAST)
def test_a_plan_is_as_fast_as_one_that_is_known(name):
    moments, client, share, steps = FAST[name]
    recursion = ExactRecursion(moments=moments(), client=client)
    found = best_rates(recursion, share * recursion.excess)
    assert found.steps <= steps
    assert found.steps == steps or steps > 2
    assert recursion.curve(found.v, found.steps)[-1] <= share * recursion.excess


def test_where_no_start_arrives_in_time_those_nearest_to_it_are_polished():
    """Six groups of the diabetes data by their target, in the time in which a client alone would nearly arrive."""
    X, y = load_diabetes(return_X_y=True)
    X = np.column_stack((np.ones(len(X)), (X - X.mean(0)) / X.std(0)))
    parts = np.array_split(np.argsort(y, kind="stable"), 6)
    start = np.stack([np.eye(X.shape[1])[0] * y[part].mean() for part in parts])
    moments = moments_of_rows([(X[part], y[part]) for part in parts], start=start)
    recursion = ExactRecursion(moments=moments, client=1)
    epsilon = 0.5 * recursion.excess
    alone, free = (find(recursion, epsilon, 5000) for find in (best_alone, best_rates))
    hurried = best_rates(recursion, epsilon, horizon=alone.steps - 1)
    assert hurried.steps <= 1.05 * free.steps < 0.9 * alone.steps


@pytest.mark.parametrize("seed", range(4))
def test_a_polish_does_not_depend_on_the_units_of_a_peers_loss(seed):
    """A peer's loss times f, its rate over f: the same steps."""
    rng, f = np.random.default_rng(seed), np.array([1.0, 100.0, 0.01, 1.0])
    root = rng.normal(size=(4, 3, 3))
    A, C = root @ root.swapaxes(1, 2) / 3 + 0.2 * np.eye(3), rng.uniform(0.1, 1, (4, 1, 1)) * np.eye(3)
    optimum, start = 0.3 * rng.normal(size=(4, 3)), np.tile(2 * rng.normal(size=3), (4, 1))
    found = []
    for by in (np.ones(4), f):
        each = by[:, None, None]
        moments = moments_of_quadratics(A * each, optimum, start=start, covariance=C * each**2)
        recursion = ExactRecursion(moments=moments, client=0)
        v, level = lowered(replace(recursion, unit=0.01 * recursion.excess), np.full(4, 0.01) / by, 30, 15)
        found.append((*(v * by), level))
    assert np.abs(np.subtract(*found)).max() <= 1e-5


def test_starts_in_single_precision_are_those_in_double(monkeypatch):
    monkeypatch.setattr(search, "polished", lambda curve, one, best, *_: best)
    recursion = ExactRecursion(moments=quadratics(5), client=1)
    double = best_rates(recursion, 0.1 * recursion.excess)
    monkeypatch.setattr(search, "LARGE", 0)
    single = best_rates(recursion, 0.1 * recursion.excess)
    assert single.steps == double.steps
    np.testing.assert_allclose(single.time, double.time, rtol=1e-5)


def test_a_single_rate_is_as_fast_as_a_fine_grid_of_them():
    for seed in range(2):
        recursion = ExactRecursion(moments=rows(seed).only([0]), client=0)
        for share in (0.3, 0.02):
            epsilon = share * recursion.excess
            grid = recursion.limit(np.ones(1)) * np.geomspace(1e-3, 0.97, 300)[:, None]
            to = replace(recursion, unit=epsilon)
            least = min(to.arrival(v, 100_000) for v in grid)
            found = fastest_alone({"none": to}, 100_000)
            assert found.time <= 1.01 * least
            assert found.steps == np.ceil(to.arrival(found.v, 100_000))
