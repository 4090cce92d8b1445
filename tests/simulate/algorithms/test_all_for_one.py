"""All-for-one: paths against a plain transcription, the laws of the similarity estimates, schedules, participation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from suffice.bounds import Binary, Continuous, Custom, InputError, Sharp
from suffice.bounds.similarity_estimator import debiased_estimate, similarity_estimate
from suffice.simulate import (
    AllForOne,
    DebiasedSimilarity,
    Every,
    ExactSimilarity,
    FixedWeights,
    Local,
    Logarithmic,
    Quadratics,
    Randomness,
    ReleasedSimilarity,
    SampledSimilarity,
    expected_step,
    run,
)
from suffice.simulate.problems.streaming import StreamingLeastSquares

N, D, T, S = 5, 3, 9, 3
ETA = np.array([0.1, 0.05, 0.12, 0.08, 0.1])


def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A close to a common matrix, close optima: similarities on both sides of thresholds."""
    rng = np.random.default_rng(50)
    root = rng.normal(size=(N, D, D))
    A = np.eye(D) + 0.05 * (root + root.transpose(0, 2, 1))
    return A, 0.5 * rng.normal(size=(N, D)), rng.uniform(0.1, 0.4, N), 1.5 + rng.normal(size=(N, D))


def built() -> Quadratics:
    A, xi, sigma2, start = parts()
    return Quadratics.of(A, xi, sigma2=sigma2, start=start)


RULES = {
    "sharp": AllForOne(criterion=Sharp()),
    "custom normalised": AllForOne(criterion=Custom(function=lambda x: x**2), normalised=True),
    "sampled": AllForOne(criterion=Continuous(), similarity=SampledSimilarity(samples=4)),
    "debiased": AllForOne(criterion=Binary(threshold=0.4), similarity=DebiasedSimilarity(samples=3)),
    "released binary": AllForOne.released(binary=True),
    "released continuous": AllForOne.released(binary=False),
    "every third": AllForOne(criterion=Continuous(), refresh=Every(steps=3)),
    "logarithmic sampled": AllForOne(
        criterion=Continuous(), similarity=SampledSimilarity(samples=2), refresh=Logarithmic(), sigma2=1.0
    ),
    "partial": AllForOne(criterion=Continuous(), participation=0.6),
    "partial every other": AllForOne(
        criterion=Binary(threshold=0.3), refresh=Every(steps=2), participation=torch.linspace(0.4, 1, N)
    ),
}


def phi(rule: AllForOne, r: np.ndarray) -> np.ndarray:
    kind = rule.criterion.kind
    if isinstance(rule.criterion, Binary):
        threshold = rule.criterion.threshold
        return threshold * (r >= threshold)
    return {"continuous": r, "sharp": 1 - np.sqrt(1 - r), "custom": r**2}[kind]


def ratios(rule: AllForOne, i: int, means: np.ndarray, samples: np.ndarray | None) -> np.ndarray:
    """r_ik for all k from population gradients (N, D) at model i and, for estimates, m samples of noise (N, m, D)."""
    r = np.empty(N)
    for k in range(N):
        if isinstance(rule.similarity, ExactSimilarity):
            r[k] = 1 - np.sum((means[k] - means[i]) ** 2) / np.sum(means[i] ** 2)
            continue
        assert samples is not None
        own, other = means[i] + samples[i], means[k] + samples[k]  # (m, D)
        difference, m = own - other, len(own)
        if isinstance(rule.similarity, SampledSimilarity):
            r[k] = 1 - np.sum(difference.mean(0) ** 2) / np.sum(own.mean(0) ** 2)
        elif isinstance(rule.similarity, ReleasedSimilarity):
            r[k] = 1 - np.linalg.norm(difference.mean(0)) / np.sum(own.mean(0) ** 2)
        else:  # |mean|^2 minus the unbiased estimate of the mean's variance

            def unbiased(x: np.ndarray, m: int = m) -> float:
                return float(np.sum(x.mean(0) ** 2) - np.sum((x - x.mean(0)) ** 2) / (m - 1) / m)

            r[k] = 1 - unbiased(difference) / unbiased(own) if unbiased(own) > 0 else 0
    r = np.clip(r, 0, 1)
    r[i] = 1
    return r


def due(rule: AllForOne, t: int) -> bool:
    if isinstance(rule.refresh, Logarithmic):
        return t in (1, 2, 4, 8)
    assert isinstance(rule.refresh, Every)
    return t % rule.refresh.steps == 1 or rule.refresh.steps == 1


def transcribed(rule: AllForOne, draws: list, seed: int) -> tuple[np.ndarray, float]:
    """Models after T iterations, and the mean number of peers with weight."""
    A, xi, sigma2, theta = parts()
    variance = np.ones(N) if rule.sigma2 is not None else sigma2
    known, peers = np.eye(N), 0
    for t, draw in enumerate(draws, start=1):
        noise = draw.noise[seed, :, 0].numpy()
        samples = draw.extra["similarity"][seed].numpy() if "similarity" in draw.extra else None
        active = draw.extra["active"][seed].numpy() if "active" in draw.extra else np.ones(N, dtype=bool)
        before, after = theta, theta.copy()
        for i in range(N):
            means = np.array([2 * A[k] @ (before[i] + xi[k]) for k in range(N)])
            if due(rule, t):
                fresh = ratios(rule, i, means, samples)
                known[i] = np.where(active & active[i], fresh, known[i] if rule.refresh != Every() else 0)
            if not active[i]:
                continue
            value = phi(rule, np.where(active, known[i], 0)) / variance
            alpha = value / (value.sum() if rule.normalised else (value * known[i]).sum())
            peers += int((alpha > 0).sum()) - 1
            after[i] = before[i] - ETA[i] * sum(alpha[k] * (means[k] + noise[k]) for k in range(N))
        theta = after
    return theta, peers / T / N


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    rule, problem = RULES[name], built()
    randomness, eta = Randomness(seeds=torch.arange(S), root=7), torch.from_numpy(ETA)
    state, draws = rule.init(problem, problem.start.expand(S, -1, -1)), []
    for t in range(1, T + 1):
        draws.append(rule.draw(problem, randomness, t))
        state = rule.step(problem, state, draws[-1], eta)
    peers = []
    for seed in range(S):
        expected, mean = transcribed(rule, draws, seed)
        peers.append(mean)
        np.testing.assert_allclose(state["models"][seed], expected, rtol=1e-10, atol=1e-12)
    assert 0.1 < np.mean(peers) < N - 1.05  # neither nobody nor everybody


@pytest.mark.parametrize("name", ["sampled", "debiased", "released continuous"])
def test_samples_for_the_weights_are_not_those_of_the_step(name):
    draw = RULES[name].draw(built(), Randomness(seeds=torch.arange(4)), 3)
    noise, samples = draw.noise.flatten().numpy(), draw.extra["similarity"].flatten().numpy()
    assert len(np.intersect1d(noise, samples)) == 0
    assert draw.extra["similarity"].shape == (4, N, RULES[name].similarity.samples, D)


@pytest.mark.parametrize("normalised", [False, True])
def test_weights_sum_to_one_weighted_by_similarity_or_plainly(normalised):
    problem = built()
    rule = AllForOne(criterion=Sharp(), normalised=normalised, participation=0.5)
    draw = rule.draw(problem, Randomness(seeds=torch.arange(40)), 1)
    state = rule.init(problem, problem.start.expand(40, -1, -1))
    alpha = rule.collaboration(problem, state, draw)
    ratio = ExactSimilarity().ratio(problem, state["models"], {})
    total = alpha.sum(-1) if normalised else (alpha * ratio).sum(-1)
    torch.testing.assert_close(total, torch.ones_like(total), rtol=1e-12, atol=0)
    active = draw.extra["active"]
    idle = ~active[:, None, :] & ~torch.eye(N, dtype=torch.bool)
    assert (alpha[idle.expand_as(alpha)] == 0).all()
    assert 0.3 < active.double().mean() < 0.7


# --- What Eq. (1) and the released ratio see ----------------------------------------------------------------------


def streaming(d: int, clients: int = 2) -> StreamingLeastSquares:
    """Identical clients, x ~ N(0, I), no label noise: g = 2 x (x . D)."""
    return StreamingLeastSquares.of(np.eye(d), np.zeros((clients, d)))


def similar(rule, problem, distance: float, seeds: int) -> torch.Tensor:
    """Estimated ratios of the first client to the second at |theta - theta*| = distance."""
    d = problem.features
    theta = torch.full((seeds, problem.clients, d), distance / d**0.5, dtype=torch.float64)
    extra = rule.draw(problem, Randomness(seeds=torch.arange(seeds), root=11), 1)
    return rule.ratio(problem, theta, extra)[:, 0, 1]


def test_eq_1_does_not_see_the_distance_of_identical_least_squares_clients_and_the_released_ratio_does():
    problem, seeds = streaming(10), 2000
    far, near = (similar(SampledSimilarity(samples=1), problem, distance, seeds) for distance in (1.0, 1e-6))
    torch.testing.assert_close(far, near, rtol=1e-9, atol=1e-9)  # draw by draw: everything scales
    positive = [
        (similar(ReleasedSimilarity(), problem, distance, seeds) > 0).double().mean().item()
        for distance in (10, 1, 0.3, 0.1, 0.01)
    ]
    # known with two digits; six standard errors of 2000 draws are at most 0.067
    np.testing.assert_allclose(positive, [0.91, 0.70, 0.44, 0.12, 0.00], atol=0.072)


@pytest.mark.parametrize(("samples", "known"), [(1, 0.18), (16, 0.67), (128, 1.0)])
def test_eq_1_drops_identical_least_squares_clients(samples, known):
    seeds = 200 if samples == 128 else 1500
    r = similar(SampledSimilarity(samples=samples), streaming(10), 1.0, seeds)
    spread = 6 * np.sqrt(max(known * (1 - known), 2e-3) / seeds)
    np.testing.assert_allclose((r > 0).double().mean(), known, atol=spread + 0.005)


def flat(G: float, *, d: int = 10, sigma2: float = 1.0) -> Quadratics:
    """Two identical clients with |grad|^2 = G at the start, additive noise of total variance 1."""
    return Quadratics.of(
        np.tile(np.eye(d) / 2, (2, 1, 1)), np.zeros((2, d)), sigma2=sigma2, start=np.full(d, np.sqrt(G / d))
    )


def estimated(rule, problem, seeds: int) -> torch.Tensor:
    extra = rule.draw(problem, Randomness(seeds=torch.arange(seeds), root=12), 1)
    return rule.ratio(problem, problem.start.expand(seeds, -1, -1), extra)[:, 0, 1]


@pytest.mark.parametrize(
    ("samples", "known"), [(1, (1.00, 0.52, 0.11, 0.08)), (16, (1.0, 1.0, 0.72, 0.14))], ids=["m=1", "m=16"]
)
def test_eq_1_drops_identical_clients_when_gradients_are_small_against_the_noise(samples, known):
    for G, share in zip((10, 1, 0.1, 0.01), known):
        r = estimated(SampledSimilarity(samples=samples), flat(G), 1500)
        spread = 6 * np.sqrt(max(share * (1 - share), 2e-3) / 1500)
        np.testing.assert_allclose((r > 0).double().mean(), share, atol=spread + 0.005)


def test_debiasing_brings_identical_clients_close_to_one():
    plain = estimated(SampledSimilarity(samples=16), flat(1.0), 1000)
    debiased = estimated(DebiasedSimilarity(samples=16), flat(1.0), 1000)
    np.testing.assert_allclose(plain.mean(), 0.880, atol=0.012)
    assert 0.96 < debiased.mean() < 0.985
    assert debiased.mean() - plain.mean() > 6 * (debiased.std() + plain.std()) / 1000**0.5


def test_without_noise_every_estimate_of_eq_1_is_the_exact_ratio():
    A, xi, _, start = parts()
    problem = Quadratics.of(A, xi, sigma2=0.0, start=start)
    theta = problem.start[None]
    exact = ExactSimilarity().ratio(problem, theta, {})
    for rule in (SampledSimilarity(samples=2), DebiasedSimilarity(samples=3)):
        extra = rule.draw(problem, Randomness(seeds=torch.arange(1)), 1)
        torch.testing.assert_close(rule.ratio(problem, theta, extra), exact, rtol=1e-10, atol=1e-10)
    assert ((exact > 0.05) & (exact < 0.95)).any()


def test_estimates_are_those_of_the_formulas_on_all_gradients():
    problem, m, seeds = built(), 3, 200
    theta = problem.start.expand(seeds, -1, -1)
    peers = torch.stack(list(problem.peers(theta)), dim=-1)  # [s, i, k, d]
    for rule, formula in (
        (SampledSimilarity(samples=m), similarity_estimate),
        (DebiasedSimilarity(samples=m), debiased_estimate),
    ):
        extra = rule.draw(problem, Randomness(seeds=torch.arange(seeds)), 1)
        gradients = peers[:, :, :, None] + extra["similarity"][:, None]  # [s, i, k, j, d]
        own = gradients.diagonal(dim1=1, dim2=2).permute(0, 3, 1, 2)[:, :, None]
        expected = formula(own=own, peer=gradients)
        torch.testing.assert_close(rule.ratio(problem, theta, extra), expected, rtol=1e-9, atol=1e-10)
        assert ((expected > 0) & (expected < 1)).double().mean() > 0.2


def test_peers_at_rest_with_us_are_similar_and_no_signal_means_no_others():
    rest, theta = flat(0.0, sigma2=0.0), flat(0.0).start[None]
    for rule in (DebiasedSimilarity(), SampledSimilarity(), ReleasedSimilarity(), ExactSimilarity()):
        ratio = rule.ratio(rest, theta, rule.draw(rest, Randomness(seeds=torch.arange(1)), 1))
        np.testing.assert_array_equal(ratio[0], np.ones((2, 2)))
    xi = np.array([[0.0], [1.0]])
    apart = Quadratics.of(np.ones((2, 1, 1)), xi, sigma2=0.0)
    for rule in (DebiasedSimilarity(), SampledSimilarity(), ReleasedSimilarity(), ExactSimilarity()):
        ratio = rule.ratio(apart, -apart.xi[None], rule.draw(apart, Randomness(seeds=torch.arange(1)), 1))
        np.testing.assert_array_equal(ratio[0], np.eye(2))


# --- Schedules and participation -----------------------------------------------------------------------------------


def test_schedules():
    assert [t for t in range(1, 40) if Logarithmic().due(t)] == [1, 2, 4, 8, 16, 32]
    assert [t for t in range(1, 40) if Logarithmic(ratio=1.5).due(t)] == [1, 2, 3, 5, 8, 12, 18, 27]
    assert [t for t in range(1, 12) if Every(steps=4).due(t)] == [1, 5, 9]
    assert Every.epoch([4, 9, 6]) == Every(steps=9)
    assert Every.epoch(torch.tensor([4, 9, 6]), batch=2) == Every(steps=5)


def test_weights_stay_between_refreshes_and_only_then():
    problem = built()
    rule = AllForOne(criterion=Continuous(), refresh=Every(steps=3))
    trace = run(problem, rule, iterations=7, eta=0.1, seeds=2, weights=[1])
    assert trace.weights is not None
    changes = [t for t in range(2, 8) if (trace.weights[0, t] != trace.weights[0, t - 1]).any()]
    assert changes == [4, 7]
    every = run(problem, AllForOne(criterion=Continuous(), refresh=Every(steps=1)), iterations=7, eta=0.1, seeds=2)
    plain = run(problem, AllForOne(criterion=Continuous()), iterations=7, eta=0.1, seeds=2)
    np.testing.assert_array_equal(every.excess, plain.excess)


def test_idle_clients_stay_where_they_are():
    problem = built()
    rule = AllForOne(criterion=Continuous(), participation=0.5)
    state = rule.init(problem, problem.start.expand(50, -1, -1))
    draw = rule.draw(problem, Randomness(seeds=torch.arange(50)), 1)
    moved = (rule.step(problem, state, draw, torch.tensor(0.1))["models"] != state["models"]).any(-1)
    assert (moved == draw.extra["active"]).all()


@pytest.mark.parametrize("name", ["sharp", "custom normalised", "every third", "partial", "partial every other"])
def test_one_step_is_expected_exactly(name):
    problem, rule = built(), RULES[name]
    exact = expected_step(problem, rule, problem.start[None], ETA)[0]
    trace = run(problem, rule, iterations=1, eta=ETA, seeds=6000, grid=[1])
    assert np.abs((trace.mean() - exact) / trace.standard_error()).max() < 6  # five clients, five rules: 5e-8


def test_estimated_weights_have_no_list_of_outcomes():
    with pytest.raises(ValueError, match="estimated from samples"):
        expected_step(built(), RULES["sampled"], built().start[None], 0.1)


# --- Special cases and costs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULES)
def test_one_client_is_sgd(name):
    problem = Quadratics.of(np.diag([1.0, 3.0])[None], [[1.0, -2.0]], sigma2=0.7)
    rule = dataclasses.replace(RULES[name], participation=1.0)
    alone = run(problem, Local(), iterations=12, eta=0.1, seeds=5).excess
    np.testing.assert_allclose(run(problem, rule, iterations=12, eta=0.1, seeds=5).excess, alone, rtol=1e-11)


@pytest.mark.parametrize("criterion", [Binary(threshold=0.5), Continuous(), Sharp()], ids=lambda c: c.kind)
def test_equal_clients_are_minibatch_sgd(criterion):
    A = np.tile(np.diag([1.0, 3.0]), (4, 1, 1))
    problem = Quadratics.of(A, np.tile([1.0, -2.0], (4, 1)), sigma2=0.7)
    together = run(problem, AllForOne(criterion=criterion), iterations=12, eta=0.1, seeds=5).excess
    mean = run(problem, FixedWeights(alpha=torch.full((4, 4), 0.25)), iterations=12, eta=0.1, seeds=5).excess
    np.testing.assert_allclose(together, mean, rtol=1e-11)


def test_costs_count_the_samples_of_the_estimate_and_the_clients_that_take_part():
    problem, pairs = built(), N * (N - 1)
    for name, calls, vectors in [
        ("sharp", [N**2] * 4, [2 * pairs] * 4),
        ("sampled", [5 * N**2] * 4, [3 * pairs] * 4),
        ("debiased", [4 * N**2] * 4, [5 * pairs] * 4),
        ("released binary", [2 * N**2] * 4, [3 * pairs] * 4),
        ("logarithmic sampled", [3 * N**2, 3 * N**2, N**2, 3 * N**2], [3 * pairs, 3 * pairs, 2 * pairs, 3 * pairs]),
    ]:
        trace = run(problem, RULES[name], iterations=4, eta=0.1, seeds=1)
        np.testing.assert_array_equal(np.diff(trace.oracle_calls), calls)
        np.testing.assert_array_equal(np.diff(trace.vectors_sent), vectors)
    rule = RULES["partial"]
    draw = rule.draw(problem, Randomness(seeds=torch.arange(30)), 1)
    active = draw.extra["active"].sum(-1).numpy()
    np.testing.assert_array_equal(rule.oracle_calls(problem, draw), active**2)
    np.testing.assert_array_equal(rule.vectors_sent(problem, draw), 2 * active * (active - 1))
    assert len(set(active)) > 2


def test_thresholds_per_client_work_in_float32():
    problem = built().to(torch.float32)
    thresholds = torch.linspace(0.2, 0.9, N, dtype=torch.float64)[:, None]
    trace = run(problem, AllForOne(criterion=Binary(threshold=thresholds)), iterations=5, eta=0.1, seeds=2)
    assert np.isfinite(trace.excess).all()


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("samples", lambda: SampledSimilarity(samples=0)),
        ("samples", lambda: DebiasedSimilarity(samples=1)),
        ("samples", lambda: ReleasedSimilarity(samples=-1)),
        ("samples", lambda: ExactSimilarity(samples=2)),
        ("steps", lambda: Every(steps=0)),
        ("ratio", lambda: Logarithmic(ratio=1)),
        ("rows", lambda: Every.epoch([])),
        ("participation", lambda: AllForOne(criterion=Continuous(), participation=0.0)),
        ("participation", lambda: AllForOne(criterion=Continuous(), participation=torch.ones(3))),
        ("participation", lambda: AllForOne(criterion=Continuous(), participation=torch.full((N,), 1.5))),
        ("sigma2", lambda: AllForOne(criterion=Continuous(), sigma2=-1.0)),
        ("sigma2", lambda: AllForOne(criterion=Continuous(), sigma2=torch.tensor([1.0, np.nan, 1, 1, 1]))),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        run(built(), make(), iterations=1, eta=0.1, seeds=1)
    assert caught.value.field == field


def test_clients_without_noise_need_variances_to_weigh_by():
    problem = Quadratics.of(parts()[0], parts()[1], sigma2=0.0)
    with pytest.raises(InputError, match="sigma2"):
        run(problem, AllForOne(criterion=Continuous()), iterations=1, eta=0.1, seeds=1)
    run(problem, AllForOne(criterion=Continuous(), sigma2=1.0), iterations=1, eta=0.1, seeds=1)
