"""The methods' plans tried out: what the theorems control stays below what they promise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import suffice as sf
from suffice.method_runs import run_methods
from suffice.network_of_problem import network
from suffice.simulate import run as simulated

SEEDS = 256


def equal_hessians():
    """Four clients in two pairs: every method applies but CoBo, whose clients need one optimum."""
    A = np.array([[0.5, 0.1], [0.1, 0.3]])
    optimum = np.array([[0.0, 0.0], [0.05, 0.0], [1.0, 1.0], [1.0, 1.1]])
    return sf.Quadratics.of(np.stack([A] * 4), -optimum, sigma2=np.array([0.2, 0.1, 0.2, 0.4]), start=[2.0, -2.0])


def one_optimum():
    A = np.stack([np.diag([0.5, 0.3]), np.diag([0.55, 0.33]), np.diag([0.5, 0.36])])
    return sf.Quadratics.of(A, np.zeros((3, 2)), sigma2=0.1, start=[2.0, -2.0])


def runs_of(problem, epsilon, **more):
    plan = sf.plan(problem, epsilon)
    measured = plan.simulate(seeds=SEEDS)
    plans = plan.methods(**more)
    return {entry.method: entry for entry in plans}, {
        entry.method: entry for entry in plan.simulate_methods(plans, measured, seeds=SEEDS)
    }


@pytest.mark.parametrize(
    ("build", "methods"),
    [(equal_hessians, {"all-for-one", "fixed-weights", "all-for-all", "scafflix", "local"}),
     (one_optimum, {"all-for-one", "all-for-all", "cobo", "scafflix", "local"})],
)  # fmt: skip
def test_no_method_measures_more_than_its_theorem_promises(build, methods):
    plans, runs = runs_of(build(), 0.1)
    assert set(runs) == methods
    for name, entry in runs.items():
        assert entry.skipped == ""
        # bounds of means: 5 standard errors of 256 seeds
        assert 0 < entry.measured <= entry.promised + 5 * entry.error
        np.testing.assert_allclose(entry.ratio, entry.measured / entry.promised, rtol=1e-15)
        if name not in ("all-for-one", "local"):
            assert 0 < entry.reached <= entry.rounds
            assert entry.rounds in plans[name].rounds


def test_the_printed_rule_of_scafflix_is_measured_by_its_lyapunov_function():
    plans, runs = runs_of(equal_hessians(), 0.1, method="scafflix-paper")
    entry = runs["scafflix-paper"]
    np.testing.assert_allclose(entry.promised, plans["scafflix-paper"].settings["eps_Psi"], rtol=1e-15)
    assert 0 < entry.measured <= entry.promised


def test_paths_are_those_of_the_simulator():
    problem = equal_hessians()
    plan = sf.plan(problem, 0.1)
    (fixed, _) = plan.methods("fixed-weights")
    (entry,) = run_methods(problem, plan.constants, [fixed], [], seeds=40, root=3)
    rule = sf.FixedWeights(alpha=torch.from_numpy(fixed.settings["weights"]))
    T = [int(rounds) for rounds in fixed.rounds]
    trace = simulated(
        problem, rule, iterations=max(T), eta=np.array(fixed.settings["eta"]), seeds=40, root=3, grid=range(max(T) + 1)
    )
    at_end = trace.mean()[T, range(4)]
    worst = at_end.argmax()
    np.testing.assert_allclose(entry.measured, at_end[worst], rtol=1e-12)
    np.testing.assert_allclose(entry.error, trace.standard_error()[T[worst], worst], rtol=1e-9)


def test_the_mixed_models_of_logistic_clients_are_found():
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(60, 2)) for _ in range(3)]
    y = [(x @ [1.0, s] + rng.logistic(size=60) > 0).astype(int) for x, s in zip(X, (1, 0.5, -1))]
    problem = sf.from_arrays(X, y, loss="logistic", regularisation=0.2, standardise="none")
    plan = sf.plan(problem, 0.4)
    (scafflix, _) = plan.methods("scafflix", alpha=0.3)
    (entry,) = run_methods(problem, plan.constants, [scafflix], [], seeds=32, root=0)
    assert 0 <= entry.measured <= 0.4
    from suffice.method_runs import _mixed_minimiser

    x = torch.from_numpy(_mixed_minimiser(problem, 0.3))
    gradient = problem.gradient((0.3 * x + 0.7 * problem.optimum)[None])[0].mean(0)
    np.testing.assert_allclose(gradient, 0, atol=1e-8)  # 1e-11 asked of a quasi-Newton method in double precision
    assert network(problem, plan.constants).mixed_solution(np.full(3, 0.3)) is None


def test_what_takes_too_long_is_said_and_not_run():
    problem = equal_hessians()
    plan = sf.plan(problem, 0.1)
    (fixed, _) = plan.methods("fixed-weights")
    (entry,) = run_methods(problem, plan.constants, [replace(fixed, rounds=(1e7,) * 4)], [], seeds=8, root=0)
    assert "10000000 rounds" in entry.skipped
    assert entry.ratio is None
    with pytest.raises(sf.InputError, match=r"^simulate = .*fewer seeds"):
        sf.plan(problem, 1e-2).simulate(seeds=1_000_000)
    assert math.isfinite(sf.plan(problem, 1.0).simulate(seeds=1)[0].together)
