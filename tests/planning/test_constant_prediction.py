"""The least excess of a constant prediction, against losses computed from the rows by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import suffice as sf
from suffice.planning.constant_prediction import served

RNG = np.random.default_rng(3)
X = [RNG.normal(size=(30, 2)) for _ in range(3)]


def least_loss(loss, y, r):
    """Over t, of the prediction t for all rows."""
    return minimize_scalar(lambda t: loss(t, y) + r / 2 * t**2, bounds=(-40, 40), options={"xatol": 1e-9}).fun


def squares(t, y):
    return np.mean((t - y) ** 2)


def log_loss(t, y):
    return np.logaddexp(0, np.where(y > 0, -t, t)).mean()


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
    for i, (y, optimum) in enumerate(zip(targets, problem.optimum.numpy())):
        prediction = np.column_stack((np.ones(30), X[i])) @ optimum
        full = np.mean([of(one, y[j : j + 1]) for j, one in enumerate(prediction)]) + r / 2 * optimum @ optimum
        level = least_loss(of, y, r) - full
        for epsilon, reached in ((level * 1.001, True), (level * 0.999, False)):
            rows = sf.plan(problem, epsilon)
            assert (problem.names[i] in {row.name for row in served(problem, rows)}) == reached
            note = [one for one in rows.notes if "a constant model reaches eps" in one]
            assert bool(note) == bool(served(problem, rows))
            assert all("nothing to plan" in one for one in note)


def test_without_an_intercept_or_rows_nothing_is_served():
    problem = sf.from_arrays(X, [np.full(30, 5.0) + x[:, 0] for x in X], intercept=False, standardise="none")
    assert not served(problem, sf.plan(problem, 10.0))
    assert not served(None, [])
