"""Nested scouts: clusters found, the second-order statement where every term is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_less
from sklearn.datasets import load_digits
from torch import nn

import suffice as sf
from suffice.simulate import algorithm
from suffice.simulate.scouts import distances, of_rows

RNG = np.random.default_rng(42)


def regression(minimisers, rows=40, noise=0.3, rng=RNG):
    X = [rng.normal(size=(rows, len(one))) for one in minimisers]
    return X, [x @ one + noise * rng.normal(size=rows) for x, one in zip(X, minimisers)]


FAR = [(1.0, -1.0)] * 3 + [(-1.0, 1.0)] * 2
SAME = np.equal.outer([0, 0, 0, 1, 1], [0, 0, 0, 1, 1])


def classes(signs, rows=40):
    X = [RNG.normal(size=(rows, 3)) for _ in signs]
    return X, [(sign * (x[:, 0] + x[:, 1]) > 0).astype(int) for sign, x in zip(signs, X)]


def linear(X, y, batch=4):
    start = nn.Linear(len(X[0][0]), 1, bias=False).double()
    nn.init.zeros_(start.weight)
    return sf.Neural.of(start, X, y, batch=batch)


def found_of_digits(clients, rows, seed, *, hidden, batch, **options):
    """What scouts find of digits whose second half of clients numbers them in another way, and the weight across."""
    digits, rng = load_digits(), np.random.default_rng(seed)
    order, renamed, told = rng.permutation(len(digits.data)), rng.permutation(10), np.arange(clients) >= clients // 2
    mine = [order[rows * k :][:rows] for k in range(clients)]
    y = [renamed[digits.target[each]] if other else digits.target[each] for each, other in zip(mine, told)]
    module = lambda: nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))  # noqa: E731
    problem = sf.Neural.of(module, [digits.data[each] / 16 for each in mine], y, batch=batch, seed=seed)
    found = sf.collaborators(problem, eta=0.2, seed=seed, **options)
    return found, (found.weights * np.not_equal.outer(told, told)).sum(1).mean()


def test_clusters_of_a_linear_model_and_of_a_network_are_found():
    small = lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))  # noqa: E731
    network = sf.Neural.of(small, *classes([1, 1, 1, -1, -1]), batch=8)
    for problem, eta in ((linear(*regression(FAR)), 0.05), (network, 0.5)):
        found = sf.collaborators(problem, eta=eta, iterations=150)
        assert_allclose(found.weights.sum(1), 1, rtol=1e-12)
        assert (found.weights[~SAME] == 0).all(), type(problem)
        assert found.set_size.mean() > 1.5, type(problem)
        assert found.distance[~SAME].min() > 5 * found.distance[SAME].max()
        assert_allclose(found.distance, found.distance.T, atol=1e-12)


def test_scouts_do_not_stop_on_the_plateau_where_networks_begin():
    """30 digits a client, two clusters that number them in another way; the held-out loss rises before it falls."""
    found, across = found_of_digits(10, 30, 1, hidden=64, batch=16, folds=4)
    assert found.held_out[2] > found.held_out[1]
    assert across < 0.01


def test_clients_of_few_rows_find_each_other_though_their_own_loss_only_rises():
    """Twenty clients of 12 digits: a scout of six is too sure of itself, and the mean of many is not."""
    found, across = found_of_digits(20, 12, 0, hidden=32, batch=8)
    assert found.held_out.argmin() == 0
    assert across < 0.2
    assert np.diag(found.weights).mean() < 0.3
    assert found.remarks == ()


def test_what_scouts_send_and_compute_is_counted_once():
    problem = linear(*regression(FAR), batch=4)
    found = sf.collaborators(problem, eta=0.05, iterations=50)
    assert found.vectors_sent == 2 * 5 * 4
    assert found.gradients == 2 * 5 * found.looked_at[-1]
    trace = sf.run(problem, found.algorithm(together=2), iterations=4, eta=0.05, seeds=1)
    weights = int((found.weights > 0).sum())
    per_step = 2 * (weights - 5)
    assert_allclose(np.diff(trace.vectors_sent), [10 + found.vectors_sent, 10, per_step, per_step])
    assert_allclose(np.diff(trace.oracle_calls), [5 + found.gradients, 5, weights, weights])


def test_together_is_fedavg_and_afterwards_fixed_weights():
    problem = linear(*regression(FAR), batch=4)
    found = sf.collaborators(problem, eta=0.05, iterations=50)
    options = {"iterations": 6, "eta": 0.05, "seeds": 2, "models": True}
    whole = sf.run(problem, found.algorithm(together=6), **options).models
    assert_allclose(whole, sf.run(problem, sf.algorithms.FedAvg(), **options).models, rtol=1e-12)
    apart = sf.run(problem, found.algorithm(), **options).models
    assert_allclose(apart, sf.run(problem, sf.FixedWeights(alpha=found.weights), **options).models, rtol=1e-12)
    named = algorithm("scouts", problem, eta=0.05, iterations=50, together=6)
    assert_allclose(sf.run(problem, named, **options).models, whole, rtol=1e-12)


def test_second_order_statement_where_every_term_is_known():
    """Scouts drawn as N(theta*_k, C_k), quadratic losses without rest: both expectations within 5 standard errors."""
    rng, n, d, folds, draws = np.random.default_rng(3), 3, 2, 2, 300
    optimum, root = rng.normal(size=(n, d)), rng.normal(size=(n, d, d)) / 3
    block = [rng.normal(size=(5, d)) * scale for scale in (1.0, 2.0, 0.5)]  # every fold has the same rows
    X = [np.concatenate([x] * folds) for x in block]
    network = sf.Neural.of(nn.Linear(d, 1, bias=False).double(), X, [x @ one for x, one in zip(X, optimum)])
    fold = torch.tensor([0] * 5 + [1] * 5).repeat(n)
    H, C = [x.T @ x / len(x) for x in block], root @ root.transpose(0, 2, 1)
    measured, together = [], []
    for _ in range(draws):
        z = rng.normal(size=(n, folds, d))
        models = torch.from_numpy(optimum[:, None] + np.einsum("kde,kfe->kfd", root, z))
        losses = of_rows(network, tuple(models), fold)[0]
        L = network.data.means(losses).T.numpy()
        measured.append(L - np.diag(L)[:, None])
        together.append(distances(network.data, losses).numpy())
    for i in range(n):
        for k in range(n):
            apart = optimum[k] - optimum[i]
            one = apart @ H[i] @ apart + np.trace(H[i] @ (C[k] - C[i]))
            both = apart @ (H[i] + H[k]) @ apart / 2 + np.trace((H[i] - H[k]) @ (C[k] - C[i])) / 2
            for values, stated in ((measured, one), (together, both)):
                value = np.array(values)[:, i, k]
                assert_array_less(abs(value.mean() - stated), 5 * value.std() / draws**0.5 + 1e-12)


@pytest.mark.slow
def test_the_noisiest_clients_do_not_listen_to_each_other():
    """One law, noise of .05 to 3: errors against those of everybody's model, which are .74 by symmetric distances."""
    rng, truth = np.random.default_rng(0), np.random.default_rng(100).normal(size=4)
    X = [rng.normal(size=(20, 4)) for _ in range(6)]
    y = [x @ truth + noise * rng.normal(size=20) for x, noise in zip(X, np.geomspace(0.05, 3, 6))]
    problem = linear(X, y, batch=5)
    found = sf.collaborators(problem, eta=0.1, iterations=50)
    rules = (found.algorithm(together=25), sf.algorithms.FedAvg())
    runs = [sf.run(problem, rule, iterations=100, eta=0.1, seeds=1, models=True).models[0] for rule in rules]
    scouts, everybody = (((models - truth) ** 2).sum(1).mean() for models in runs)
    assert scouts < 0.6 * everybody


def test_clients_of_one_law_are_at_distance_zero_in_the_mean():
    found = []
    for seed in range(12):
        problem = linear(*regression([(1.0, 0.0, 0.5)] * 2, 8, rng=np.random.default_rng(seed)), batch=2)
        found.append(sf.collaborators(problem, eta=0.1, iterations=30, seed=seed).distance[0, 1])
    assert abs(np.mean(found)) < 4 * np.std(found) / 12**0.5
    assert np.std(found) > 0


def test_few_rows_one_class_and_no_improvement_are_said():
    X, y = classes([1, 1, 1])
    X, y = [X[0], X[1][:3], X[2][:1]], [np.zeros(40, int), y[1][:3], y[2][:1]]
    problem = sf.Neural.of(nn.Linear(3, 2), X, y, batch=4, names=("a", "b", "c"))
    said = "\n".join(sf.collaborators(problem, eta=0.1, iterations=30, folds=4).remarks)
    for line in (
        "client b has 3 rows: 3 folds, not 4",
        "client c has one row: no scout",
        "client a has rows of one class",
    ):
        assert line in said
    noise = linear(*regression([(0.0, 0.0)] * 3, 6, 1.0), batch=1)
    found = sf.collaborators(noise, eta=0.4, iterations=10)
    assert_allclose(found.weights, np.eye(3))
    assert "never improved" in found.remarks[-1]
    assert found.vectors_sent == 0


def test_what_is_no_network_is_refused():
    problem = sf.Quadratics.of(np.eye(2)[None].repeat(2, 0), np.zeros((2, 2)), sigma2=1.0)
    with pytest.raises(sf.InputError, match="scouts train networks"):
        sf.collaborators(problem, eta=0.1)
    with pytest.raises(sf.InputError, match=r"^folds = 1"):
        sf.collaborators(linear(*regression(FAR)), eta=0.1, folds=1)
