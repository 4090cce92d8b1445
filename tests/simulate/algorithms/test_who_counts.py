"""Who counts: in FedAvg's rounds, among Metropolis neighbours, in IFCA's clusters, near by in federated clustering."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import CLUSTERS, D, N, built, randomness

from suffice.simulate import IFCA, FedAvg, FederatedClustering, Quadratics, Randomness
from suffice.simulate.algorithms import GradientTracking

LABELS = torch.tensor(CLUSTERS)
LINE = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 3)]


def test_sampling_is_uniform_constant_within_a_round_and_fresh_in_the_next():
    problem, many = built(), Randomness(seeds=torch.arange(8000))
    rule = FedAvg(period=3, participants=2, clusters=LABELS)
    masks = [rule.draw(problem, many, t).extra["participants"] for t in range(1, 7)]
    assert torch.equal(masks[0], masks[1])
    assert torch.equal(masks[0], masks[2])
    assert torch.equal(masks[3], masks[5])
    agree = (masks[2] == masks[3]).all(-1).double().mean()  # clusters of 4 and 2: one in six, and always
    assert abs(float(agree) - 1 / 6) < 6 * (5 / 36 / 8000) ** 0.5
    for members in ([0, 2, 4, 5], [1, 3]):
        assert (masks[0][:, members].sum(-1) == 2).all()
    pairs = (masks[0].double().T @ masks[0].double() / 8000).numpy()
    inside = [0, 2, 4, 5]
    spread = 6 * (1 / 4 / 8000) ** 0.5
    assert np.abs(np.diag(pairs)[inside] - 1 / 2).max() < spread
    assert np.abs(pairs[np.ix_(inside, inside)][~np.eye(4, dtype=bool)] - 1 / 6).max() < spread
    assert np.abs(pairs[np.ix_(inside, [1, 3])] - 1 / 2).max() < spread  # clusters are drawn independently


def test_metropolis_weights_are_symmetric_and_only_between_neighbours():
    W = GradientTracking.graph(N, LINE).W
    torch.testing.assert_close(W, W.T)
    torch.testing.assert_close(W.sum(1), torch.ones(N, dtype=torch.float64))
    edges = {(min(i, k), max(i, k)) for i, k in W.triu(1).nonzero().tolist()}
    assert edges == {(min(edge), max(edge)) for edge in LINE}
    assert W[0, 1] == 1 / 3  # degrees 2 and 2


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


def test_weights_are_convex_and_give_the_step():
    problem, rule = built(), FederatedClustering(rounds=3)
    theta = problem.start[None]
    draw = rule.draw(problem, randomness(4), 1)
    weights = rule.collaboration(problem, {"models": theta}, draw)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-14)
    moved = rule.step(problem, {"models": theta}, draw, torch.tensor(0.1, dtype=torch.float64))["models"]
    np.testing.assert_allclose(moved, theta - 0.1 * problem.stochastic_gradient(theta, weights, draw.noise), rtol=1e-14)


@pytest.mark.parametrize(("fraction", "near"), [(1e-9, 1), (0.2, 1), (0.21, 2), (0.4, 2), (0.8, 4), (1.0, 5)])
def test_the_nearest_gradients_count_in_one_round(fraction, near):
    problem, rule = built(5), FederatedClustering(fraction=fraction, rounds=1)
    theta = problem.start[None]
    draw = rule.draw(problem, randomness(1), 1)
    assert ((rule.collaboration(problem, {"models": theta}, draw) > 0).sum(-1) == near).all()


def test_a_share_that_rounding_lifts_above_a_whole_number_is_that_number():
    assert 0.14 * 50 > 7  # as rounded; the seventh nearest is meant
    xi = np.arange(50.0)[:, None] ** 2
    problem, rule = (
        Quadratics.of(np.full((50, 1, 1), 0.5), xi, sigma2=0.0),
        FederatedClustering(fraction=0.14, rounds=1),
    )
    draw = rule.draw(problem, randomness(1), 1)
    assert ((rule.collaboration(problem, {"models": problem.start[None]}, draw) > 0).sum(-1) == 7).all()
