"""One iteration of all clients of a network beside a plain loop of torch: a module and an optimiser for each client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from suffice.simulate import FixedWeights, Local, Neural, iterate

from .timing import alternate, row

CLIENTS, BATCHES, ROWS, STEP = 20, (4, 16), 60, 0.05
CLUSTERS = [k // 10 for k in range(CLIENTS)]
"""Two clusters of ten clients."""


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(256, 10),
    )  # fmt: skip


def lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


CASES: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], dict[str, float]]] = {
    "MLP": (mlp, (64,), {"alone": 4.8, "clusters": 24}),
    "CNN": (cnn, (1, 8, 8), {"alone": 3.9, "clusters": 5.8}),
    "LeNet": (lenet, (3, 32, 32), {"alone": 0.95, "clusters": 0.95}),
}
"""Module, shape of a row, and the ratios to reach."""


def plain_loop(network: Neural, weights: np.ndarray, iterations: int) -> Callable[[], Any]:
    """What a user writes: of each client the weighted gradients of those it listens to, and a step of its optimiser."""
    modules = [network.module_of(model) for model in network.start]
    optimisers = [torch.optim.SGD(module.parameters(), lr=STEP) for module in modules]
    draws = torch.Generator().manual_seed(0)
    blocks = list(zip(network.data.X.split(network.row_counts), network.data.y.split(network.row_counts)))

    def run() -> None:
        for _ in range(iterations):
            batches = []
            for X, y in blocks:
                index = torch.randint(len(X), (network.batch,), generator=draws)
                batches.append((X[index], y[index]))
            for module, optimiser, weight in zip(modules, optimisers, weights):
                optimiser.zero_grad()
                for k in np.flatnonzero(weight):
                    x, y = batches[k]
                    (weight[k] * cross_entropy(module(x), y)).backward()
                optimiser.step()

    return run


def ours(network: Neural, algorithm: Any, iterations: int, seeds: int = 1) -> Callable[[], Any]:
    def run() -> None:
        for _ in iterate(network, algorithm, seeds=torch.arange(seeds), iterations=iterations, eta=lambda t: eta):
            pass

    eta = torch.tensor(STEP)
    return run


def table(quick: bool) -> list[dict[str, Any]]:
    """Milliseconds of processor time of an iteration, on one thread, and how many times as much a plain loop takes."""
    rng, rows = np.random.default_rng(0), []
    clusters = FixedWeights.clusters(CLUSTERS)
    rules = {"alone": (Local(), np.eye(CLIENTS)), "clusters": (clusters, clusters.alpha.numpy())}
    for name, (module, shape, goals) in CASES.items():
        X = [rng.normal(size=(ROWS, *shape)).astype(np.float32) for _ in range(CLIENTS)]
        for batch in BATCHES:
            network = Neural.of(module, X, [rng.integers(0, 10, ROWS) for _ in X], batch=batch)
            T = (2 if quick else 5) if network.features > 10_000 else (10 if quick else 20)
            for kind, (rule, weights) in rules.items():
                pair = (ours(network, rule, T), plain_loop(network, weights, T))
                mine, plain = (1e3 * seconds / T for seconds in alternate(*pair, rounds=3 if quick else 9))
                rows.append(row(
                    f"{name}, {kind}, batch {batch}", mine, "ms", shape=(CLIENTS, network.features, 1),
                    peers={"plain loop": plain}, goals={"plain loop": goals[kind]},
                ))  # fmt: skip
        several = (ours(network, Local(), T, seeds) for seeds in (16, 1))
        sixteen, one = (1e3 * seconds / T for seconds in alternate(*several, rounds=3))
        shape_of = (CLIENTS, network.features, 16)
        rows.append(row(f"{name}, alone, a seed of 16", sixteen / 16, "ms", shape=shape_of, peers={"one seed": one}))
    return rows
