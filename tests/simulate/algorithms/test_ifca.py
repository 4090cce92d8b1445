"""IFCA: alternating between choosing a cluster model and improving it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import D, N, assert_follows, built, parts, randomness

from suffice.simulate import IFCA, Quadratics

CENTRES = np.random.default_rng(33).normal(size=(3, D))
RULE = IFCA(offsets=torch.from_numpy(CENTRES - parts()[3].mean(0)))


def ifca(eta, choices: list):
    A, xi, _, _ = parts()
    eta = np.broadcast_to(eta, N)

    def best(i, centres):
        return int(np.argmin([(C + xi[i]) @ A[i] @ (C + xi[i]) for C in centres]))

    def path(seed, g, start):
        centres, t = CENTRES.copy(), 0
        while True:
            chosen = [best(i, centres) for i in range(N)]
            choices.append(chosen)
            yield centres[chosen]
            t += 1
            after = centres.copy()
            for i, m in enumerate(chosen):
                after[m] -= eta[i] / N * g(i, centres[m], t)
            centres = after

    return path


@pytest.mark.parametrize("eta", [0.3, np.linspace(0.1, 0.5, N)], ids=["number", "per client"])
def test_paths_are_those_of_a_plain_transcription(eta):
    choices: list[list[int]] = []
    assert_follows(RULE, ifca(eta, choices), eta=eta)
    assert len({tuple(c) for c in choices}) > 2  # somebody changed cluster
    assert all(len(set(c)) > 1 for c in choices)


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
