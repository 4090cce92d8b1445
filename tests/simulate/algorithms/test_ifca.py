"""IFCA: clusters that are found, and equal centres."""

from __future__ import annotations

import numpy as np
import torch
from paths import D, N, built, randomness

from suffice.simulate import IFCA, Quadratics


def test_separated_clusters_are_found_and_each_centre_moves_by_its_own_clients():
    """Gradients 2 (x - optimum): C_m <- C_m - (2 eta / N) sum over its clients; the fixed point is their mean."""
    optimum = np.array([[0.0], [0.2], [10.0], [10.2], [10.4], [-9.0]])
    problem = Quadratics.of(np.ones((6, 1, 1)), -optimum, sigma2=0.0)
    rule = IFCA(offsets=torch.tensor([[1.0], [7.0], [-5.0]], dtype=torch.float64))
    state = rule.init(problem, problem.start[None])
    draw = rule.draw(problem, randomness(0), 1)
    step = torch.tensor(0.5, dtype=torch.float64)
    once = rule.step(problem, state, draw, step)["centres"][0, :, 0]
    np.testing.assert_allclose(once, [1 - 1.8 / 6, 7 + 9.6 / 6, -5 - 4 / 6], rtol=1e-14)
    for _ in range(300):
        state = rule.step(problem, state, draw, step)
    np.testing.assert_allclose(state["models"][0, :, 0], [0.1, 0.1, 10.2, 10.2, 10.2, -9], rtol=1e-12)
    weights = rule.collaboration(problem, state, draw)[0].numpy()
    same = np.array([0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(weights, (same[:, None] == same) / 6)


def test_equal_centres_keep_everybody_together():
    """A tie goes to the first centre, which alone moves away from the others; worse ones are never chosen again."""
    problem = built()
    same = IFCA(offsets=torch.zeros(3, D, dtype=torch.float64))
    chosen = same.init(problem, problem.start[None])["chosen"][0]
    np.testing.assert_array_equal(chosen, np.eye(3)[np.zeros(N, dtype=int)])
