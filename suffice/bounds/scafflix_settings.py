"""How to run Scafflix: step sizes, communication probability, and the start of its control variates.

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

    def arguments(self, *, A, C, mu) -> dict[str, float]:
        """What `scafflix/theorem-1` takes, besides Psi0 and T, for clients with these constants (N,)."""
        A, C, mu = _per_client(A=A, C=C, mu=mu)
        return {
            "p": self.p,
            "contraction": (self.eta * mu).min().item(),
            "reach": (self.eta * A).max().item(),
            "eta_min": self.eta.min().item(),
            "noise": (self.eta * C).mean().item(),
        }


def paper_steps(*, A: Any, C: Any, mu: Any, eps_Psi: float) -> Steps:
    """Corollary 2 (Corollary 1 where C = 0): eta_i = min(1/A_i, eps_Psi mu_min / (2 C_i)), p^2 = min eta_i mu_i."""
    A, C, mu = _per_client(A=A, C=C, mu=mu)
    eps_Psi = as_numbers("eps_Psi", eps_Psi, (), positive=True).item()
    eta = 1 / np.maximum(A, 2 * C / (eps_Psi * mu.min()))
    return Steps(eta=eta, p=np.sqrt((eta * mu).min()).item())


# Along gamma_i mu_i = zeta for all clients, gamma_min / gamma_i = mu_i / mu_max, so that Psi weighs the clients by
# mu_i and the floor of Theorem 1 is (zeta / mu_max) mean_i C_i / mu_i: a mean where Corollary 2 has a maximum.


def equalised_steps(*, A: Any, C: Any, mu: Any, eps_mu: float) -> Steps:
    """One rate for all: eta_i = zeta / mu_i, p^2 = zeta = min(min mu_i/A_i, eps_mu / mean(C_i/mu_i))."""
    A, C, mu = _per_client(A=A, C=C, mu=mu)
    eps_mu = as_numbers("eps_mu", eps_mu, (), positive=True).item()
    zeta = 1 / np.maximum((A / mu).max(), (C / mu).mean() / eps_mu)
    return Steps(eta=zeta / mu, p=np.sqrt(zeta).item())


def bounded_variance_steps(*, L: Any, C: Any, mu: Any, eps_mu: float) -> Steps:
    """One rate for all where the variance is at most C_i: eta_i = 2/((M + 1) mu_i), p = 2 sqrt(M)/(M + 1),
    M = max(max L_i/mu_i, mean(C_i/mu_i)/eps_mu); `scafflix/equalised-sharp-iterations` counts a quarter of the
    iterations of `equalised_steps`."""
    L, C, mu = _per_client(L=L, C=C, mu=mu)
    eps_mu = as_numbers("eps_mu", eps_mu, (), positive=True).item()
    M = np.maximum((L / mu).max(), (C / mu).mean() / eps_mu)
    return Steps(eta=2 / ((M + 1) * mu), p=(2 * np.sqrt(M) / (M + 1)).item())


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
    """Constants as arrays of one length (N,), numbers repeated; all positive but C, which may be 0."""
    raw = {name: real_array(name, value) for name, value in given.items()}
    clients = max((len(value) for value in raw.values() if value.ndim), default=1)
    arrays = {
        name: as_numbers(name, value, (clients,), one_for_all=True, positive=name != "C") for name, value in raw.items()
    }
    for name, array in arrays.items():
        if name == "C" and (array < 0).any():
            raise InputError("C", array.min().item(), "give numbers >= 0")
        if name == "alpha" and (array > 1).any():
            raise InputError("alpha", array.max().item(), "personalisation weights are in (0, 1]")
        if name in ("A", "L") and (arrays["mu"] > array).any():
            at = int(np.argmax(arrays["mu"] > array))
            raise InputError("mu", arrays["mu"][at].item(), f"mu <= {name} must hold; client {at} has {array[at]:.6g}")
    return list(arrays.values())
