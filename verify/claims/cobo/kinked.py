"""Equal clients whose loss has a kink at their mean: noise of single clients enters the gradient of the mean."""

from __future__ import annotations

import numpy as np

from ...evidence import Evidence

# f' = L (s + x) for x <= 0 and L (s - x)_+ for x > 0, noise +-sigma, eta rho c = 1 and s = eta sigma. Half of the
# clients start at s and half at -s, where f' = 0, and the noise keeps them there: x_i+ = xbar - eta f'(x_i) -+ s. The
# mean stays near 0, where f' = L s, if the cluster is large. With xi_i = x_i +- s and |f'(x_i)| <= L |xi_i|,
#     E|xbar_t| <= (s / sqrt(c)) (1 + eta L)^t / (eta L),    E f'(xbar)^2 >= L^2 s (s - 2 E|xbar|).


def kinked() -> Evidence:
    """E|grad fbar(xbar)|^2 from below, in a cluster as large as needed."""
    penalty, T = (a.ravel() for a in np.meshgrid([30.0, 100.0], [3_000.0, 10_000.0], indexing="ij"))
    T = np.minimum(T, 100 * penalty)
    L, s, size = 2.0, 1.0, np.full(len(T), 1e100)
    eta = 1 / (penalty * L)
    growth = np.exp(T * np.log1p(eta * L)) / (eta * L)
    measured = L**2 * s**2 * (1 - 2 * growth / np.sqrt(size))
    one = np.ones(len(T))
    return Evidence(
        engine="closed-form law",
        measured=measured,
        arguments={
            **{"eta": eta, "beta": L * one, "rho": penalty * L / size, "size": size, "M": 0 * one},
            **{"e0": L * s**2 / 2 * one, "spread": s**2 * one, "sigma2": (s / eta) ** 2, "T": T},
        },
        label="equal clients with a kink at their mean, half of them on either side, from below",
    )
