"""All-for-one: paths against a plain transcription, schedules, participation, costs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import Binary, Continuous, Custom, Sharp
from suffice.simulate import (
    AllForOne,
    DebiasedSimilarity,
    Every,
    ExactSimilarity,
    Logarithmic,
    Quadratics,
    Randomness,
    ReleasedSimilarity,
    SampledSimilarity,
    run,
)

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
    "binary": AllForOne(criterion=Binary(threshold=0.6)),
    "continuous": AllForOne(criterion=Continuous()),
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


def test_peers_at_rest_with_us_are_similar_and_no_signal_means_no_others():
    rest = Quadratics.of(np.ones((2, 1, 1)), np.zeros((2, 1)), sigma2=0.0)
    theta = rest.start[None]
    for rule in (DebiasedSimilarity(), SampledSimilarity(), ReleasedSimilarity(), ExactSimilarity()):
        ratio = rule.ratio(rest, theta, rule.draw(rest, Randomness(seeds=torch.arange(1)), 1))
        np.testing.assert_array_equal(ratio[0], np.ones((2, 2)))
    xi = np.array([[0.0], [1.0]])
    apart = Quadratics.of(np.ones((2, 1, 1)), xi, sigma2=0.0)
    for rule in (DebiasedSimilarity(), SampledSimilarity(), ReleasedSimilarity(), ExactSimilarity()):
        ratio = rule.ratio(apart, -apart.xi[None], rule.draw(apart, Randomness(seeds=torch.arange(1)), 1))
        np.testing.assert_array_equal(ratio[0], np.eye(2))


def test_schedules():
    assert [t for t in range(1, 40) if Logarithmic().due(t)] == [1, 2, 4, 8, 16, 32]
    assert [t for t in range(1, 40) if Logarithmic(ratio=1.5).due(t)] == [1, 2, 3, 5, 8, 12, 18, 27]
    assert [t for t in range(1, 12) if Every(steps=4).due(t)] == [1, 5, 9]
    assert Every.epoch([4, 9, 6]) == Every(steps=9)
    assert Every.epoch(torch.tensor([4, 9, 6]), batch=2) == Every(steps=5)


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
