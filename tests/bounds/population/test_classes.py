"""Logistic models beside scikit-learn's, the quadratic functions beside the loss itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from suffice.bounds.population import FOLDS
from suffice.bounds.population.classes import fit_classes, pooled
from suffice.bounds.population.local_quadratics import local_quadratics, log_losses, probabilities


def drawn(seed, truth, rows, outputs=1):
    """Sites with X, Y, weights, folds for true models (N, K, d)."""
    rng = np.random.default_rng(seed)
    sites = []
    for model in truth:
        X = np.column_stack((np.ones(rows), rng.normal(size=(rows, model.shape[1] - 1))))
        p = probabilities(X @ model.T)
        if outputs == 1:
            Y = (rng.random((rows, 1)) < p).astype(float)
        else:
            Y = np.eye(outputs)[[rng.choice(outputs, p=row) for row in p]]
        sites.append((X, Y, np.ones(rows), np.arange(rows) % FOLDS))
    return sites


def test_the_quadratic_function_touches_the_loss_and_is_above_it():
    rows = drawn(0, np.ones((2, 1, 3)), 40)
    rng = np.random.default_rng(1)
    at = rng.normal(size=(1, 2, 3))
    (made,) = local_quadratics(rows, at)

    def true(models):
        return np.array([2 * log_losses(X @ theta[:, None], Y).sum() for (X, Y, _, _), theta in zip(rows, models)])

    np.testing.assert_allclose(made.fits.loss(at[0])[0], true(at[0]), rtol=1e-10)
    for scale in (1e-4, 1.0, 5.0):
        moved = at[0] + scale * rng.normal(size=(2, 3))
        above = made.fits.loss(moved)[0] - true(moved)
        assert (above > -1e-9).all()
        if scale == 1e-4:
            np.testing.assert_allclose(above, 0, atol=1e-5)  # of second order: the gradients agree


@pytest.mark.parametrize("outputs", [1, 3])
def test_pooled_is_the_ridge_of_its_penalty(outputs):
    truth = np.tile(np.random.default_rng(2).normal(size=(1, outputs, 3)), (3, 1, 1))
    rows = drawn(3, truth, 60, outputs)
    models, penalty, rounds = pooled(rows)
    X, Y = np.concatenate([entry[0] for entry in rows]), np.concatenate([entry[1] for entry in rows])

    def objective(flat):
        theta = flat.reshape(outputs, 3)
        return log_losses(X @ theta.T, Y).sum() + penalty * (theta[:, 1:] ** 2).sum() / 2

    exact = minimize(objective, np.zeros(3 * outputs), tol=1e-10).fun
    assert exact - 1e-6 <= objective(models[:, 0].ravel()) < exact * (1 + 2e-3)
    assert rounds >= 1


@pytest.mark.parametrize("outputs", [1, 3])
def test_alike_sites_are_nearly_as_good_as_scikit_learn_on_all_rows(outputs):
    truth = np.tile(np.random.default_rng(4).normal(size=(1, outputs, 4)), (6, 1, 1))
    rows, fresh = drawn(5, truth, 40, outputs), drawn(6, truth[:1], 4000, outputs)[0]
    found = fit_classes(rows, np.full(6, 40))
    ours = np.mean([log_losses(fresh[0] @ found.fitted.models[:, k].T, fresh[1]).mean() for k in range(6)])
    X, Y = np.concatenate([entry[0] for entry in rows]), np.concatenate([entry[1] for entry in rows])
    labels = Y[:, 0] if outputs == 1 else Y.argmax(1)
    own = [LogisticRegression().fit(X[k * 40 : k * 40 + 40], labels[k * 40 : k * 40 + 40]) for k in range(6)]
    told = LogisticRegression().fit(X, labels)
    at = fresh[1][:, 0].astype(int) if outputs == 1 else fresh[1].argmax(1)

    def loss(model):
        return -np.log(model.predict_proba(fresh[0])[np.arange(4000), at]).mean()

    alone = np.mean([loss(model) for model in own])
    assert ours < loss(told) + 0.3 * (alone - loss(told)), (ours, loss(told), alone)
    assert found.gains.network > 0
    assert (found.fitted.influences > 0.5 / 6).sum(1).min() >= 5


def test_a_site_with_one_class_borrows_the_slopes():
    truth = np.tile(np.array([[[0.0, 2.0]]]), (4, 1, 1))
    rows = drawn(7, truth, 60)
    X, _, weights, folds = rows[0]
    rows[0] = (X, np.ones((60, 1)), weights, folds)
    models = fit_classes(rows, np.full(4, 60)).fitted.models[0]
    assert np.isfinite(models).all()
    assert models[0, 0] > 1  # its rows are all of the second class
    assert models[1:, 1].min() > 1
