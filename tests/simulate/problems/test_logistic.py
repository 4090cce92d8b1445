"""Logistic regression: losses against 50 digits, optima, constants, and what has no minimiser."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import Logistic
from suffice.simulate.problems.logistic import _excess_log_loss

ROWS, D = (12, 30, 19), 3
N = len(ROWS)


def data(seed: int = 81) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n, D)) for n in ROWS]
    return X, [(rng.uniform(size=len(x)) < 1 / (1 + np.exp(-x @ [0.5, -0.2, 0.0]))).astype(int) for x in X]


def built(**more) -> Logistic:
    return Logistic.of(*data(), **({"regularisation": 0.1} | more))


def loss(i: int, theta: np.ndarray, regularisation: float = 0.1) -> mpmath.mpf:
    X, y = data()
    total = mpmath.mpf(0)
    for x, label in zip(X[i], y[i]):
        margin = mpmath.fdot([mpmath.mpf(v) for v in x], [mpmath.mpf(v) for v in theta]) * (2 * int(label) - 1)
        total += mpmath.log1p(mpmath.exp(-margin))
    return total / len(y[i]) + mpmath.mpf(regularisation) / 2 * mpmath.fsum(mpmath.mpf(v) ** 2 for v in theta)


@pytest.mark.parametrize("regularisation", [0.0, 0.1])
def test_excess_is_the_loss_above_its_minimum_even_next_to_it(regularisation):
    problem = built(regularisation=regularisation)
    rng = np.random.default_rng(81)
    with mpmath.workdps(50):
        for scale, rtol in [(3.0, 1e-12), (1e-3, 1e-10), (1e-7, 1e-6)]:
            theta = problem.optimum.numpy() + scale * rng.normal(size=(N, D))
            got = problem.excess(torch.from_numpy(theta[None]))[0].numpy()
            for i in range(N):
                # the optimum is exact to 1e-15: at distance 1e-7 the excess 1e-15 is good to about 1e-8
                expected = loss(i, theta[i], regularisation) - loss(i, problem.optimum[i].numpy(), regularisation)
                np.testing.assert_allclose(got[i], float(expected), rtol=rtol)


@pytest.mark.parametrize("margin", [700.0, 28.0, 0.8, 0.0, -2.0, -40.0, -700.0])
def test_tangent_distance_of_the_log_loss_has_eleven_digits(margin):
    for step in (1e-9, -1e-6, 1e-3, 0.0199, -0.0201, 0.5, -3.0, 40.0, -40.0, 800.0, -800.0):
        got = _excess_log_loss(
            torch.tensor(margin, dtype=torch.float64), torch.tensor(step, dtype=torch.float64)
        ).item()
        with mpmath.workdps(800):
            m, t = mpmath.mpf(margin), mpmath.mpf(step)
            expected = mpmath.log1p(mpmath.exp(-m - t)) - mpmath.log1p(mpmath.exp(-m)) + t / (1 + mpmath.exp(m))
        if expected > 1e-290:
            np.testing.assert_allclose(got, float(expected), rtol=1e-11)


def test_labels_may_be_zeros_and_ones_or_signs():
    X, y = data()
    other = Logistic.of(X, [2.0 * labels - 1 for labels in y], regularisation=0.1)
    np.testing.assert_array_equal(other.optimum, built().optimum)


def test_smoothness_is_attained_at_zero():
    problem, (X, _) = built(), data()
    top = np.array([np.linalg.norm(x, 2) ** 2 / len(x) for x in X])
    np.testing.assert_allclose(problem.smoothness, top / 4 + 0.1, rtol=1e-12)
    for i in range(N):
        theta = torch.zeros(D, dtype=torch.float64)
        hessian = torch.autograd.functional.hessian(lambda t, i=i: problem.excess(t.expand(1, N, -1))[0, i], theta)
        np.testing.assert_allclose(np.linalg.eigvalsh(hessian)[-1], problem.smoothness[i], rtol=1e-6)


def test_constants_are_strong_convexity_tight_smoothness_and_bounds_over_all_models():
    problem, (X, _) = built(batch=2), data()
    constants = problem.constants()
    np.testing.assert_array_equal(constants.mu, 0.1)
    np.testing.assert_allclose(constants.beta, problem.smoothness, rtol=1e-15)
    np.testing.assert_allclose(constants.sigma2, [(x**2).sum(1).mean() / 2 for x in X], rtol=1e-12)
    np.testing.assert_allclose(constants.excess, problem.excess(problem.start[None])[0], rtol=1e-15)


def test_without_regularisation_no_theorem_has_its_mu():
    problem = built(regularisation=0.0)
    with pytest.raises(InputError, match="regularisation = 0"):
        problem.constants()
    assert problem.gradient(problem.optimum[None]).abs().max() < 1e-15


def test_bound_of_the_differences_is_zero_for_equal_clients_and_survives_a_search():
    X, y = data()
    shuffled = np.random.default_rng(83).permutation(ROWS[1])
    twins = Logistic.of([X[1], X[1][shuffled], X[0]], [y[1], y[1][shuffled], y[0]], regularisation=0.1)
    b2 = twins.heterogeneity().b2
    assert b2[0, 1] == b2[1, 0] == 0
    assert b2[0, 2] > 0
    problem = built()
    bound, begin = problem.heterogeneity().b2, 3 * np.random.default_rng(84).normal(size=(20, N, D))
    theta, best = torch.from_numpy(begin), torch.zeros(N, N, dtype=torch.float64)
    for _ in range(30):  # ascent by steps of fixed length
        gap = problem.gradient_gap(theta.requires_grad_())
        best = torch.maximum(best, gap.detach().max(0).values)
        (slope,) = torch.autograd.grad(gap.sum(), theta)
        theta = theta.detach() + 0.5 * slope / slope.norm(dim=-1, keepdim=True)
    assert (best.numpy() <= bound).all()
    assert (best.numpy() > 0.1 * bound)[~np.eye(N, dtype=bool)].all()  # not vacuous either


# --- errors


ON_THE_PLANE = np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 0.0], [0.0, 1.0]])
"""All rows on the right side of a plane or on it, by the labels 1, 1, 0, 1: the infimum is not attained."""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: y.__setitem__(1, np.zeros(ROWS[1])), r"labels of client turin = .*only one class"),
        (lambda X, y: y.__setitem__(1, np.ones(ROWS[1])), r"labels of client turin = .*only one class"),
        (lambda X, y: y.__setitem__(2, X[2] @ [1.0, 2.0, -1.0] > 0), "labels of client lyon = 'separable'"),
        (lambda X, y: X[0].__setitem__((slice(None), 2), X[0][:, 1]), "rank of the rows of client oslo = 2"),
    ],
)
def test_what_has_no_minimiser_needs_regularisation(change, message):
    X, y = data()
    change(X, y)
    y = [labels.astype(int) for labels in y]
    with pytest.raises(InputError, match=message):
        Logistic.of(X, y, names=("oslo", "turin", "lyon"))
    problem = Logistic.of(X, y, regularisation=1e-3)
    assert problem.gradient(problem.optimum[None]).abs().max() < 1e-15
    with pytest.raises(InputError, match="separable"):
        Logistic.of([ON_THE_PLANE], [[1, 1, 0, 1]])
