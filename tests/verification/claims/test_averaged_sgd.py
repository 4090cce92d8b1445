"""Averaged iterates: what the claim measures is the mean of simulated paths."""

from __future__ import annotations

import numpy as np
import torch

from suffice.simulate import Local, Quadratics, Randomness
from suffice.verification.claims import averaged_sgd


def test_the_measured_excess_is_that_of_simulated_means():
    values = {
        "curvature": np.array([[0.5, 2.0]]),
        "sigma2": np.array([3.0]),
        "far": np.array([1.0]),
        "direction": np.array([[1.0, -2.0]]),
        "step": np.array([0.6]),
        "T": np.array([7.0]),
    }
    expected = averaged_sgd.averaged().evidence(values).measured[0]
    problem = Quadratics.of(np.diag([0.25, 1.0])[None], np.zeros((1, 2)), sigma2=3.0, start=[1.0, -2.0])
    source = Randomness(seeds=torch.arange(20_000), root=2)
    state, rule, eta = {"models": problem.start.expand(20_000, -1, -1)}, Local(), torch.tensor(0.3, dtype=torch.float64)
    total = state["models"].clone()
    for t in range(1, 8):
        state = rule.step(problem, state, rule.draw(problem, source, t), eta)
        total = total + state["models"]
    excess = problem.excess(total / 8)[:, 0].numpy()
    assert abs(excess.mean() - expected) < 5 * excess.std() / np.sqrt(len(excess))  # five standard errors
