"""Noise that grows with the distance has the variance that it says, and exact moments keep their digits beside it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.simulate import Local, Quadratics, Randomness
from suffice.simulate.moment_maps import origin, probe
from suffice.simulate.moment_powers import ONE_STEP, MomentPowers
from suffice.simulate.problems.growing_noise import GrowingNoise

M, A = 3.0, 0.5
SEEDS = 1 << 16


def problem(H, sigma2, start):
    """Clients with Hessians diag(H), minimisers 0 and W = (M H^2 + A H)^(1/2), whose columns come in another order."""
    H = np.array(H, dtype=float)
    plain = Quadratics.of(np.stack([np.diag(h) for h in H / 2]), 0 * H, sigma2=sigma2, start=start)
    growth = np.stack([np.diag(np.sqrt(M * h**2 + A * h))[::-1] for h in H])
    return GrowingNoise(**vars(plain), growth=torch.from_numpy(growth.copy()))


def test_the_variance_is_what_the_two_constants_say():
    given = problem([[4.0, 1.0], [2.0, 0.5]], 0.25, [[1.0, -2.0], [0.5, 3.0]])
    theta, draw = given.start.expand(SEEDS, -1, -1), given.draw(Randomness(seeds=torch.arange(SEEDS), root=1), 1)
    slope, excess = given.gradient(theta)[0], given.excess(theta)[0]
    expected = 0.25 + M * slope.square().sum(-1) + 2 * A * excess
    gradient = given.stochastic_gradient(theta, None, draw)
    away = (gradient - slope).square().sum(-1)
    np.testing.assert_array_less(abs(away.mean(0) - expected), 5 * away.std(0) / SEEDS**0.5)
    weights, points = given.scenarios()
    few = given.stochastic_gradient(given.start.expand(len(points), -1, -1), None, points)
    np.testing.assert_allclose((weights * (few - slope).square().sum(-1)).sum(0), expected, rtol=1e-13)
    gap, own = given.sampled_gap(theta[:4], draw[:4])
    one = torch.eye(2).expand(4, -1, -1).to(theta)
    np.testing.assert_allclose(given.stochastic_gradient(theta[:4], one, draw[:4]), gradient[:4], rtol=1e-12)
    np.testing.assert_allclose(own, gradient[:4].square().sum(-1), rtol=1e-12)
    assert not gap.diagonal(dim1=1, dim2=2).any()
    assert gap[:, 0, 1].all()
    np.testing.assert_allclose(given.noise_growth()[1], M + A / np.array([1.0, 0.5]), rtol=1e-12)


@pytest.mark.parametrize("sigma2", [0.0, 1e18])
def test_second_moments_are_those_of_the_recursion(sigma2):
    """delta+ = (1 - eta h) delta - eta (noise + z W delta)."""
    h, eta, T = 2.0, 0.1, 400
    factor, level = (1 - eta * h) ** 2 + eta**2 * (M * h**2 + A * h), 9.0
    for _ in range(T):
        level = factor * level + eta**2 * sigma2
    found, _ = MomentPowers(problem([[h]], sigma2, [[3.0]]), Local(), eta=eta, cycle=ONE_STEP).excess(T, 0)
    assert found == pytest.approx(h / 2 * level, rel=1e-12)


def test_only_draws_that_depend_on_the_state_have_a_map_of_their_own():
    given = problem(2 * [[4.0, 1.0, 2.0], [2.0, 0.5, 1.0]], 0.25, 2 * [[1.0, -2.0, 0.0], [0.5, 3.0, 1.0]])
    centre = origin(given, Local())[1]
    maps = probe(given, Local(), centre, torch.tensor(0.1, dtype=torch.float64), 1)
    assert maps.weights.shape == (2 * given.clients,)  # z = 1 and z = -1
    assert float(maps.noise.trace()) == pytest.approx(4 * 0.1**2 * 0.25, rel=1e-12)
