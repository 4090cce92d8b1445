"""From a path to a problem."""

from __future__ import annotations

import numpy as np
import pytest
from client_data import TABLE, read, written

import suffice as sf


def test_a_table_becomes_one_least_squares_problem_per_client(tmp_path):
    problem = read(written(tmp_path, TABLE), standardise="none")
    assert problem.names == ("Lyon", "Nice")
    x, y = np.array([1.0, 2, 4]), np.array([2.0, 5, 7])
    slope, intercept = np.polyfit(x, y, 1)
    np.testing.assert_allclose(problem.optimum[0], [intercept, slope], rtol=1e-9)
    design = np.column_stack((np.ones(3), x))
    curvature = 2 * np.linalg.eigvalsh(design.T @ design / 3)
    constants = problem.constants()
    np.testing.assert_allclose([constants.mu[0], constants.beta[0]], curvature, rtol=1e-9)
    residual = y - design @ [intercept, slope]
    np.testing.assert_allclose(constants.excess[0], (y**2).mean() - (residual**2).mean(), rtol=1e-9)


def test_standardising_is_per_client_or_over_all(tmp_path):
    path = written(tmp_path, TABLE)
    everybody = np.array([1.0, 2, 4, 4, 5, 9])
    expected = {
        "client": (np.array([1.0, 2, 4]) - 7 / 3) / np.std([1, 2, 4]),
        "pooled": (np.array([1.0, 2, 4]) - everybody.mean()) / everybody.std(),
        "none": np.array([1.0, 2, 4]),
    }
    for choice, column in expected.items():
        np.testing.assert_allclose(read(path, standardise=choice).data.X[:3, 1], column, rtol=1e-12)


def test_a_client_that_cannot_determine_its_model_is_named(tmp_path):
    path = written(tmp_path, TABLE + "Paris,3,3\n")
    with pytest.raises(sf.InputError, match=r"client Paris.*do not determine 2 coefficients"):
        read(path, standardise="none").constants()


def test_a_regularised_client_needs_neither_rank_nor_both_classes(tmp_path):
    path = written(tmp_path, "site,x,y\nA,1,0\nA,2,0\nB,1,1\nB,2,0\nB,3,1\n")
    assert read(path, loss="logistic", regularisation=0.1).clients == 2
    assert read(written(tmp_path, TABLE + "Paris,3,3\n"), standardise="pooled", regularisation=0.1).clients == 3


@pytest.mark.parametrize(
    "name",
    [
        *("client", "target", "loss", "regularisation", "intercept", "standardise", "standardise_target", "split"),
        *("positive", "batch", "drop", "max_memory"),
    ],
)
@pytest.mark.parametrize("loss", ["auto", "least-squares"])
def test_an_array_of_two_is_no_option(tmp_path, name, loss):
    """Each is refused by its name before anything asks whether it is true."""
    np.savez(tmp_path / "t.npz", X=np.arange(8.0)[:, None] ** 2, y=np.arange(8.0), client=np.arange(8) % 2)
    with pytest.raises(sf.InputError) as caught:
        sf.read(tmp_path / "t.npz", **{"loss": loss, name: np.ones(2)})
    assert caught.value.field == name
