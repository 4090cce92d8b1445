"""An upper bound of E[tau], tau = min{t: e_t < epsilon}, from the exact recursion of fixed rates.

s steps of the adjoint recursion give E[e_{t+s} | theta_t] = k + l . delta + delta' L delta, delta = theta_t - theta_i*.
In coordinates in which A_i is the identity, with K and l there, k + l . delta + delta' K delta <= rho |delta|^2 + c for
all delta iff rho > lambda_max(K) and c >= k + l'(rho I - K)^-1 l / 4 (Schur complement). Let c(rho) be the least such c
and q_s = inf_rho rho + c(rho) / epsilon. Then E[e_{t+s} | theta_t] <= q_s e_t wherever e_t >= epsilon.

Let f(e) = 1 + ln(e / epsilon) for e >= epsilon and 0 below, so that f(e) <= e / epsilon. Watched at the times T + j s
only, f decreases by at least 1 - q_s a round while e >= epsilon: E f(e+) <= E e+ / epsilon' with ln x <= x - 1 applied
at e gives 1 + ln(e / epsilon) + q_s - 1. Hence, from the law at time T,
    E tau <= T + (E e_T / epsilon) s / (1 - q_s)  whenever q_s < 1,
which needs neither curvature, smoothness nor a noise level. Draws are independent, rates fixed.
"""

from __future__ import annotations

import numpy as np

from ..evaluate import outward
from .exact_recursion import ExactRecursion, orbit
from .gradient_moments import RANK
from .packed import unpack

LONGEST = 4096
"""Steps between looks at most, and beyond which no start of the looks is tried."""
HALVINGS = 60


SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06)
"""Of a plan's rates: the fastest ones may end above the precision, and then nothing is certain about their paths."""


def certified_rates(
    recursion: ExactRecursion, v: np.ndarray, epsilon: float, steps: int
) -> tuple[float, np.ndarray] | None:
    """The least bound of E[tau] over shares of the rates v, and those rates; None where there is none."""
    bounds = [(expected_hitting(recursion, share * v, epsilon, round(steps / share)), share) for share in SHARES]
    best, share = min(bounds)
    return (best, share * v) if np.isfinite(best) else None


def expected_hitting(recursion: ExactRecursion, v: np.ndarray, epsilon: float, steps: int) -> float:
    """A bound of E[tau] for rates v, rounded outward; inf where no number of steps up to 4 `steps` contracts.

    steps  about when E e_t is at epsilon: a guide for which times are tried
    """
    if recursion.excess < epsilon:
        return 0.0
    reach = int(min(max(8, 4 * steps), LONGEST))
    M = recursion.matrix(v)
    curve = recursion.loss @ orbit(M, recursion.start, reach)
    adjoint = orbit(M.T, recursion.loss, reach).T
    best, T = np.inf, np.arange(reach + 1)
    for s in sorted({round(2 ** (j / 3)) for j in range(40)}):
        if s > reach:
            break
        q = contraction(recursion, adjoint[s], epsilon)
        if q < 1:
            best = min(best, float((T + curve / epsilon * s / (1 - q)).min()))
    return float(outward(best, "upper")) if np.isfinite(best) else np.inf


def contraction(recursion: ExactRecursion, functional: np.ndarray, epsilon: float) -> float:
    """q with k + l . delta + delta' L delta <= q e(delta) wherever e(delta) >= epsilon; inf where there is none.

    functional  (k, l, pack(L))
    """
    d = recursion.features
    k, slope, L = functional[0], functional[1 : 1 + d], unpack(functional[1 + d :], d)
    values, vectors = np.linalg.eigh(recursion.moments.A[recursion.client])
    seen = values > RANK * values[-1]
    blind = vectors[:, ~seen]
    # what the client's own loss does not see must not matter later either
    if blind.size and max(np.abs(L @ blind).max(), np.abs(slope @ blind).max()) > 1e-9 * np.abs(L).max():
        return np.inf
    root = vectors[:, seen] / np.sqrt(values[seen])
    kappa, axes = np.linalg.eigh(root.T @ L @ root)
    l2 = (axes.T @ (root.T @ slope)) ** 2 / 4

    def q(rho: float) -> float:
        return rho + (k + float((l2 / (rho - kappa)).sum())) / epsilon

    # convex in rho: golden section on ln(rho - lambda_max)
    top = float(kappa[-1])
    size = max(abs(top), float(np.sqrt(l2.sum() / epsilon)), 1e-300)
    low, high = np.log(size) - 30, np.log(size) + 1
    for _ in range(HALVINGS):
        a, b = high - 0.618 * (high - low), low + 0.618 * (high - low)
        low, high = (low, b) if q(top + np.exp(a)) <= q(top + np.exp(b)) else (a, high)
    return max(q(top + float(np.exp((low + high) / 2))), 0.0)
