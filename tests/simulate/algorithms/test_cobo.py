"""CoBo: paths against a plain transcription of Algorithm 1 and of the released order; sampling rules; selection."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import CoBo, FixedCoBo, Local, Quadratics, Randomness, Stream, expected_excess, run

N, D, T, S, ETA, RHO = 5, 3, 8, 4, 0.1, 0.6
W0 = np.random.default_rng(60).uniform(size=(N, N))


def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(61)
    root = rng.normal(size=(N, D, D))
    return np.eye(D) + 0.1 * (root + root.transpose(0, 2, 1)), rng.normal(size=(N, D)), rng.normal(size=(N, D))


def built(sigma2: float = 0.5) -> Quadratics:
    A, xi, start = parts()
    return Quadratics.of(A, xi, sigma2=sigma2, start=start)


RULES = {
    "paper": CoBo(rho=RHO, weight_step=0.3),
    "every pair": CoBo(rho=RHO, weight_step=0.3, sampling="none"),
    "given weights, decreasing rate": CoBo(rho=RHO, weight_step=0.3, sampling="time", w0=torch.from_numpy(W0)),
    "unordered": CoBo(rho=RHO, weight_step=0.3, symmetric=True),
    "mixed": CoBo(rho=RHO, weight_step=0.3, sampling="mixed", horizon=2000),
    "released": CoBo.released(rho=RHO),
    "simplex": CoBo(rho=RHO, weight_step=0.3, simplex=True),
}


def chance(name: str, t: int) -> float:
    """Of a pair in iteration t = 1, 2, ..."""
    if name == "every pair":
        return 1
    if name == "given weights, decreasing rate":
        return 1 / t
    if name == "mixed":  # 0.2 % of 2000 iterations are four
        return 1 / N if t <= 4 else 1 / t
    return 2 / N if name == "released" else 1 / N


def projected(w: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex, its tau by bisection of sum (w - tau)_+ = 1."""
    low, high = w.min() - 1, w.max()
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(w - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(w - low, 0)


def transcribed(name: str, seed: int, root: int) -> tuple[np.ndarray, np.ndarray]:
    """Models and weights after T iterations."""
    A, xi, x = parts()
    randomness = Randomness(seeds=torch.tensor([seed]), root=root)
    w = W0.copy() if name.startswith("given") else np.ones((N, N)) / (N if name == "simplex" else 1)
    gamma, scale = (0.01 if name == "released" else 0.3), np.sqrt(0.5 / D)

    def normals(t: int, stream: Stream) -> np.ndarray:
        return scale * randomness.normal(iteration=t, stream=stream, clients=N, features=D)[0].numpy()

    for t in range(1, T + 1):
        noise, fresh = normals(t, Stream.NOISE), normals(t, Stream.SIMILARITY)
        coins = randomness.uniform(iteration=t, stream=Stream.COIN, clients=N, features=N)[0].numpy()

        def select(x: np.ndarray, w: np.ndarray, t: int = t, fresh=fresh, coins=coins) -> np.ndarray:
            after = w.copy()
            for i in range(N):
                for j in range(N):
                    coin = coins[min(i, j), max(i, j)] if name in ("unordered", "released") else coins[i, j]
                    if (i != j or name == "simplex") and coin < chance(name, t):
                        z = (x[i] + x[j]) / 2
                        gi, gj = 2 * A[i] @ (z + xi[i]) + fresh[i], 2 * A[j] @ (z + xi[j]) + fresh[j]
                        after[i, j] = w[i, j] + gamma * gi @ gj
            return np.stack([projected(row) for row in after]) if name == "simplex" else after.clip(0, 1)

        def move(x: np.ndarray, w: np.ndarray, noise=noise) -> np.ndarray:
            after = x.copy()
            for i in range(N):
                pull = sum(w[i, k] * (x[i] - x[k]) for k in range(N))
                after[i] = x[i] - ETA * (2 * A[i] @ (x[i] + xi[i]) + noise[i] + RHO * pull)
            return after

        if name == "released":
            x = move(x, w)
            w = select(x, w)
        else:
            w = select(x, w)
            x = move(x, w)
    return x, w


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    problem, rule, source = built(), RULES[name], Randomness(seeds=torch.arange(S), root=3)
    state = rule.init(problem, problem.start.expand(S, -1, -1))
    for t in range(1, T + 1):
        state = rule.step(problem, state, rule.draw(problem, source, t), torch.tensor(ETA, dtype=torch.float64))
    for seed in range(S):
        x, w = transcribed(name, seed, 3)
        np.testing.assert_allclose(state["models"][seed], x, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(state["w"][seed], w, rtol=1e-10, atol=1e-12)
    off = state["w"][:, ~torch.eye(N, dtype=torch.bool)]
    assert 0 < (off < 0.9).double().mean() < 1  # some pairs part, some stay


@pytest.mark.parametrize("name", RULES)
def test_pairs_are_sampled_at_their_rate_and_paid_for(name):
    problem, rule, seeds = built(), RULES[name], 1500
    both = name in ("unordered", "released")
    for t in (1, 6):
        draw = rule.draw(problem, Randomness(seeds=torch.arange(seeds)), t)
        pairs = draw.extra["pairs"]
        rate, count = chance(name, t), N * (N - 1) / (2 if both else 1)
        observed = pairs.double().sum((-1, -2)).mean() / N / (N - 1)
        alone = pairs.diagonal(dim1=-2, dim2=-1).sum(-1)
        observed = observed - alone.double().mean() / N / (N - 1)
        assert abs(observed - rate) <= 6 * np.sqrt(rate * (1 - rate) / seeds / count) + 1e-12
        assert bool(alone.any()) == (name == "simplex")  # elsewhere w_ii has no effect
        assert bool((pairs == pairs.transpose(-1, -2)).all()) == (both or rate == 1)
        directed = pairs.sum((-1, -2)) - alone
        # two gradients for a pair, one for a client's own entry; a gradient from j to i for each w_ij; all models
        np.testing.assert_array_equal(rule.oracle_calls(problem, draw), N + (1 if both else 2) * directed + alone)
        np.testing.assert_array_equal(rule.vectors_sent(problem, draw), N * (N - 1) + directed)


def test_released_rate_falls_after_800_iterations():
    rule = RULES["released"]
    assert [rule.chance(50, t) for t in (1, 800, 801, 10000)] == [0.04, 0.04, 801**-0.5, 0.01]
    assert rule.chance(1, 1) == 1
    assert [RULES["mixed"].chance(50, t) for t in (1, 4, 5, 100)] == [0.02, 0.02, 0.2, 0.01]


def test_without_weights_it_is_local():
    alone = run(built(), Local(), iterations=9, eta=ETA, seeds=6).excess
    for rule in (CoBo(rho=RHO, weight_step=0.0, w0=0.0), FixedCoBo(w=torch.zeros(N, N), rho=RHO)):
        np.testing.assert_allclose(run(built(), rule, iterations=9, eta=ETA, seeds=6).excess, alone, rtol=1e-13)
    pulled = run(built(), CoBo(rho=RHO, weight_step=0.0), iterations=9, eta=ETA, seeds=6).excess
    assert np.abs(pulled - alone).max() > 0.1


def test_weights_that_stay_are_the_fixed_rule():
    w = torch.from_numpy(W0)
    one = run(built(), CoBo(rho=RHO, weight_step=0.0, w0=w), iterations=9, eta=ETA, seeds=6).excess
    two = run(built(), FixedCoBo(w=w, rho=RHO), iterations=9, eta=ETA, seeds=6).excess
    np.testing.assert_allclose(one, two, rtol=1e-13)


def test_consensus_contracts_by_eta_rho_c():
    """Identical clients without noise: x_i - x_j shrinks by 1 - 2 a eta - eta rho c, not by 2 eta rho c."""
    c, a = 4, 0.5
    problem = Quadratics.of(np.full((c, 1, 1), a), np.zeros((c, 1)), sigma2=0.0, start=np.arange(c)[:, None])
    rule = FixedCoBo(w=torch.ones(c, c), rho=0.8)
    state = rule.init(problem, problem.start[None])
    draw = rule.draw(problem, Randomness(seeds=torch.arange(1)), 1)
    after = rule.step(problem, state, draw, torch.tensor(0.1, dtype=torch.float64))["models"]
    np.testing.assert_allclose(after[0, 1] - after[0, 0], 1 - 2 * a * 0.1 - 0.1 * 0.8 * c, rtol=1e-13)


def test_pairs_of_different_clusters_part_between_their_optima_and_link_far_from_them():
    """Example 2 with exact gradients: the test is negative exactly in the ball whose diameter joins the optima."""
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    mu, D = np.repeat(centres, 3, 0), 4.0
    rng = np.random.default_rng(62)
    a = rng.uniform(0.8, 1.2, 9)
    A = a[:, None, None] / 2 * np.eye(2)
    same = np.repeat(np.eye(3), 3, 0).repeat(3, 1).astype(bool)
    near = Quadratics.of(A, -mu, sigma2=0.0, start=mu + rng.uniform(-0.3, 0.3, mu.shape))
    far = Quadratics.of(A, -mu, sigma2=0.0, start=np.full(2, 99.0))
    rule = CoBo(rho=0.5, weight_step=0.05, sampling="none")
    w = {}
    for name, problem in (("near", near), ("far", far)):
        trace = run(problem, rule, iterations=12, eta=0.1, seeds=1, weights=[0], grid=[1, 12])
        assert trace.weights is not None
        w[name] = trace.weights[0]
        assert w[name][:, same].min() == 1  # the gradients of one cluster agree everywhere
    # each within r = 0.3 sqrt(2) of its optimum: <g_i, g_j> <= -a_i a_j (D^2/4 - r^2), and twelve updates are enough
    assert 0.05 * 0.8**2 * (D**2 / 4 - 2 * 0.3**2) * 12 > 1
    assert w["near"][0, ~same].min() > 0
    assert w["near"][1, ~same].max() == 0
    assert w["far"][0, ~same].min() == 1


def test_oracle_weights_have_exact_moments_and_noise_in_the_consensus():
    """Identical clients keep a consensus distance of order eta sigma^2 / (rho c): noise, not disagreement."""
    c, rho, eta = 3, 1.0, 0.2
    problem = Quadratics.of(np.full((c, 1, 1), 0.5), np.zeros((c, 1)), sigma2=1.0)
    rule = FixedCoBo(w=torch.ones(c, c), rho=rho)
    exact = expected_excess(problem, rule, iterations=300, eta=eta)[-1]
    # mean and deviation decouple, with factors 1 - eta and 1 - eta - eta rho c and noise 1/c and 1 - 1/c
    mean, deviation = eta**2 / c / (1 - (1 - eta) ** 2), eta**2 * (1 - 1 / c) / (1 - (1 - eta - eta * rho * c) ** 2)
    np.testing.assert_allclose(exact, 0.5 * (mean + deviation), rtol=1e-12)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("rho", lambda: CoBo(rho=-1.0, weight_step=0.1)),
        ("weight_step", lambda: CoBo(rho=1.0, weight_step=float("nan"))),
        ("sampling", lambda: CoBo(rho=1.0, weight_step=0.1, sampling="often")),
        ("horizon", lambda: CoBo(rho=1.0, weight_step=0.1, sampling="mixed")),
        ("w0", lambda: CoBo(rho=1.0, weight_step=0.1, w0=2.0)),
        ("w0", lambda: CoBo(rho=1.0, weight_step=0.1, w0=torch.ones(3, 3))),
        ("w0", lambda: CoBo(rho=1.0, weight_step=0.1, simplex=True, w0=1.0)),
        ("symmetric", lambda: CoBo(rho=1.0, weight_step=0.1, simplex=True, symmetric=True)),
        ("w", lambda: FixedCoBo(w=-torch.ones(N, N), rho=1.0)),
        ("rho", lambda: FixedCoBo(w=torch.ones(N, N), rho=-1.0)),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        run(built(), make(), iterations=1, eta=ETA, seeds=1)
    assert caught.value.field == field


def test_weights_that_samples_decide_have_no_exact_moments():
    with pytest.raises(InputError, match="not linear"):
        expected_excess(built(), RULES["paper"], iterations=1, eta=ETA)
    with pytest.raises(InputError, match="no finite list"):
        RULES["paper"].outcomes(built(), 1)
