"""Equation (1): exact moments of the estimator and of its debiased form, one client and many."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from suffice.bounds import InputError, evaluate, find
from suffice.bounds.similarity_estimator import debiased_estimate, similarity_estimate


def bound(key, **values):
    return evaluate(find(f"adaptive/equation-1-{key}"), **values)


def outcomes(own, peer, own_sd, peer_sd):
    """All 2^(2 m d) equally likely samples with noise +-sd in each of d features, m = 2, as (count, m, d) each."""
    d = len(own)
    signs = np.array(list(product((-1.0, 1.0), repeat=4 * d))).reshape(-1, 2, 2, d)
    return own + own_sd * signs[:, 0], peer + peer_sd * signs[:, 1]


def raw(own, peer):
    """Z_ik and Z_i, written anew."""
    return ((own.mean(1) - peer.mean(1)) ** 2).sum(-1), (own.mean(1) ** 2).sum(-1)


@pytest.mark.parametrize(("own_sd", "peer_sd"), [(0.5, 0.5), (0.1, 2.0), (1.5, 0.0)])
def test_means_of_the_two_measurements_are_those_of_the_records(own_sd, peer_sd):
    means = np.array([1.0, -0.5]), np.array([0.3, 0.4])
    own, peer = outcomes(*means, own_sd, peer_sd)
    Z_ik, Z_i = raw(own, peer)
    gap, gradient = (float(np.linalg.norm(x)) for x in (means[0] - means[1], means[0]))
    variances = {"sigma2": 2 * own_sd**2, "m": 2}
    np.testing.assert_allclose(Z_ik.mean(), bound("gap", gap=gap, peer_sigma2=2 * peer_sd**2, **variances), rtol=1e-12)
    np.testing.assert_allclose(Z_i.mean(), bound("norm", gradient=gradient, **variances), rtol=1e-12)
    estimate = similarity_estimate(own=own, peer=peer)
    np.testing.assert_allclose(estimate, np.maximum(1 - Z_ik / Z_i, 0), rtol=1e-14, atol=1e-14)


def test_debiased_measurements_have_the_means_of_exact_gradients_even_with_common_noise():
    means = np.array([1.0, -0.5]), np.array([0.3, 0.4])
    for common in (0.0, 1.0):
        own, peer = outcomes(*means, 0.7, 1.3)
        peer = peer + common * (own - means[0])  # the peer's noise correlated with the client's
        Z_ik, Z_i = raw(own, peer)
        difference = own - peer
        v_ik = ((difference - difference.mean(1, keepdims=True)) ** 2).sum((1, 2))  # over m - 1 = 1
        v_i = ((own - own.mean(1, keepdims=True)) ** 2).sum((1, 2))
        D, G = Z_ik - v_ik / 2, Z_i - v_i / 2
        np.testing.assert_allclose(D.mean(), ((means[0] - means[1]) ** 2).sum(), rtol=1e-12)
        np.testing.assert_allclose(G.mean(), (means[0] ** 2).sum(), rtol=1e-12)
        with np.errstate(all="ignore"):
            expected = np.where(G > 0, np.clip(1 - D / G, 0, 1), 0.0)
        np.testing.assert_allclose(debiased_estimate(own=own, peer=peer), expected, rtol=1e-12, atol=1e-14)
        assert 0 < (G <= 0).mean() < 1


@pytest.mark.parametrize("function", [similarity_estimate, debiased_estimate])
def test_one_client_is_compared_with_many(function):
    rng = np.random.default_rng(13)
    own, peers = rng.normal(size=(5, 3, 4)), rng.normal(size=(5, 7, 3, 4))
    peers[:, 2] = own
    got = function(own=own[:, None], peer=peers)
    assert got.shape == (5, 7)
    np.testing.assert_array_equal(got[:, 2], 1)
    assert ((got >= 0) & (got <= 1)).all()
    np.testing.assert_allclose(got[:, 4], function(own=own, peer=peers[:, 4]), rtol=1e-14)


@pytest.mark.parametrize("function", [similarity_estimate, debiased_estimate])
def test_at_a_stationary_sample_only_an_equal_peer_is_similar(function):
    nothing, something = np.zeros((2, 3)), np.ones((2, 3))
    assert function(own=nothing, peer=nothing) == 1
    assert function(own=nothing, peer=something) == 0


def test_one_sample_cannot_be_debiased():
    with pytest.raises(InputError, match="at least two gradients"):
        debiased_estimate(own=np.ones((1, 3)), peer=np.ones((1, 3)))
