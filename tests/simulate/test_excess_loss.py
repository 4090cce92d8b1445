"""Exact expectations by probing, against closed forms, recursions written anew, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import FixedWeights, Local, Quadratics, expected_excess

N, D = 4, 3


def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, xi, covariance, start, weights: everything anisotropic."""
    rng = np.random.default_rng(30)
    Q = np.linalg.qr(rng.normal(size=(N, D, D)))[0]
    A = np.einsum("nij,nj,nkj->nik", Q, rng.uniform(0.5, 1.5, (N, D)), Q)
    C = np.einsum("nij,nj,nkj->nik", Q[::-1], rng.uniform(0.05, 2, (N, D)), Q[::-1])
    A, C = (A + A.transpose(0, 2, 1)) / 2, (C + C.transpose(0, 2, 1)) / 2
    return A, 0.3 * rng.normal(size=(N, D)), C, 1 + rng.normal(size=(N, D)), rng.uniform(0, 0.5, (N, N))


def built() -> Quadratics:
    A, xi, C, start, _ = parts()
    return Quadratics.of(A, xi, covariance=C, start=start)


def by_hand(alpha: np.ndarray, iterations: int, eta) -> np.ndarray:
    """Mean and covariance of each model, propagated client by client."""
    A, xi, C, start, _ = parts()
    result = np.empty((iterations + 1, N))
    for i in range(N):
        mean, P = start[i].copy(), np.zeros((D, D))
        for t in range(iterations + 1):
            if t > 0:
                step = np.broadcast_to(eta(t) if callable(eta) else eta, N)[i]
                M = np.eye(D) - 2 * step * sum(alpha[i, k] * A[k] for k in range(N))
                mean = mean - 2 * step * sum(alpha[i, k] * A[k] @ (mean + xi[k]) for k in range(N))
                P = M @ P @ M.T + step**2 * sum(alpha[i, k] ** 2 * C[k] for k in range(N))
            result[t, i] = (mean + xi[i]) @ A[i] @ (mean + xi[i]) + np.trace(A[i] @ P)
    return result


@pytest.mark.parametrize(
    "eta", [0.1, np.linspace(0.02, 0.2, N), lambda t: 0.5 / (t + 3)], ids=["number", "vector", "of t"]
)
def test_second_moments_are_those_of_a_recursion_by_hand(eta):
    alpha = parts()[4]
    got = expected_excess(built(), FixedWeights(alpha=torch.from_numpy(alpha)), iterations=15, eta=eta)
    np.testing.assert_allclose(got, by_hand(alpha, 15, eta), rtol=1e-11)
    got = expected_excess(built(), Local(), iterations=15, eta=eta)
    np.testing.assert_allclose(got, by_hand(np.eye(N), 15, eta), rtol=1e-11)


@pytest.mark.parametrize(
    ("field", "change"),
    [("eta", {"eta": value}) for value in ([0.1, [0.1]], "a", [0.1], 0.0, np.nan, {"a": 0.1})]
    + [("iterations", {"iterations": value}) for value in (-1, 2.0, "a", [2])],
)
def test_bad_requests_are_named(field, change):
    with pytest.raises(InputError) as caught:
        expected_excess(built(), Local(), **({"iterations": 2, "eta": 0.1} | change))
    assert caught.value.field == field
