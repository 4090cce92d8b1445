"""Posterior means beside a dense solve of all sites at once, and influences beside finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from populations import draw, messages

from suffice.fitting.random_coefficients import posterior, random_coefficients, with_centre


def dense(fits, omega, precision, noise):
    """(theta_1, ..., theta_N, m) at the mode of exp(-sum rss_k/2r_k - sum |theta_k - m|^2_Omega^-1 / 2 - m'Pm/2)."""
    S, c = fits.second[0] / noise[0][:, None, None], fits.cross[0] / noise[0][:, None]
    sites, d = c.shape
    inverse = np.linalg.inv(omega)
    H, g = np.zeros(((sites + 1) * d,) * 2), np.zeros((sites + 1) * d)
    last = slice(sites * d, None)
    H[last, last] = precision[0] + sites * inverse
    for k in range(sites):
        at = slice(k * d, (k + 1) * d)
        H[at, at] = S[k] + inverse
        H[at, last] = H[last, at] = -inverse
        g[at] = c[k]
    return np.linalg.solve(H, g).reshape(sites + 1, d), np.linalg.inv(H)


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    return messages(draw(1, rng.normal(size=(4, 2)), 15))


def test_models_are_those_of_a_dense_solve(network):
    rng = np.random.default_rng(2)
    root = np.tril(rng.normal(size=(3, 3)))
    precision = np.tile(0.3 * np.eye(3), (6, 1, 1))
    noise = rng.uniform(0.5, 2, size=(6, 4))
    found = posterior(network.fits, root, precision, noise)
    by_hand, covariance = dense(network.fits, root @ root.T, precision, noise)
    np.testing.assert_allclose(found.models[0], by_hand[:-1], rtol=1e-9)
    np.testing.assert_allclose(found.centre[0, 0], by_hand[-1], rtol=1e-9)
    within, S = root @ found.given.inverse[0, 1] @ root.T, found.given.second[0, 1]
    outside = np.eye(3) - within @ S
    own = within + outside @ found.spread[0] @ outside.T
    np.testing.assert_allclose(own, covariance[3:6, 3:6], rtol=1e-9)
    apart, uncertain = found.uncertainty()
    np.testing.assert_allclose(uncertain[0, 1], np.trace(S @ own), rtol=1e-9)
    every = [root @ inverse @ root.T for inverse in found.given.inverse[0]]
    moved = [V @ S @ found.spread[0] @ S @ V for V, S in zip(every, found.given.second[0])]
    np.testing.assert_allclose(apart[0], np.sum(every, axis=0) + np.sum(moved, axis=0), rtol=1e-9)


def test_shares_are_derivatives_and_add_to_one(network):
    free = np.tile(1e-9 * np.eye(3), (6, 1, 1))
    root = np.diag([1.0, 0.3, 0.1])
    found = posterior(network.fits, root, free)
    np.testing.assert_allclose(found.shares.sum(1), 1, rtol=1e-6)
    # the trace of d theta_0 / d thhat_2, where c_2 = S_2 thhat_2
    fits, trace = network.fits, 0.0
    for j in range(3):
        cross = fits.cross.copy()
        cross[0, 2] += fits.second[0, 2][:, j]
        moved = type(fits)(second=fits.second, cross=cross, square=fits.square, rows=fits.rows)
        trace += (posterior(moved, root, free).models - found.models)[0, 0, j]
    np.testing.assert_allclose(found.shares[0, 2], trace / 3, rtol=1e-8)
    assert abs(found.shares[0, 2]) > 1e-3


def test_learnt_covariance_is_that_of_the_population():
    """Two hundred sites of forty rows say what the scatter is: intercept 0, slopes 1 and 0.1, in their own units."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(200, 2)) * [1.0, 0.1]
    made = messages(draw(4, truth, 40, noise=0.3))
    free = 1e-6 * made.fits.rows.sum(1)[:, None, None] * made.metric
    models, _, omega, variance = random_coefficients(made.fits, np.eye(3), 0.1, free, least=1e-8, own_noise=False)
    total = np.concatenate([y for _, y in draw(4, truth, 40, noise=0.3)]).var()
    np.testing.assert_allclose(np.diagonal(omega)[1:] * total, [1.0, 0.01], rtol=0.25)  # 200 squares: +-10 % each
    assert omega[0, 0] * total < 0.005
    np.testing.assert_allclose(variance[0, 0] * total, 0.09, rtol=0.05)
    assert models.shape == (6, 200, 3)


def test_a_column_that_never_varies_at_a_site_has_the_centre_s_coefficient():
    # five sites far apart in level; column 2 is a mark of 5 % of the rows that the last two sites never have
    rng = np.random.default_rng(5)
    sites = []
    for k in range(5):
        X = np.column_stack((rng.normal(size=40), rng.random(40) < (0.08 if k < 3 else 0.0)))
        X[0, 1] = k < 3
        sites.append((X, 10.0 * rng.normal() + X @ [1.0, 2.0] + rng.normal(size=40)))
    fits = messages(sites).fits
    assert not fits.varying[0, 3:, 2].any()
    assert fits.varying[0, :3].all()
    free = np.tile(1e-6 * np.eye(3), (6, 1, 1))
    root = np.array([[0.3, 0.0, 0.0], [0.0, 3.0, 0.0], [2.0, 0.0, 3.0]])  # a level tells on the mark
    found = posterior(fits, root, free)
    np.testing.assert_allclose(found.models[0, 3:, 2], found.centre[0, 0, 2], rtol=1e-12)
    assert abs(found.models[0, :3, 2] - found.centre[0, 0, 2]).min() > 1e-3  # where it varies it is the site's own
    # what is said of other models leaves their predictions for the site's rows alone
    other = rng.normal(size=(6, 5, 3))
    changed = with_centre(fits, other, found.centre)
    np.testing.assert_allclose(changed[0, 3:, 2], found.centre[0, 0, 2], rtol=1e-12)
    np.testing.assert_allclose(fits.loss(changed), fits.loss(other), rtol=1e-9)
