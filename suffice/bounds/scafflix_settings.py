"""Settings of Scafflix: step sizes, communication probability, and the start of its control variates.

One iteration at client i: x_i' = x_i - (gamma_i / alpha_i) (g_i - h_i), g_i an estimate of the gradient of f_i at
alpha_i x_i + (1 - alpha_i) y_i. With probability p all clients communicate: x_i becomes the mean xbar of the x_j'
with weights proportional to alpha_j^2 / gamma_j, and h_i grows by (p alpha_i / gamma_i) (xbar - x_i').
All weights alpha_i are in (0, 1]; alpha_i = 1 for all is i-Scaffnew. Step sizes gamma_i are called eta here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Steps(NamedTuple):
    """Step sizes eta (N,) [theta^2 / loss] and the probability p of a communication."""

    eta: np.ndarray
    p: float


def released_steps(*, L, mu: float, alpha) -> Steps:
    """The authors' code: eta_i = alpha_i^2 / mean(alpha_j^2 L_j) and p = 1 / sqrt(mean(L_j) / mu), L (N,).

    The mean stands where Theorem 1 needs the maximum: it applies only if alpha_i^2 L_i is at most the mean for all i,
    that is, if all are equal.
    """
    squared = np.broadcast_to(alpha, np.shape(L)) ** 2
    return Steps(eta=squared / (squared * L).mean(), p=float((mu / np.mean(L)) ** 0.5))


# Averaging keeps sum_i alpha_i h_i as it is, because sum_i (alpha_i^2 / gamma_i) (xbar - x_i') = 0; the optimum has
# h_i = grad f_i and sum_i alpha_i h_i = 0. The gradients at a common start do not sum to zero. Their projection onto
# {sum_i alpha_i h_i = 0} in the norm sum_i gamma_i |h_i|^2 of the Lyapunov function has h_i - g_i proportional to
# alpha_i / gamma_i, and comes no further from the optimum's h, which lies in that space.


def initial_control_variates(gradients, *, eta, alpha) -> np.ndarray:
    """h_i^0 (N, d) from the gradients g_i (N, d) of f_i at the common start, eta and alpha (N,), for one communication.

    h_i = g_i - (alpha_i / eta_i) sum_j alpha_j g_j / sum_j alpha_j^2 / eta_j, so that sum_i alpha_i h_i = 0.
    """
    gradients, eta, alpha = map(np.asarray, (gradients, eta, alpha))
    return gradients - (alpha / eta)[:, None] * (alpha @ gradients) / (alpha**2 / eta).sum()
