"""Least squares: the population quadratic and the one-row oracle against sums over rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import LeastSquares

ROWS, D = (4, 7, 5), 2
N = len(ROWS)


def data() -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(5)
    return [rng.normal(size=(n, D)) for n in ROWS], [rng.normal(size=n) for n in ROWS]


def built(**more) -> tuple[LeastSquares, list[np.ndarray], list[np.ndarray]]:
    X, y = data()
    return LeastSquares.of(X, y, **more), X, y


def row_gradient(X: np.ndarray, y: np.ndarray, row: int, theta: np.ndarray) -> np.ndarray:
    return 2 * X[row] * (X[row] @ theta - y[row])


def brute_variance(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    g = np.array([row_gradient(X, y, row, theta) for row in range(len(y))])
    return float(((g - g.mean(0)) ** 2).sum(1).mean())


@pytest.mark.parametrize("far", [True, False])
def test_sigma2_is_the_largest_variance_over_the_hull_of_starts_and_optima(far):
    optima = built()[0].optimum.numpy()
    # starts outside the hull of the optima, or well inside it
    start = np.array([[3.0, -1.0], [0.0, 2.0], [1.0, 1.0]]) if far else optima.mean(0)[None] + 0.01 * optima
    problem, X, y = built(start=start)
    vertices = np.concatenate((start, problem.optimum.numpy()))
    expected = [max(brute_variance(X[k], y[k], v) for v in vertices) for k in range(N)]
    assert (max(brute_variance(X[0], y[0], v) for v in start) == expected[0]) is far
    np.testing.assert_allclose(problem.sigma2, expected, rtol=1e-12)
    np.testing.assert_allclose(problem.constants().sigma2, expected, rtol=1e-12)
    for mix in np.random.default_rng(9).dirichlet(np.full(len(vertices), 0.3), 200):
        inside = [brute_variance(X[k], y[k], mix @ vertices) for k in range(N)]
        assert (inside <= np.array(expected) * (1 + 1e-12)).all()


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), np.ones(3)),  # a column of zeros
        (np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), np.arange(3.0)),  # a constant column beside the intercept
        (np.array([[1.0, 2.0]]), np.ones(1)),  # one row, two coefficients
    ],
)
def test_rows_that_determine_no_model_name_the_client(X, y):
    """Other bad data are refused by what reads the rows of every problem: test_arguments."""
    good, target = data()
    with pytest.raises(InputError, match="client turin"):
        LeastSquares.of([good[0], X, good[2]], [target[0], y, target[2]], names=("oslo", "turin", "lyon")).constants()


@pytest.mark.parametrize("level", [0.1, 0.3, 0.7])
def test_a_client_without_noise_is_refused_whatever_the_rounding(level):
    rng = np.random.default_rng(2)
    problem = LeastSquares.of([rng.normal(size=(9, 1)), np.ones((3, 1))], [rng.normal(size=9), np.full(3, level)])
    with pytest.raises(InputError, match="gradient variance of client 1"):
        problem.constants()


# --- regularisation


@pytest.mark.parametrize("ridge", [0.0, 0.8])
def test_losses_are_mean_squares_above_their_minimum_and_constants_extreme_eigenvalues(ridge):
    problem, X, y = built(regularisation=ridge)
    theta = np.random.default_rng(13).normal(size=(20, N, D))
    expected = np.empty((20, N))
    for i in range(N):
        loss = lambda t, i=i: np.mean((X[i] @ t - y[i]) ** 2) + ridge / 2 * t @ t  # noqa: E731
        best = np.linalg.solve(X[i].T @ X[i] / len(y[i]) + ridge / 2 * np.eye(D), X[i].T @ y[i] / len(y[i]))
        np.testing.assert_allclose(problem.optimum[i], best, rtol=1e-12)
        expected[:, i] = [loss(t) - loss(best) for t in theta[:, i]]
    np.testing.assert_allclose(problem.excess(torch.from_numpy(theta)), expected, rtol=1e-11)
    eigenvalues = [np.linalg.svd(x, compute_uv=False) ** 2 / len(x) for x in X]
    constants = problem.constants()
    np.testing.assert_allclose(constants.mu, [2 * e.min() + ridge for e in eigenvalues], rtol=1e-12)
    np.testing.assert_allclose(constants.beta, [2 * e.max() + ridge for e in eigenvalues], rtol=1e-12)


def test_regularisation_makes_up_for_missing_directions():
    X, y = data()
    line = np.outer([1.0, 2.0, -1.0], [0.6, 0.8])
    with pytest.raises(InputError, match="or regularise"):
        LeastSquares.of([line, X[1]], [y[0][:3], y[1]]).constants()
    problem = LeastSquares.of([line, X[1]], [y[0][:3], y[1]], regularisation=0.1)
    np.testing.assert_allclose(problem.constants().mu[0], 0.1, rtol=1e-12)
