"""Every problem: gradients, oracle, scenarios and stated constants hang together, and its assumptions hold or fail."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from suffice.bounds import Constants, GradientDissimilarity, InputError, QuadraticCertificate
from suffice.simulate import (
    LeastSquares,
    Logistic,
    Quadratics,
    Randomness,
    Ripple,
    Separable,
    Stream,
    StreamingLeastSquares,
    Well,
)
from suffice.simulate.problem import Problem

N, D, S = 3, 2, 4
RNG = np.random.default_rng(60)
ROOT = RNG.normal(size=(N, D, D))
SPD = np.eye(D) * 0.4 + 0.3 * ROOT @ ROOT.transpose(0, 2, 1)
POINTS = RNG.normal(size=(N, D))
ROWS = [RNG.normal(size=(n, D)) for n in (5, 9, 6)]
TARGETS = [x @ np.ones(D) + RNG.normal(size=len(x)) for x in ROWS]
SIGNS = [np.array([0, 1, 1, 0, 1]), np.array([0, 1] * 4 + [1]), np.array([1, 0, 0, 1, 1, 0])]
START = 1 + RNG.normal(size=(N, D))
SIGMA2 = [0.5, 1.0, 2.0]
SCALE = [[1.0, 0.5], [2.0, 0.7], [0.6, 1.5]]

# Name and how to build it, with N = 3 clients; append yours.
EXAMPLES: list[tuple[str, Callable[[], Problem]]] = [
    ("quadratics", lambda: Quadratics.of(SPD, POINTS, covariance=SPD[::-1].copy(), start=START)),
    ("equal quadratics", lambda: Quadratics.of(SPD[:1].repeat(N, 0), POINTS, sigma2=SIGMA2)),
    ("least squares", lambda: LeastSquares.of(ROWS, TARGETS, start=START)),
    ("ridge", lambda: LeastSquares.of(ROWS, TARGETS, regularisation=0.8, batch=3)),
    ("streaming", lambda: StreamingLeastSquares.of(SPD, POINTS, start=START)),
    ("label noise", lambda: StreamingLeastSquares.of(SPD, POINTS, label_noise=SIGMA2, batch=2)),
    ("bias", lambda: StreamingLeastSquares.of(SPD[:, :1, :1], POINTS, label_noise=0.3, bias=True, start=START)),
    ("pairwise", lambda: StreamingLeastSquares.of(SPD, POINTS, label_noise=0.3, batch=2, pairwise=True)),
    ("equal streams", lambda: StreamingLeastSquares.of(SPD[0], POINTS)),
    ("logistic", lambda: Logistic.of(ROWS, SIGNS, regularisation=0.1)),
    ("logistic free", lambda: Logistic.of([ROWS[1]] * N, [SIGNS[1]] * N, batch=2, start=START)),
    ("ripple", lambda: Separable.of(Ripple(), POINTS, scale=SCALE, sigma2=SIGMA2, start=START)),
    ("equal ripples", lambda: Separable.of(Ripple(1.5), POINTS, sigma2=SIGMA2)),
    ("well", lambda: Separable.of(Well(), POINTS, scale=SCALE, sigma2=SIGMA2)),
]
BUILT = {name: build() for name, build in EXAMPLES}


@pytest.fixture(params=list(BUILT))
def problem(request: pytest.FixtureRequest) -> Problem:
    return BUILT[request.param]


def models(problem: Problem, count: int = S, scale: float = 1.0) -> Tensor:
    return torch.from_numpy(scale * np.random.default_rng(61).normal(size=(count, N, problem.features)))


def draw(problem: Problem, count: int = S, **more) -> Tensor:
    return problem.draw(Randomness(seeds=torch.arange(count), root=5), 1, **more)


def peers(problem: Problem, theta: Tensor) -> Tensor:
    """grad R_k(theta_i) as [s, i, k], one slot at a time."""
    result = torch.empty(len(theta), N, N, problem.features, dtype=theta.dtype)
    for i in range(N):
        result[:, i] = problem.gradient(theta[:, i : i + 1].expand(-1, N, -1))
    return result


def sampled(problem: Problem, theta: Tensor, noise: Tensor) -> Tensor:
    """Client k's stochastic gradient at model i, [s, i, k]."""
    return problem.peer_gradient(theta[:, :, None].expand(-1, -1, N, -1), noise)


def variance(problem: Problem, points: Tensor) -> Tensor:
    exact = getattr(problem, "variance", None)
    return exact(points) if exact else problem.sigma2.expand(len(points), -1)


def test_gradient_is_the_derivative_of_an_excess_that_vanishes_at_the_optimum(problem: Problem):
    theta = models(problem).requires_grad_()
    (derivative,) = torch.autograd.grad(problem.excess(theta).sum(), theta)
    np.testing.assert_allclose(problem.gradient(theta.detach()), derivative, rtol=1e-10, atol=1e-12)
    assert problem.excess(theta.detach()).min() > 0
    at = problem.optimum[None]
    assert problem.excess(at).abs().max() == 0
    assert problem.gradient(at).abs().max() < 1e-14


def test_gaps_are_those_of_gradients_taken_one_by_one(problem: Problem):
    theta = models(problem)
    gradient = peers(problem, theta)
    own = gradient.diagonal(dim1=1, dim2=2).transpose(1, 2)
    np.testing.assert_allclose(own, problem.gradient(theta), rtol=1e-12, atol=1e-14)
    expected = ((gradient - own[:, :, None]) ** 2).sum(-1)
    np.testing.assert_allclose(problem.gradient_gap(theta), expected, rtol=1e-11, atol=1e-26)


def test_sums_and_sampled_gaps_are_those_of_the_pairs_stochastic_gradients(problem: Problem):
    theta, noise = models(problem), draw(problem)
    assert noise.shape[:3] == (S, N, problem.batch)
    gradient = sampled(problem, theta, noise)
    weights = torch.from_numpy(np.random.default_rng(62).uniform(size=(S, N, N)))
    own = gradient.diagonal(dim1=1, dim2=2).transpose(1, 2)
    np.testing.assert_allclose(problem.stochastic_gradient(theta, None, noise), own, rtol=1e-11, atol=1e-13)
    mixed = torch.einsum("sik,sikd->sid", weights, gradient)
    np.testing.assert_allclose(problem.stochastic_gradient(theta, weights, noise), mixed, rtol=1e-11, atol=1e-13)
    gap, norm = problem.sampled_gap(theta, noise)
    np.testing.assert_allclose(norm, (own**2).sum(-1), rtol=1e-11)
    np.testing.assert_allclose(gap, ((gradient - own[:, :, None]) ** 2).sum(-1), rtol=1e-10, atol=1e-13)
    assert not gap.diagonal(dim1=1, dim2=2).any()
    single = sum(sampled(problem, theta, noise[:, :, j : j + 1]) for j in range(problem.batch))
    np.testing.assert_allclose(gradient, single / problem.batch, rtol=1e-11, atol=1e-13)


def test_peers_may_be_asked_at_different_points(problem: Problem):
    noise = draw(problem)
    theta = torch.from_numpy(np.random.default_rng(63).normal(size=(S, N, N, problem.features)))
    got = problem.peer_gradient(theta, noise)
    for k in range(N):  # put client k's points into every slot: its own column must not notice
        again = problem.peer_gradient(theta[:, :, k : k + 1].expand(-1, -1, N, -1), noise)
        np.testing.assert_allclose(got[:, :, k], again[:, :, k], rtol=1e-12, atol=1e-14)


def test_models_need_not_be_personal(problem: Problem):
    if getattr(problem, "pairwise", False):
        pytest.skip("pairwise samples belong to personal models")
    theta, noise = models(problem), draw(problem)
    weights = torch.from_numpy(np.random.default_rng(64).uniform(size=(S, 5, N)))
    many = torch.cat((theta, theta.flip(1)), dim=1)[:, :5]
    gradient = problem.stochastic_gradient(many, weights, noise)
    assert gradient.shape == (S, 5, problem.features)
    for p in range(5):
        alone = sampled(problem, many[:, p : p + 1].expand(-1, N, -1), noise)[:, 0]
        expected = torch.einsum("sk,skd->sd", weights[:, p], alone)
        np.testing.assert_allclose(gradient[:, p], expected, rtol=1e-10, atol=1e-12)
        single = problem.stochastic_gradient(many[:, p : p + 1], weights[:, p : p + 1], noise)
        np.testing.assert_allclose(single[:, 0], expected, rtol=1e-10, atol=1e-12)


def test_scenarios_have_the_mean_and_the_variance_of_the_oracle(problem: Problem):
    weights, noise = problem.scenarios()
    assert weights.shape == noise.shape[:2]
    assert noise.shape[2] == 1
    np.testing.assert_allclose(weights.sum(0), 1, rtol=1e-13)
    theta = models(problem, 1)
    gradient = sampled(problem, theta.expand(len(noise), -1, -1), noise)  # (J, N, N, d)
    mean = torch.einsum("jk,jikd->ikd", weights, gradient)
    np.testing.assert_allclose(mean, peers(problem, theta)[0], rtol=1e-10, atol=1e-12)
    spread = torch.einsum("jk,jik->ik", weights, ((gradient - mean) ** 2).sum(-1)) / problem.batch
    np.testing.assert_allclose(spread, variance(problem, theta[0]), rtol=1e-9, atol=1e-12)


def test_draws_have_the_mean_and_the_variance_of_the_oracle(problem: Problem):
    count, theta = 4000, models(problem, 1)
    noise = draw(problem, count)
    expected = peers(problem, theta)[0]
    deviation = sampled(problem, theta.expand(count, -1, -1), noise) - expected
    # 18 means and 9 variances per problem, 16 problems: 6.5 standard errors leave 3e-8 of false alarms
    error = deviation.std(0) / np.sqrt(count)
    assert (deviation.mean(0).abs() < 6.5 * error).all()
    square = (deviation**2).sum(-1)
    off = (square.mean(0) - variance(problem, theta[0])).abs()
    assert (off <= 6.5 * square.std(0) / np.sqrt(count) + 1e-12).all()


def test_clients_draw_independently(problem: Problem):
    count = 4000
    theta = models(problem, 1).expand(count, -1, -1)
    noise = problem.stochastic_gradient(theta, None, draw(problem, count)).numpy()
    # each client along the axis where it varies
    series = np.stack([noise[:, k, np.argmax(noise[:, k].std(0))] for k in range(N)])
    correlation = np.abs(np.corrcoef(series)[np.triu_indices(N, 1)])
    assert correlation.max() < 6.5 / np.sqrt(count)


def test_streams_and_iterations_do_not_share_draws(problem: Problem):
    randomness = Randomness(seeds=torch.arange(50))
    draws = [problem.draw(randomness, t, stream=stream) for t in (1, 2) for stream in (Stream.NOISE, Stream.SIMILARITY)]
    assert all(not torch.equal(one, two) for i, one in enumerate(draws) for two in draws[:i])
    assert torch.equal(draws[0], problem.draw(randomness, 1))
    larger = problem.draw(randomness, 1, batch=7)
    assert larger.shape[2] == 7


def known(problem: Problem) -> Constants | None:
    """None where there is no mu."""
    with contextlib.suppress(InputError):
        return problem.constants()
    return None


def stated(problem: Problem) -> GradientDissimilarity | QuadraticCertificate:
    described = getattr(problem, "heterogeneity", None)
    return described() if described else problem.constants().heterogeneity


def test_what_constants_say_of_all_models_holds_far_away(problem: Problem):
    constants, apart = known(problem), stated(problem)
    far = models(problem, 400, 3.0)
    norm = (problem.gradient(far) ** 2).sum(-1)
    beta = getattr(problem, "smoothness", None) if constants is None else torch.from_numpy(constants.beta)
    if constants is not None:
        mu = torch.from_numpy(constants.mu)
        assert (norm >= 2 * mu * problem.excess(far) * (1 - 1e-12)).all()
        if not isinstance(problem, Separable):  # strongly convex
            assert (problem.excess(far) >= mu / 2 * ((far - problem.optimum) ** 2).sum(-1) * (1 - 1e-12)).all()
    moved = far + 0.3 * models(problem, 400).flip(0)
    change = ((problem.gradient(moved) - problem.gradient(far)) ** 2).sum(-1)
    assert (change <= beta**2 * ((moved - far) ** 2).sum(-1) * (1 + 1e-12)).all()
    # far away the variance exceeds any number exactly where noise is said to grow, and so do gaps
    noisy = variance(problem, 1e3 * far[:, 0]) > problem.sigma2 * (1 + 1e-12)
    assert bool(noisy.any()) is bool(problem.noise_growth()[1].any())
    bounded = bool((problem.gradient_gap(1e6 * far) <= 1e3).all())
    uniform = not apart.c.any() if isinstance(apart, GradientDissimilarity) else np.isfinite(apart.uniform).all()
    assert bounded is bool(uniform)


def test_stated_heterogeneity_holds_everywhere(problem: Problem):
    found = stated(problem)
    for scale in (0.3, 2.0, 30.0):
        theta = models(problem, 300, scale)
        gap, norm = problem.gradient_gap(theta).numpy(), (problem.gradient(theta) ** 2).sum(-1).numpy()
        if isinstance(found, GradientDissimilarity):
            assert (gap <= (found.b2 + found.c * norm[..., None]) * (1 + 1e-10) + 1e-25).all()
        else:
            assert isinstance(found, QuadraticCertificate)
            ratio = np.maximum(1 - gap / norm[..., None], 0)
            assert (found.similarity(norm) <= ratio + 1e-9).all()


def test_single_precision_computes_the_same(problem: Problem):
    half = problem.to(torch.float32)
    assert half.dtype == torch.float32
    assert half.names == problem.names
    theta, noise = models(problem), draw(problem)
    other = noise if noise.dtype == torch.int64 else noise.float()
    for name in ("excess", "gradient", "gradient_gap"):
        got = getattr(half, name)(theta.float())
        assert got.dtype == torch.float32
        np.testing.assert_allclose(got, getattr(problem, name)(theta), rtol=2e-5, atol=2e-5)
    got = half.stochastic_gradient(theta.float(), None, other)
    np.testing.assert_allclose(got, problem.stochastic_gradient(theta, None, noise), rtol=2e-5, atol=2e-5)
    drawn = draw(half)
    assert drawn.dtype == other.dtype
    np.testing.assert_allclose(drawn, noise, rtol=1e-5, atol=1e-5)
    assert half.sigma2.dtype == half.optimum.dtype == half.start.dtype == torch.float32


def test_the_noise_grows_no_faster_than_stated(problem: Problem):
    floor, factor = problem.noise_growth()
    assert floor.shape == factor.shape == (N,)
    for scale in (0.1, 1.0, 30.0, 1e3):
        theta = models(problem, 300, scale)
        for k in range(N):
            spread = variance(problem, theta[:, k])[:, k].numpy()
            norm = (problem.gradient(theta)[:, k] ** 2).sum(-1).numpy()
            assert (spread <= (floor[k] + factor[k] * norm) * (1 + 1e-9)).all()


def test_expected_smoothness_holds_where_it_is_stated(problem: Problem):
    at = torch.from_numpy(np.random.default_rng(66).normal(size=(N, problem.features)))
    constants = known(problem)
    if constants is None or problem.noise_growth()[1].any() or isinstance(problem, Separable):
        return  # of bounded noise and convex losses alone
    A, C = constants.beta, constants.sigma2
    value, slope = problem.excess(at[None])[0], problem.gradient(at[None])[0]
    for scale in (0.1, 1.0, 30.0):
        theta = at + models(problem, 300, scale)
        gradient = problem.gradient(theta)
        divergence = problem.excess(theta) - value - (slope * (theta - at)).sum(-1)
        spread = torch.stack([variance(problem, theta[:, k])[:, k] for k in range(N)], dim=1)
        deviation = ((gradient - slope) ** 2).sum(-1) + spread
        bound = 2 * A * divergence.numpy() + C
        assert (deviation.numpy() <= bound * (1 + 1e-9) + 1e-12).all()


def test_what_is_known_of_the_constants_is_said(problem: Problem):
    trust, *regions = problem.certainty()
    assert trust in ("exact", "certified")
    assert all(regions)
