"""Second moments by recursions written by hand, one client after another: NumPy only, nothing of the simulator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def scafflix(given, at: int, iterations: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """E|t_i|^2 and E|k_i|^2 (n,) of one of the `Clients` after 0, 1, ... iterations.

    t_i = alpha_i e_i moves by -gamma_i (h_i t_i - k_i + noise); when the coin shows it, then to alpha_i times the mean
    of the t_j / alpha_j with weights alpha_j^2 / gamma_j, and k_i by p / gamma_i times what that moved it.
    """
    h, alpha, eta, p = given.curvature[at], given.alpha[at], given.eta[at], given.p[at]
    n, d = h.shape
    weight = alpha**2 / eta / (alpha**2 / eta).sum()
    eye, zero = np.eye(n), np.zeros((n, n))
    mean = np.outer(alpha, weight / alpha)
    meet = np.block([[mean, zero], [p / eta[:, None] * (mean - eye), eye]])
    z = [np.concatenate((alpha * given.models[at][:, a], given.control[at][:, a])) for a in range(d)]
    moments = [np.outer(each, each) for each in z]
    for _ in range(iterations + 1):
        squares = np.sum([np.diag(moment) for moment in moments], axis=0)
        yield squares[:n], squares[n:]
        for a in range(d):
            growth = given.saturation[at] * h[:, a] * np.maximum(given.A[at] - h[:, a], 0)
            variance = given.C[at] / d + growth * np.diag(moments[a])[:n]
            local = np.block([[np.diag(1 - eta * h[:, a]), np.diag(eta)], [zero, eye]])
            moved = local @ moments[a] @ local.T
            moved[range(n), range(n)] += eta**2 * variance
            moments[a] = p * meet @ moved @ meet.T + (1 - p) * moved
