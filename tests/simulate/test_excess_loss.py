"""Exact expectations by probing: steps of every kind. The numbers themselves are compared in moments/test_recursion."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, built, parts

from suffice.simulate import FixedWeights, Local, expected_excess


@pytest.mark.parametrize(
    "eta", [0.1, np.linspace(0.02, 0.2, N), lambda t: 0.5 / (t + 3)], ids=["number", "vector", "of t"]
)
def test_second_moments_are_those_of_a_recursion_by_hand(eta):
    """Mean and covariance of each model, client by client: noise of s/d in each feature."""
    A, xi, sigma2, start = parts()
    mixed = np.random.default_rng(30).uniform(0, 0.3, (N, N))
    for alpha, rule in ((mixed, FixedWeights(alpha=mixed)), (np.eye(N), Local())):
        got = expected_excess(built(), rule, iterations=15, eta=eta)
        for i, w in enumerate(alpha):
            mean, P, H = start[i], np.zeros(A[0].shape), np.tensordot(w, A, 1)
            for t in range(16):
                if t > 0:
                    step = np.broadcast_to(eta(t) if callable(eta) else eta, N)[i]
                    M = np.eye(len(H)) - 2 * step * H
                    mean = mean - 2 * step * (H @ mean + np.einsum("k,kde,ke->d", w, A, xi))
                    P = M @ P @ M.T + step**2 * (w**2 @ sigma2) / len(H) * np.eye(len(H))
                away = mean + xi[i]
                np.testing.assert_allclose(got[t, i], away @ A[i] @ away + np.trace(A[i] @ P), rtol=1e-11)
