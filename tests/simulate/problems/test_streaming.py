"""Streaming least squares: noise and constants in closed form, exact moments by cubature, the laws of draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import Randomness, StreamingLeastSquares
from suffice.simulate.problems.cubature import gaussian_cubature

N, D = 3, 2
RNG = np.random.default_rng(70)
ROOT = RNG.normal(size=(N, D, D))
H = 0.3 * np.eye(D) + ROOT @ ROOT.transpose(0, 2, 1)
THETA = RNG.normal(size=(N, D))
ALPHA = torch.from_numpy(RNG.uniform(0.1, 0.5, (N, N)))


def built(**more) -> StreamingLeastSquares:
    return StreamingLeastSquares.of(H, THETA, **({"label_noise": [0.5, 0.0, 1.5]} | more))


def test_cubature_integrates_every_monomial_of_degree_five_exactly():
    for n in (1, 2, 3, 6):
        points, weights = gaussian_cubature(n)
        assert len(points) == 2 * n * n + 1
        for powers in np.ndindex(*[6] * n) if n < 4 else [(4, 0, 0, 0, 0, 0), (2, 0, 2, 0, 0, 0), (1, 2, 1, 0, 1, 0)]:
            if sum(powers) > 5:
                continue
            moment = np.prod([{0: 1, 2: 1, 4: 3}.get(p, 0) for p in powers])
            got = (weights * (points ** np.array(powers)).prod(1)).sum()
            np.testing.assert_allclose(got, moment, rtol=1e-12, atol=1e-12)
    points, weights = gaussian_cubature(2)
    assert abs((weights * points[:, 0] ** 6).sum() - 15) > 1  # degree 6 is beyond it


def test_noise_growth_is_the_sharp_pair():
    for problem in (built(batch=3), StreamingLeastSquares.of(H[:, :1, :1], THETA, label_noise=0.2, bias=True)):
        sigma2, M = problem.noise_growth()
        far = problem.optimum.mean(0) + 50 * torch.from_numpy(np.random.default_rng(72).normal(size=(4000, D)))
        square = (problem.gradient(far[:, None].expand(-1, N, -1)) ** 2).sum(-1)
        ratio = (problem.variance(far).numpy() - sigma2) / square.numpy()
        assert (ratio <= M * (1 + 1e-12)).all()
        assert (ratio.max(0) > 0.999 * M).all()
    np.testing.assert_allclose(
        built().noise_growth()[1], 1 + np.trace(H, axis1=1, axis2=2) / np.linalg.eigvalsh(H)[:, 0]
    )


def test_constants_are_those_of_the_population_and_of_the_hull():
    problem = built(start=[[3.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    constants, eigenvalues = problem.constants(), np.linalg.eigvalsh(H)
    np.testing.assert_allclose(constants.mu, 2 * eigenvalues[:, 0], rtol=1e-12)
    np.testing.assert_allclose(constants.beta, 2 * eigenvalues[:, -1], rtol=1e-12)
    vertices = torch.cat((problem.start, problem.optimum))
    np.testing.assert_allclose(constants.sigma2, problem.variance(vertices).max(0).values, rtol=1e-12)
    mix = torch.from_numpy(np.random.default_rng(73).dirichlet(np.full(2 * N, 0.3), 500)) @ vertices
    assert (problem.variance(mix) <= problem.sigma2 * (1 + 1e-12)).all()


# --- exact moments


def test_pairwise_samples_leave_the_models_uncorrelated():
    """One shared sample of client k moves two models together; pairs' own samples do not."""
    correlation = {}
    for pairwise in (False, True):
        problem = StreamingLeastSquares.of(H[:2], THETA[:2], label_noise=0.5, pairwise=pairwise)
        weights, draws = problem.scenarios()
        theta = torch.from_numpy(THETA[:2] + 1)[None].expand(len(draws), -1, -1)
        gradient = problem.peer_gradient(theta[:, :, None].expand(-1, -1, 2, -1), draws)
        gap = gradient - torch.einsum("jk,jikd->ikd", weights, gradient)
        cross = torch.einsum("jk,jkd,jke->kde", weights, gap[:, 0], gap[:, 1])
        correlation[pairwise] = cross.abs().max().item()
    assert correlation[True] < 1e-11
    assert correlation[False] > 0.1


# --- draws


def test_features_and_label_noise_follow_their_laws():
    problem = built(batch=2)
    S = 20000
    draw = problem.draw(Randomness(seeds=torch.arange(S)), 3).numpy()
    for k, s in enumerate((0.5, 0.0, 1.5)):
        full = np.zeros((D + 1, D + 1))
        full[:D, :D], full[D, D] = H[k], s**2
        for j in range(2):
            sample = draw[:, k, j]
            spread = np.sqrt((np.outer(np.diag(full), np.diag(full)) + full**2) / S) + 1e-300
            assert np.abs((sample.T @ sample / S - full) / spread).max() < 6
        assert np.abs(np.corrcoef(draw[:, k, 0, :D].T, draw[:, k, 1, :D].T)[:D, D:]).max() < 6 / np.sqrt(S)


def test_no_digits_are_lost_near_a_shared_optimum():
    shared = np.tile([[3.7, -2.9]], (N, 1))
    problem = StreamingLeastSquares.of(H, shared)
    draw = problem.draw(Randomness(seeds=torch.arange(1)), 1)
    theta = torch.from_numpy(shared[None] + 1e-9 * np.random.default_rng(76).normal(size=(1, N, D)))
    got = problem.stochastic_gradient(theta, ALPHA[None], draw)[0].numpy()
    F = np.vectorize(Fraction, otypes=[object])
    x, delta, alpha = F(draw[0, :, 0, :D].numpy()), F(theta[0].numpy()) - F(shared), F(ALPHA.numpy())
    for i in range(N):
        expected = sum(2 * alpha[i, k] * x[k] * (x[k] @ delta[i]) for k in range(N))
        np.testing.assert_allclose(got[i], expected.astype(float), rtol=1e-12, atol=1e-22)


def test_a_client_at_its_optimum_without_label_noise_has_no_noise_level():
    problem = StreamingLeastSquares.of(H[:1], np.zeros((1, D)), names=("oslo",))
    with pytest.raises(InputError, match="gradient variance of client oslo"):
        problem.constants()
