"""All-for-all, its estimated weights, and All-for-one with fixed weights: rules, the slow star, clusters found."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import (
    AllForAll,
    EstimatedAllForAll,
    FixedWeights,
    Local,
    Quadratics,
    Randomness,
    Stream,
    expected_excess,
    run,
)

N, D, T, S, ETA = 5, 3, 8, 3, 0.1


def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(80)
    root = rng.normal(size=(N, D, D))
    A = np.eye(D) + 0.1 * (root + root.transpose(0, 2, 1))
    Lambda = rng.dirichlet(np.ones(N), N) * (1 - np.eye(N, k=2))
    return A, rng.normal(size=(N, D)), rng.normal(size=(N, D)), Lambda / Lambda.sum(1, keepdims=True)


def built() -> Quadratics:
    A, xi, start, _ = parts()
    return Quadratics.of(A, xi, sigma2=0.5, start=start)


def noise(seed: int, t: int, stream: Stream = Stream.NOISE, samples: int = 1) -> np.ndarray:
    source = Randomness(seeds=torch.tensor([seed]), root=4)
    z = source.normal(iteration=t, stream=stream, clients=N, features=samples * D)[0].numpy()
    return np.sqrt(0.5 / D) * z.reshape(N, samples, D)


def transcribed(W: np.ndarray, seed: int) -> np.ndarray:
    A, xi, x, _ = parts()
    for t in range(1, T + 1):
        g = np.array([2 * A[j] @ (x[j] + xi[j]) + noise(seed, t)[j, 0] for j in range(N)])
        x = np.array([x[i] - ETA * sum(W[i, j] * g[j] for j in range(N)) for i in range(N)])
    return x


def followed(rule, seeds: int = S) -> torch.Tensor:
    problem, source = built(), Randomness(seeds=torch.arange(seeds), root=4)
    state = rule.init(problem, problem.start.expand(seeds, -1, -1))
    for t in range(1, T + 1):
        state = rule.step(problem, state, rule.draw(problem, source, t), torch.tensor(ETA, dtype=torch.float64))
    return state["models"]


def test_paths_are_those_of_a_plain_transcription():
    Lambda = parts()[3]
    models = followed(AllForAll(Lambda=torch.from_numpy(Lambda)))
    for seed in range(S):
        np.testing.assert_allclose(models[seed], transcribed(Lambda @ Lambda.T, seed), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("connected", [True, False], ids=["components", "threshold"])
def test_estimated_paths_are_those_of_a_plain_transcription(connected):
    A, xi, start, _ = parts()
    x0, samples, threshold, links = start.mean(0), 6, 2.1, 0
    models = followed(EstimatedAllForAll(samples=samples, threshold=threshold, connected=connected))
    for seed in range(S):
        before = noise(seed, 1, Stream.SIMILARITY, samples).mean(1)
        g = np.array([2 * A[i] @ (x0 + xi[i]) for i in range(N)]) + before
        linked = np.linalg.norm(g[:, None] - g[None], axis=-1) <= threshold
        links += linked.sum() - N
        if connected:
            for _ in range(N):
                linked = linked.astype(int) @ linked > 0
        Lambda = linked / linked.sum(1, keepdims=True)
        np.testing.assert_allclose(models[seed], transcribed(Lambda @ Lambda.T, seed), rtol=1e-10, atol=1e-12)
    assert 0 < links < S * N * (N - 1)


def test_one_client_and_no_weights_are_local():
    alone = run(built(), Local(), iterations=6, eta=ETA, seeds=4).excess
    own = run(built(), AllForAll(Lambda=torch.eye(N, dtype=torch.float64)), iterations=6, eta=ETA, seeds=4).excess
    np.testing.assert_allclose(own, alone, rtol=1e-13)
    cautious = EstimatedAllForAll(samples=2, threshold=0)
    np.testing.assert_allclose(run(built(), cautious, iterations=6, eta=ETA, seeds=4).excess, alone, rtol=1e-13)


def test_equal_clients_are_minibatch_sgd():
    A, xi, start, _ = parts()
    problem = Quadratics.of(np.tile(A[0], (N, 1, 1)), np.tile(xi[0], (N, 1)), sigma2=0.5, start=start[0])
    everyone = torch.full((N, N), 1 / N, dtype=torch.float64)
    one = run(problem, AllForAll(Lambda=everyone), iterations=6, eta=ETA, seeds=4).excess
    two = run(problem, FixedWeights(alpha=everyone), iterations=6, eta=ETA, seeds=4).excess
    np.testing.assert_allclose(one, two, rtol=1e-12)


# --- The star: Theorem 3's rate for any Lambda is false ---------------------------------------------------------------


def star(n: int) -> AllForAll:
    """Agent 0 averages over everybody, each other agent over itself and agent 0."""
    Lambda = np.eye(n) / 2
    Lambda[:, 0] = 0.5
    Lambda[0] = 1 / n
    return AllForAll(Lambda=torch.from_numpy(Lambda))


def unit_curvature(n: int) -> Quadratics:
    """f_i = x^2 / 2 for every client (b = 0, L = mu = 1), started at 1, without noise."""
    return Quadratics.of(np.full((n, 1, 1), 0.5), np.zeros((n, 1)), sigma2=0.0, start=[1.0])


def test_star_has_its_known_spectrum():
    smin, smax = star(100).spectrum
    np.testing.assert_allclose([smin, smax], [0.0096, 25.0], rtol=5e-3)


@pytest.mark.parametrize(("n", "known"), [(100, (0.0091, 0.0090, 0.0088)), (10, (0.017, 0.0064, 0.0024))])
def test_star_is_slow_with_the_best_step_where_the_print_promises_e_to_the_minus_half(n, known):
    values, vectors = np.linalg.eigh(star(n).W.numpy())
    weight = (vectors.T @ np.ones(n)) ** 2 / n  # of the common start in each eigenspace: x^K = (I - eta W)^K x^0
    steps = np.linspace(0.01, 3, 2000) / values[-1]
    for K, ratio in zip((10, 20, 30), known):
        factors = ((1 - steps[:, None] * values) ** (2 * K) * weight).sum(1)
        best = steps[factors.argmin()]
        np.testing.assert_allclose(factors.min(), ratio, rtol=0.02)  # two printed digits
        assert factors.min() > np.exp(-K / 2)
        excess = run(unit_curvature(n), star(n), iterations=K, eta=best, seeds=1, grid=[0, K]).excess[0].sum(-1)
        np.testing.assert_allclose(excess[1] / excess[0], factors.min(), rtol=1e-9)


def test_star_diverges_at_the_step_that_the_print_allows():
    excess = run(unit_curvature(100), star(100), iterations=6, eta=1.0, seeds=1).excess[0].sum(-1)
    smax = star(100).spectrum[1]
    np.testing.assert_allclose(excess[2:] / excess[1:-1], (smax - 1) ** 2, rtol=1e-3)  # 24 per step
    stable = run(unit_curvature(100), star(100), iterations=6, eta=1 / smax, seeds=1).excess[0].sum(-1)
    assert (np.diff(stable) < 0).all()


# --- Choosing weights ----------------------------------------------------------


B = np.array([[0.0, 1, 3, np.inf], [1, 0, 2, 3], [3, 2, 0, 1], [np.inf, 3, 1, 0]])


def test_thresholds_keep_dissimilarities_up_to_the_root_of_mu_epsilon():
    rule = FixedWeights.threshold(B, mu=0.5, epsilon=[2.0, 8.0, 2.0, 1.0])  # thresholds 1, 2, 1, 0.7
    third = 1 / 3
    expected = [[0.5, 0.5, 0, 0], [third, third, third, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]]
    np.testing.assert_allclose(rule.alpha, expected, rtol=1e-15)
    assert (rule.oracle_calls(built(), None), rule.vectors_sent(built(), None)) == (8, 8)


def test_water_filling_spends_its_cap_with_the_least_variance():
    rule = FixedWeights.water_filling(B, cap=0.8)
    alpha = rule.alpha.numpy()
    np.testing.assert_allclose(alpha.sum(1), 1, rtol=1e-14)
    spent = (alpha * np.where(alpha > 0, B, 0)).sum(1)
    np.testing.assert_allclose(spent, 0.8, rtol=1e-12)
    rng = np.random.default_rng(81)
    for weights in rng.dirichlet(np.full(4, 0.5), 3000):  # no random competitor that keeps the cap has less variance
        if weights[:3] @ B[1, :3] + weights[3] * B[1, 3] <= 0.8:
            assert weights @ weights > alpha[1] @ alpha[1] - 1e-12


def test_oracle_clusters_average_inside_each_cluster():
    half = np.array(
        [[0.5, 0, 0.5, 0, 0], [0, 1, 0, 0, 0], [0.5, 0, 0.5, 0, 0], [0, 0, 0, 0.5, 0.5], [0, 0, 0, 0.5, 0.5]]
    )
    labels = ["a", "b", "a", "c", "c"]
    np.testing.assert_array_equal(FixedWeights.clusters(labels).alpha, half)
    oracle = AllForAll.clusters(labels)
    np.testing.assert_array_equal(oracle.W, half)
    np.testing.assert_allclose(oracle.spectrum, [1, 1], rtol=1e-12)
    assert (oracle.oracle_calls(built(), None), oracle.vectors_sent(built(), None)) == (N, 4)


def test_connected_components_make_a_projection_of_a_chain():
    chain = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    whole = AllForAll.threshold(chain, mu=1.0, epsilon=1.0)
    np.testing.assert_allclose(whole.W, np.full((4, 4), 0.25), rtol=1e-14)
    plain = AllForAll.threshold(chain, mu=1.0, epsilon=1.0, connected=False)
    np.testing.assert_allclose(plain.Lambda[0], [0.5, 0.5, 0, 0], rtol=1e-15)
    assert plain.spectrum[1] > 1.02  # rows that overlap: no projection, and eta = 1/L is too long


def test_clusters_are_found_from_samples_and_paid_for_once():
    """Means of 40 samples of deviation 1 against centres 2 apart: the chance of one wrong pair is below 1e-6."""
    labels, d = np.array([0, 0, 1, 1, 2, 2]), 2
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])[labels]
    problem = Quadratics.of(np.tile(np.eye(d) / 2, (6, 1, 1)), -centres, sigma2=1.0)
    rule = EstimatedAllForAll(samples=40, threshold=1.0)
    trace = run(problem, rule, iterations=3, eta=0.5, seeds=20, weights=list(range(20)), clusters=True)
    oracle = run(problem, AllForAll.clusters(labels.tolist()), iterations=3, eta=0.5, seeds=20)
    assert trace.weights is not None
    assert trace.cluster_sizes is not None
    np.testing.assert_allclose(trace.weights[:, 1:], np.tile(oracle_weights(labels), (20, 3, 1, 1)), atol=1e-15)
    np.testing.assert_array_equal(trace.cluster_sizes[1:], 2)
    np.testing.assert_allclose(trace.excess, oracle.excess, rtol=1e-12)
    np.testing.assert_array_equal(trace.oracle_calls, [0, 6 + 240, 12 + 240, 18 + 240])
    np.testing.assert_array_equal(trace.vectors_sent, [0, 60, 90, 120])


def oracle_weights(labels: np.ndarray) -> np.ndarray:
    return (labels[:, None] == labels) / 2


def test_exact_moments_of_anisotropic_filtering():
    rule = AllForAll(Lambda=torch.from_numpy(parts()[3]))
    exact = expected_excess(built(), rule, iterations=10, eta=0.05)[[1, 10]]
    trace = run(built(), rule, iterations=10, eta=0.05, seeds=6000, grid=[1, 10])
    assert np.abs((trace.mean() - exact) / trace.standard_error()).max() < 6


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("Lambda", lambda: AllForAll(Lambda=torch.ones(N, N))),
        ("Lambda", lambda: AllForAll(Lambda=torch.ones(2, 2) / 2)),
        ("Lambda", lambda: AllForAll(Lambda=torch.eye(N) * 2 - torch.ones(N, N) / N)),
        ("alpha", lambda: FixedWeights(alpha=-torch.ones(N, N))),
        ("alpha", lambda: FixedWeights(alpha=torch.full((N, N), float("nan")))),
        ("samples", lambda: EstimatedAllForAll(samples=0, threshold=1.0)),
        ("threshold", lambda: EstimatedAllForAll(samples=3, threshold=-1.0)),
        ("b", lambda: FixedWeights.threshold(np.ones((3, 3)), mu=1, epsilon=1)),
        ("b", lambda: AllForAll.threshold(np.zeros((3, 2)), mu=1, epsilon=1)),
        ("mu", lambda: FixedWeights.threshold(B, mu=0.0, epsilon=1)),
        ("epsilon", lambda: FixedWeights.threshold(B, mu=1.0, epsilon=[1, 2])),
        ("cap", lambda: FixedWeights.water_filling(B, cap=-0.1)),
        ("labels", lambda: FixedWeights.clusters([])),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        run(built(), make(), iterations=1, eta=ETA, seeds=1)
    assert caught.value.field == field
