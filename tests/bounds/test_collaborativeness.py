"""How far quadratics agree: M and zeta of CoBo's assumption (A4)."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from records import bound_of  # tests/helpers

from suffice.bounds.collaborativeness import (
    consensus_distance,
    isotropic_heterogeneity,
    least_gradient_sum,
    relative_heterogeneity,
)

bound = bound_of("cobo")
ROUNDING = 1 + 1e-9  # matrices of condition up to 1e4


def test_relative_heterogeneity_is_the_largest_generalised_eigenvalue_and_no_point_exceeds_it():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(4, 5, 3, 3))
    hessians = root @ root.swapaxes(-1, -2) + 0.1 * np.eye(3)
    M = relative_heterogeneity(own=hessians[:, :, None], peer=hessians[:, None])
    assert M.shape == (4, 5, 5)
    for b in range(4):
        for i in range(5):
            for j in range(5):
                D, S = (hessians[b, i] + sign * hessians[b, j] for sign in (-1, 1))
                if i != j:
                    values, vectors = scipy.linalg.eigh(D @ D, S @ S)
                    np.testing.assert_allclose(M[b, i, j] ** 2, values[-1], rtol=1e-9)
                    worst = vectors[:, -1]
                    attained = np.linalg.norm(D @ worst) / np.linalg.norm(S @ worst)
                    np.testing.assert_allclose(attained, M[b, i, j], rtol=1e-9)
                x = rng.normal(size=(100, 3))
                assert (np.linalg.norm(x @ D, axis=1) <= M[b, i, j] * np.linalg.norm(x @ S, axis=1) * ROUNDING).all()


def test_example_2_is_a_case_of_both_definitions():
    rng = np.random.default_rng(2)
    a, shift = np.exp(rng.normal(size=(50, 2))), rng.normal(size=(50, 3))
    own, peer = a[:, :1, None] * np.eye(3), a[:, 1:, None] * np.eye(3)
    at = {"own_curvature": a[:, 0], "peer_curvature": a[:, 1]}
    M = bound("example-2-similarity", **at)
    np.testing.assert_allclose(relative_heterogeneity(own=own, peer=peer), M, rtol=1e-12)
    np.testing.assert_allclose(isotropic_heterogeneity(curvature=a), M, rtol=1e-12)
    zeta2 = bound("example-2-dissimilarity", **at, separation=np.linalg.norm(shift, axis=1))
    np.testing.assert_allclose(least_gradient_sum(own=own, peer=peer, shift=shift), zeta2, rtol=1e-11)


def test_least_gradient_sum_is_attained_and_nowhere_undercut():
    rng = np.random.default_rng(3)
    for _ in range(50):
        root = rng.normal(size=(2, 3, 3))
        own, peer = root @ root.swapaxes(1, 2) + 0.2 * np.eye(3)
        shift = rng.normal(size=3)
        x = np.linalg.solve(own @ own + peer @ peer, own @ own @ shift)
        attained = np.sum((own @ (x - shift)) ** 2) + np.sum((peer @ x) ** 2)
        zeta2 = least_gradient_sum(own=own, peer=peer, shift=shift)
        np.testing.assert_allclose(zeta2, attained, rtol=1e-9)
        formula = shift @ np.linalg.solve(np.linalg.inv(own @ own) + np.linalg.inv(peer @ peer), shift)
        np.testing.assert_allclose(zeta2, formula, rtol=1e-6)  # inverts squares of condition 1e4
        others = x + rng.normal(size=(100, 3))
        assert ((((others - shift) @ own) ** 2).sum(1) + ((others @ peer) ** 2).sum(1) >= zeta2).all()


def test_consensus_distance_is_half_of_the_mean_over_pairs():
    models = np.random.default_rng(6).normal(size=(3, 5, 2))
    pairs = ((models[:, :, None] - models[:, None]) ** 2).sum(-1).mean((1, 2))
    np.testing.assert_allclose(consensus_distance(models=models), pairs / 2, rtol=1e-13)
