"""The law of steps in dimension 1: digits known beforehand, the probing engine, and simulation."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from one_step import expected_step

from suffice.bounds import Binary, Continuous, evaluate, find
from suffice.simulate import AllForOne, Quadratics, run
from suffice.verification.instances.quadrature_1d import Line, counterexample


def as_problem(line: Line) -> Quadratics:
    return Quadratics.of(line.h[:, None, None], line.xi[:, None], sigma2=line.sigma2, start=[line.theta0])


def mixed(criterion) -> Line:
    """Six clients with different curvatures, optima and variances; e_1 falls on both sides of 0.15."""
    return Line(
        h=np.array([0.5, 0.6, 0.45, 0.5, 0.8, 0.3]),
        xi=np.array([0.0, -0.1, 0.15, 0.3, 0.0, 0.05]),
        sigma2=np.array([1.0, 0.5, 2.0, 0.2, 1.5, 1.0]),
        criterion=criterion,
        eta=0.6,
        theta0=1.2,
    )


def test_counterexample_has_the_digits_known_beforehand():
    line, arguments = counterexample()
    (e0, _), (e1, _), (e2, running) = islice(line.law(arguments["eps"]), 3)
    assert e0 == arguments["e0"]
    assert abs(e1 - 0.00479) < 0.000005  # half a unit of the last printed digit, in all of these
    assert abs(e2 - 0.19685) < 0.000005
    assert abs(running - 0.00168) < 0.000005
    assert abs(arguments["s2"] - 0.01169) < 0.000005
    assert abs(arguments["q"] - (0.9 + 0.1 / 100)) < 1e-15
    names = {p.name for p in find("adaptive/theorem-2-constant", "printed").parameters}
    bound = evaluate(find("adaptive/theorem-2-constant", "printed"), **{k: arguments[k] for k in names})
    assert abs(bound - 0.00546) < 0.000005


def test_the_integral_does_not_change_with_the_grid():
    for line in (counterexample()[0], mixed(Binary(threshold=0.7))):
        few, many = (np.array(list(islice(line.law(0.15, panels), 5))) for panels in (70, 140))
        np.testing.assert_allclose(few, many, rtol=1e-9)


@pytest.mark.parametrize("line", [counterexample()[0], mixed(Binary(threshold=0.7)), mixed(Continuous())])
def test_expected_step_agrees_with_probing_the_simulator(line):
    theta = np.array([-1.7, -0.05, 0.03, 0.0632, 0.2, 2.0])
    models = torch.zeros(len(theta), len(line.h), 1, dtype=torch.float64)
    models[:, 0, 0] = torch.from_numpy(theta)
    models[:, 1:] = 0.7  # the other models are not looked at
    problem, rule = as_problem(line), AllForOne(criterion=line.criterion)
    # one start at a time: arrays of 6 times 100^2 numbers are paged in anew at each step, which takes 19 s, not 1 s
    probed = [expected_step(problem, rule, models[at : at + 1], line.eta)[0, 0] for at in range(len(models))]
    np.testing.assert_allclose(line.expected_step(theta), probed, rtol=1e-12)


@pytest.mark.parametrize("criterion", [Binary(threshold=0.7), Continuous()], ids=["binary", "continuous"])
def test_steps_agree_with_simulated_paths(criterion):
    line, eps = mixed(criterion), 0.15
    e = run(as_problem(line), AllForOne(criterion=criterion), iterations=3, eta=line.eta, seeds=100_000).excess[..., 0]
    runs = np.cumprod(e >= eps, axis=1)
    assert 0.1 < runs[:, 1].mean() < 0.9  # both branches matter
    for t, (mean, running) in enumerate(islice(line.law(eps), 4)):
        for found, draws in ((mean, e[:, t]), (running, e[:, t] * (runs[:, t - 1] if t else 1))):
            z = (draws.mean() - found) / max(draws.std() / np.sqrt(len(draws)), 1e-12)
            assert abs(z) < 6, t  # 8 comparisons, twice: false alarm 3e-8
    assert [running for _, running in islice(line.law(10.0), 3)][1:] == [0, 0]  # e_0 < eps: tau = 0
