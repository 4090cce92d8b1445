"""Quantities as quadratic forms of second moments, against averages over simulated paths written out here."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.simulate import FedAvg, LocalSGD, Quadratics, Randomness
from suffice.simulate.moment_powers import Block, Cycle, MomentPowers
from suffice.simulate.quadratic_forms import WithSum, forms

T, ETA, PATHS = 7, 0.1, 40_000

MOMENTS = {name: form for name, form in forms().items() if not form.level}
"""Those that second moments give."""


def problem(scale: float = 1.0, sigma2: float = 0.5) -> Quadratics:
    rng = np.random.default_rng(12)
    root = rng.normal(size=(3, 2, 2))
    A = scale * (0.2 * np.eye(2) + root @ root.transpose(0, 2, 1) / 4)
    return Quadratics.of(A, rng.normal(size=(3, 2)), sigma2=sigma2, start=rng.normal(size=(3, 2)))


def value(form, given, algorithm, cycle, iterations=T, client=1):
    chosen = WithSum(of=algorithm, name="with sum") if form.of_mean else algorithm
    return MomentPowers(given, chosen, eta=ETA, cycle=cycle).value(form, iterations, client)[0]


def measured(paths: np.ndarray, A: np.ndarray, optimum: np.ndarray) -> dict[str, np.ndarray]:
    """Of models (T + 1, S, N, d): each quantity of client 1 on every path."""
    away = paths - optimum
    excess = np.einsum("tsnd,nde,tsne->tsn", away, A, away)
    gradient = (np.einsum("nde,tsne->tsnd", 2 * A, away) ** 2).sum(-1)
    pairs = ((paths[:, :, :, None] - paths[:, :, None]) ** 2).sum(-1).mean((-1, -2))
    mean = away.mean(0)[:, 1]
    # of the clients' mean loss, its minimiser where the sum of the gradients is 0
    middle = paths.mean(2)
    best = np.linalg.solve(A.sum(0), np.einsum("nde,ne->d", A, optimum))

    def loss(x):
        return sum(np.einsum("...d,de,...e->...", x - m, a, x - m) for a, m in zip(A, optimum)) / len(A)

    slope = (sum(2 * (middle - m) @ a for a, m in zip(A, optimum)) / len(A)) ** 2
    return {
        "excess": excess[-1, :, 1],
        "last_distance": (away[-1, :, 1] ** 2).sum(-1),
        "last_gradient": gradient[-1, :, 1],
        "mean_excess": excess[-1].mean(-1),
        "last_consensus": pairs[-1],
        "random_iterate_excess": excess[:-1, :, 1].mean(0),
        "average_gradient": gradient[:-1, :, 1].mean(0),
        "average_client_gradient": gradient[:-1].mean((0, 2)),
        "average_consensus": pairs[:-1].mean(0),
        "global_excess": loss(middle[-1]) - loss(best),
        "global_distance": ((middle[-1] - best) ** 2).sum(-1),
        "global_gradient": slope[-1].sum(-1),
        "average_global_excess": loss(middle[:-1]).mean(0) - loss(best),
        "average_mean_gradient": slope[:-1].sum(-1).mean(0),
        "mean_iterate_excess": np.einsum("sd,de,se->s", mean, A[1], mean),
    }


@pytest.mark.parametrize(
    ("algorithm", "cycle"),
    [
        (LocalSGD(period=2), Cycle(blocks=(Block(iterations=(1,)), Block(iterations=(2,))))),
        (FedAvg(participants=2, period=2), Cycle(blocks=(Block(iterations=(1, 2)),))),
    ],
    ids=lambda entry: getattr(entry, "name", ""),
)
def test_every_quantity_is_the_mean_over_paths(algorithm, cycle):
    given, source = problem(), Randomness(seeds=torch.arange(PATHS), root=8)
    state = algorithm.init(given, given.start.expand(PATHS, -1, -1))
    models = [state["models"].numpy()]
    for t in range(1, T + 1):
        state = algorithm.step(given, state, algorithm.draw(given, source, t), torch.tensor(ETA, dtype=torch.float64))
        models.append(state["models"].numpy())
    found = measured(np.stack(models), given.A.numpy(), given.optimum.numpy())
    assert found.keys() == set(MOMENTS)
    for name, form in MOMENTS.items():
        exact, sample = value(form, given, algorithm, cycle), found[name]
        # twenty numbers, each the mean of many paths: five standard errors are 6e-7 each
        assert abs(sample.mean() - exact) < 5 * sample.std() / PATHS**0.5, name
        assert sample.std() > 0
