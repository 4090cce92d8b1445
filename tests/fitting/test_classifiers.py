"""Logistic models beside scikit-learn's, the quadratic functions beside the loss itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from suffice.fitting.classifiers import fit_classes, pooled
from suffice.fitting.local_quadratics import local_quadratics, log_losses, probabilities
from suffice.simulate.data.folds import FOLDS


def drawn(seed, truth, rows, outputs=1):
    """Sites with X, Y, folds for true models (N, K, d)."""
    rng = np.random.default_rng(seed)
    sites = []
    for model in truth:
        X = np.column_stack((np.ones(rows), rng.normal(size=(rows, model.shape[1] - 1))))
        p = probabilities(X @ model.T)
        if outputs == 1:
            Y = (rng.random((rows, 1)) < p).astype(float)
        else:
            Y = np.eye(outputs)[[rng.choice(outputs, p=row) for row in p]]
        sites.append((X, Y, np.arange(rows) % FOLDS))
    return sites


def test_the_quadratic_function_touches_the_loss_and_its_minimiser_loses_less():
    rows = drawn(0, np.ones((2, 1, 3)), 40)
    rng = np.random.default_rng(1)

    def true(models):
        return np.array([2 * log_losses(X @ theta[:, None], Y).sum() for (X, Y, _), theta in zip(rows, models)])

    for size in (1.0, 5.0, 25.0):  # at the last, most rows are confidently wrong or right: Newton's steps overshoot
        at = size * rng.normal(size=(1, 1 + FOLDS, 2, 3))
        (made,) = local_quadratics(rows, at)
        np.testing.assert_allclose(made.fits.loss(at[0])[0], true(at[0, 0]), rtol=1e-9)
        near = at[0, 0] + 1e-5 * rng.normal(size=(2, 3))
        np.testing.assert_allclose(made.fits.loss(np.stack([near] * 6))[0], true(near), atol=1e-6)  # of second order
        whole = np.linalg.solve(made.fits.second[0], made.fits.cross[0][..., None])[..., 0]
        assert (true(whole) < true(at[0, 0]) + 1e-9).all()


def test_what_is_fitted_without_a_fold_never_sees_it():
    """Labels of fold 0 turned about are nothing to the fit without it."""
    rows = drawn(8, np.ones((3, 1, 3)), 30)
    turned = [(X, np.where((folds == 0)[:, None], 1 - Y, Y), folds) for X, Y, folds in rows]
    at, other = (local_quadratics(entry, np.ones((1, 1 + FOLDS, 3, 3)))[0].fits for entry in (rows, turned))
    np.testing.assert_allclose(at.cross[1], other.cross[1], rtol=1e-12)
    assert np.abs(at.cross[[0, 2]] - other.cross[[0, 2]]).max(-1).min() > 1


@pytest.mark.parametrize("outputs", [1, 3])
def test_pooled_is_nearly_the_ridge_of_its_penalty(outputs):
    truth = np.tile(np.random.default_rng(2).normal(size=(1, outputs, 3)), (3, 1, 1))
    rows = drawn(3, truth, 60, outputs)
    models, penalty, rounds = pooled(rows)
    X, Y = np.concatenate([entry[0] for entry in rows]), np.concatenate([entry[1] for entry in rows])

    def objective(flat):
        theta = flat.reshape(outputs, 3)
        return log_losses(X @ theta.T, Y).sum() + penalty * (theta[:, 1:] ** 2).sum() / 2

    exact = minimize(objective, np.zeros(3 * outputs), tol=1e-10).fun
    # an average over ridges, so a little above the minimum of one
    assert exact - 1e-6 <= objective(models[:, 0, 0].ravel()) < exact * (1 + 5e-3)
    assert rounds >= 1


@pytest.mark.parametrize("outputs", [1, 3])
def test_alike_sites_are_nearly_as_good_as_scikit_learn_on_all_rows(outputs):
    truth = np.tile(np.random.default_rng(4).normal(size=(1, outputs, 4)), (6, 1, 1))
    rows, fresh = drawn(5, truth, 40, outputs), drawn(6, truth[:1], 4000, outputs)[0]
    fitted, gains, _ = fit_classes(rows)
    ours = np.mean([log_losses(fresh[0] @ fitted.models[:, k].T, fresh[1]).mean() for k in range(6)])
    X, Y = np.concatenate([entry[0] for entry in rows]), np.concatenate([entry[1] for entry in rows])
    labels = Y[:, 0] if outputs == 1 else Y.argmax(1)
    own = [LogisticRegression().fit(X[k * 40 : k * 40 + 40], labels[k * 40 : k * 40 + 40]) for k in range(6)]
    told = LogisticRegression().fit(X, labels)
    at = fresh[1][:, 0].astype(int) if outputs == 1 else fresh[1].argmax(1)

    def loss(model):
        return -np.log(model.predict_proba(fresh[0])[np.arange(4000), at]).mean()

    alone = np.mean([loss(model) for model in own])
    assert ours < loss(told) + 0.3 * (alone - loss(told)), (ours, loss(told), alone)
    assert gains.network > 0
    assert (fitted.influences > 0.5 / 6).sum(1).min() >= 5


def test_a_site_with_one_class_borrows_the_slopes():
    truth = np.tile(np.array([[[0.0, 2.0]]]), (4, 1, 1))
    rows = drawn(7, truth, 60)
    X, _, folds = rows[0]
    rows[0] = (X, np.ones((60, 1)), folds)
    models = fit_classes(rows)[0].models[0]
    assert np.isfinite(models).all()
    assert models[0, 0] > 1  # its rows are all of the second class
    assert models[1:, 1].min() > 1
