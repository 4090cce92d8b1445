"""Observables against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import suffice as sf
from suffice.bounds import Quantity
from suffice.simulate.observables import (
    OF_PATHS,
    AveragedExcess,
    ClusterGradient,
    Distance,
    Excess,
    Lyapunov,
    MeanExcess,
)


def test_observables_of_a_path_moved_by_hand():
    """One seed, three clients on a line with R_i = a_i (x - m_i)^2, models moved by hand."""
    a, m = np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, -1.0])
    problem = sf.Quadratics.of(a[:, None, None], -m[:, None], sigma2=1.0, start=[0.0])
    path = np.array([[0.5, 0.0, 1.0], [0.25, 0.5, 0.0], [0.0, 2.0, -3.0]])
    eta, p, control = np.array([0.1, 0.2, 0.3]), 0.5, np.array([0.3, -0.1, 0.2])
    solution = torch.tensor([[0.1], [0.2], [0.3]], dtype=torch.float64)
    followed = {
        "excess": Excess(problem), "mean": MeanExcess(problem), "averaged": AveragedExcess(problem),
        "gradient": ClusterGradient(problem, [[0, 2], [1]]), "distance": Distance(solution, np.array([1.0, 2.0, 3.0])),
        "Psi": Lyapunov(problem, solution, eta=eta, p=p),
    }  # fmt: skip
    for t, models in enumerate(path):
        state = {"models": torch.from_numpy(models)[None, :, None], "control": torch.from_numpy(control)[None, :, None]}
        for each in followed.values():
            each.update(t, state)
    value = {name: each.value()[0].numpy() for name, each in followed.items()}
    last, x = path[-1], solution[:, 0].numpy()
    np.testing.assert_allclose(value["excess"], a * (last - m) ** 2, rtol=1e-12)
    np.testing.assert_allclose(value["mean"], [(a * (last - m) ** 2).mean()], rtol=1e-12)
    np.testing.assert_allclose(value["averaged"], [(a * (path[1:].mean(0) - m) ** 2).mean()], rtol=1e-12)  # 1 to T
    together = [(2 * a[[0, 2]] * (row[[0, 2]].mean() - m[[0, 2]])).mean() ** 2 for row in path[:2]]  # 0 to T - 1
    alone = [(2 * a[1] * (row[1] - m[1])) ** 2 for row in path[:2]]
    np.testing.assert_allclose(value["gradient"], [np.mean(together), np.mean(alone)], rtol=1e-12)
    np.testing.assert_allclose(value["distance"], [(np.array([1, 2, 3]) * (last - x) ** 2).mean() / 2], rtol=1e-12)
    terms = (last - x) ** 2 / eta + eta * (control - 2 * a * (x - m)) ** 2 / p**2
    np.testing.assert_allclose(value["Psi"], [0.1 * terms.mean()], rtol=1e-12)


PATHS = np.array([
    [3.0, 2.0, 0.5, 4.0],  # tau = 2, then lifted by noise
    [3.0, 1.0, 1.0, 1.0],  # equal to eps is still running: tau > 3
    [0.5, 9.0, 9.0, 9.0],  # tau = 0
    [3.0, 2.0, 2.0, 0.25],  # tau = 3 = T: running at T - 1
])  # fmt: skip


@pytest.mark.parametrize(
    ("quantity", "values"),
    [
        (Quantity.EXCESS, [4.0, 1.0, 9.0, 0.25]),
        (Quantity.EXCESS_WHILE_RUNNING, [0.0, 1.0, 0.0, 0.25]),
        (Quantity.STILL_RUNNING, [0.0, 1.0, 0.0, 0.0]),
        (Quantity.STOPPED_EXCESS, [0.5, 1.0, 0.5, 0.25]),
        (Quantity.HITTING_TIME, [2.0, 3.0, 0.0, 3.0]),
    ],
)
def test_observables_of_four_paths(quantity, values):
    np.testing.assert_array_equal(OF_PATHS[quantity](PATHS, 1.0), values)
