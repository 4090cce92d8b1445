"""Settings of Scafflix: step sizes, communication probability, and the start of its control variates.

One iteration at client i: x_i' = x_i - (gamma_i / alpha_i) (g_i - h_i), g_i an estimate of the gradient of f_i at
alpha_i x_i + (1 - alpha_i) y_i. With probability p all clients communicate: x_i becomes the mean xbar of the x_j'
with weights proportional to alpha_j^2 / gamma_j, and h_i grows by (p alpha_i / gamma_i) (xbar - x_i').
All weights alpha_i are in (0, 1]; alpha_i = 1 for all is i-Scaffnew. Step sizes gamma_i are called eta here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, real_array


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Step sizes eta (N,) [theta^2 / loss] and the probability p of a communication."""

    eta: np.ndarray
    p: float


def released_steps(*, L: Any, mu: float, alpha: Any) -> Steps:
    """The authors' code: eta_i = alpha_i^2 / mean(alpha_j^2 L_j) and p = 1 / sqrt(mean(L_j) / mu).

    The mean stands where Theorem 1 needs the maximum: it applies only if alpha_i^2 L_i is at most the mean for all i,
    that is, if all are equal.
    """
    L, strong, alpha = _per_client(L=L, mu=mu, alpha=alpha)
    return Steps(eta=alpha**2 / (alpha**2 * L).mean(), p=(1 / np.sqrt(L.mean() / strong[0])).item())


# Averaging keeps sum_i alpha_i h_i as it is, because sum_i (alpha_i^2 / gamma_i) (xbar - x_i') = 0; the optimum has
# h_i = grad f_i and sum_i alpha_i h_i = 0. The gradients at a common start do not sum to zero. Their projection onto
# {sum_i alpha_i h_i = 0} in the norm sum_i gamma_i |h_i|^2 of the Lyapunov function has h_i - g_i proportional to
# alpha_i / gamma_i, and comes no further from the optimum's h, which lies in that space.


def initial_control_variates(gradients, *, eta, alpha) -> np.ndarray:
    """h_i^0 (N, d) from the gradients g_i (N, d) of f_i at the common start, for one communication.

    h_i = g_i - (alpha_i / eta_i) sum_j alpha_j g_j / sum_j alpha_j^2 / eta_j, so that sum_i alpha_i h_i = 0.
    """
    gradients = as_numbers("gradients", gradients, ("N", "d"))
    clients = len(gradients)
    _, eta, alpha = _per_client(gradients=np.ones(clients), eta=eta, alpha=alpha)
    total = alpha @ gradients
    return gradients - (alpha / eta)[:, None] * total / (alpha**2 / eta).sum()


def _per_client(**given) -> list[np.ndarray]:
    """Positive constants as arrays of one length (N,), numbers repeated."""
    raw = {name: real_array(name, value) for name, value in given.items()}
    clients = max((len(value) for value in raw.values() if value.ndim), default=1)
    arrays = {name: as_numbers(name, value, (clients,), one_for_all=True, positive=True) for name, value in raw.items()}
    if "alpha" in arrays and (arrays["alpha"] > 1).any():
        raise InputError("alpha", arrays["alpha"].max().item(), "personalisation weights are in (0, 1]")
    if "L" in arrays and (arrays["mu"] > arrays["L"]).any():
        at = int(np.argmax(arrays["mu"] > arrays["L"]))
        remedy = f"mu <= L must hold; client {at} has {arrays['L'][at]:.6g}"
        raise InputError("mu", arrays["mu"][at].item(), remedy)
    return list(arrays.values())
