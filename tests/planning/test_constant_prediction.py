"""The least excess of a constant prediction, against losses computed from the rows by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import suffice as sf

RNG = np.random.default_rng(3)
X = [RNG.normal(size=(30, 2)) for _ in range(3)]


def least_loss(loss, y, r):
    """Over t, of the prediction t for all rows."""
    return minimize_scalar(lambda t: loss(t, y) + r / 2 * t**2, bounds=(-40, 40), options={"xatol": 1e-9}).fun


def squares(t, y):
    return np.mean((t - y) ** 2)


def log_loss(t, y):
    return np.logaddexp(0, np.where(y > 0, -t, t)).mean()


@pytest.mark.slow
@pytest.mark.share(2)
@pytest.mark.parametrize("r", [0.1, 2.0])
@pytest.mark.parametrize(
    ("loss", "of", "targets"),
    [
        ("least-squares", squares, [5 + x[:, 0] + RNG.normal(size=30) for x in X]),
        ("logistic", log_loss, [(RNG.random(30) < share).astype(float) for share in (0.5, 0.9, 1.0)]),
    ],
)
def test_a_precision_counts_as_served_from_the_least_excess_of_a_constant_on(loss, of, targets, r):
    problem = sf.from_arrays(X, targets, loss=loss, regularisation=r, standardise="none")
    levels = []
    for x, y, optimum in zip(X, targets, problem.optimum.numpy()):
        prediction = np.column_stack((np.ones(30), x)) @ optimum
        full = np.mean([of(one, y[j : j + 1]) for j, one in enumerate(prediction)]) + r / 2 * optimum @ optimum
        levels.append(least_loss(of, y, r) - full)
    for epsilon in (share * level for level in levels for share in (1.001, 0.999)):
        reached = sum(level <= epsilon for level in levels)
        said = f"At {reached} of 3 clients a constant model reaches eps: there is nothing to plan."
        notes = [note for note in sf.plan(problem, epsilon).notes if "a constant model reaches eps" in note]
        assert notes == ([said] if reached else [])


def test_without_an_intercept_nothing_is_served():
    problem = sf.from_arrays(X, [np.full(30, 5.0) + x[:, 0] for x in X], intercept=False, standardise="none")
    assert not any("constant model" in note for note in sf.plan(problem, 10.0).notes)
