"""An upper bound of E[tau], tau = min{t: e_t < epsilon}, from the exact recursion of fixed rates.

s steps of the adjoint recursion give E[e_{t+s} | theta_t] = k + l . delta + delta' L delta, delta = theta_t - theta_i*.
In coordinates in which A_i is the identity, with K and l there, k + l . delta + delta' K delta <= rho |delta|^2 + c for
all delta iff rho > lambda_max(K) and c >= k + l'(rho I - K)^-1 l / 4 (Schur complement). Let c(rho) be the least such c
and q_s = inf_rho rho + c(rho) / epsilon. Then E[e_{t+s} | theta_t] <= q_s e_t wherever e_t >= epsilon.

Let f(x) = 1 + ln x for x = e / epsilon >= 1 and 0 below. Watched at the times T + j s only, f decreases by at least
1 - q_s a round while e >= epsilon: ln y <= y - 1 at y = e+ / e gives E f(e+) <= f(e) + q_s - 1. And f <= g, which is x
up to 1 and 1 + ln x beyond: concave, so that E g(e_T / epsilon) <= g(E e_T / epsilon) (Jensen). Hence, from time T on,
    E tau <= T + g(E e_T / epsilon) s / (1 - q_s)  whenever q_s < 1,
which needs neither curvature, smoothness nor a noise level. Draws are independent, rates fixed. With s = 1 and T = 0 it
is never above what noise that grows with the gradient promises at the same step
(adaptive/corollary-1-multiplicative-expected-time): that rests on a bound E[e+ | theta] <= rho e + c, and c(rho) is the
least c of any.
"""

from __future__ import annotations

import numpy as np

from suffice.bounds.evaluate import outward
from suffice.simulate.moments.gradient_moments import RANK
from suffice.simulate.moments.orbits import orbit
from suffice.simulate.moments.packed import unpack
from suffice.simulate.moments.recursion import ExactRecursion

LONGEST = 4096
"""Steps between looks at most, and beyond which no start of the looks is tried."""
HALVINGS = 26


SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06)
"""Of a plan's rates: the fastest ones may end above the precision, and then nothing is certain about their paths."""


def certified_rates(
    recursion: ExactRecursion, v: np.ndarray, epsilon: float, steps: int, work: float = np.inf
) -> tuple[float, np.ndarray] | None:
    """The least bound of E[tau] over shares of the rates v, and those rates; None where there is none.

    work  multiplications: smaller shares, which take longer, are left out beyond
    """
    each = 8.0 * steps * len(recursion.loss) ** 2 / np.array(SHARES)
    shares = np.array(SHARES)[np.cumsum(each) <= work]
    if not shares.size:
        return None
    tried = shares[:, None] * v
    bounds = hitting_bounds(recursion, tried, epsilon, steps)
    best = int(np.argmin(bounds))
    return (float(bounds[best]), tried[best]) if np.isfinite(bounds[best]) else None


def hitting_bounds(recursion: ExactRecursion, V: np.ndarray, epsilon: float, steps: int) -> np.ndarray:
    """Bounds of E[tau] for several rates V (K, N), rounded outward; inf where no number of steps contracts.

    steps  about when E e_t is at epsilon for the largest of them, in proportion later for smaller ones: looks are tried
           up to four times as late
    """
    if recursion.excess < epsilon:
        return np.zeros(len(V))
    slower = V.sum(1).max() / V.sum(1)
    reach = np.clip(4 * np.round(steps * slower), 8, LONGEST).astype(int)
    M = np.stack([recursion.matrix(v) for v in V])
    start, loss = (np.broadcast_to(one, M.shape[:-1]) for one in (recursion.start, recursion.loss))
    longest = int(reach.max())
    with np.errstate(over="ignore", invalid="ignore"):
        curve = recursion.loss @ orbit(M, start, longest)
        rounds = np.array(sorted({s for s in (round(2 ** (j / 3)) for j in range(40)) if s <= longest}))
        adjoint = orbit(M.swapaxes(-1, -2), loss, longest)[..., rounds].swapaxes(-1, -2)
        late = rounds > reach[:, None]
        adjoint[late] = np.inf
        q = contraction(recursion, adjoint, epsilon)
    times, sure = np.arange(longest + 1), np.less(q, 1)
    curve = np.where((times > reach[:, None]) | ~np.isfinite(curve), np.inf, curve)
    factor = np.where(sure, rounds / np.where(sure, 1 - q, 1), np.inf)
    with np.errstate(invalid="ignore"):
        x = curve / epsilon
        settled = np.where(x > 1, 1 + np.log(np.maximum(x, 1)), x)
        bounds = [float(np.min(times + g * min(f))) for g, f in zip(settled, factor)]
    return np.array([float(outward(bound, "upper")) if np.isfinite(bound) else np.inf for bound in bounds])


def contraction(recursion: ExactRecursion, functional: np.ndarray, epsilon: float) -> np.ndarray:
    """q with k + l . delta + delta' L delta <= q e(delta) wherever e(delta) >= epsilon; inf where there is none.

    functional  (..., n), (k, l, pack(L)); not finite where there is nothing to bound
    """
    d = recursion.features
    known = np.asarray(np.isfinite(functional).all(-1))
    functional = np.where(known[..., None], functional, 0)
    k, slope, L = functional[..., 0], functional[..., 1 : 1 + d], unpack(functional[..., 1 + d :], d)
    values, vectors = np.linalg.eigh(recursion.moments.A[recursion.client])
    seen = values > RANK * values[-1]
    blind = vectors[:, ~seen]
    if blind.size:  # what the client's own loss does not see must not matter later either
        reaches = np.maximum(np.abs(L @ blind).max((-2, -1)), np.abs(slope @ blind).max(-1))
        known &= reaches <= 1e-9 * np.abs(L).max((-2, -1))
    root = vectors[:, seen] / np.sqrt(values[seen])
    kappa, axes = np.linalg.eigh(root.T @ L @ root)
    l2 = ((slope @ root)[..., None, :] @ axes)[..., 0, :] ** 2 / 4
    top = kappa[..., -1]

    def q(above: np.ndarray) -> np.ndarray:
        rho = top + np.exp(above)
        return rho + (k + (l2 / (rho[..., None] - kappa)).sum(-1)) / epsilon

    # convex in rho: golden section on ln(rho - lambda_max); every rho is valid, so the search costs nothing in truth
    scale = np.log(np.maximum(np.maximum(np.abs(top), np.sqrt(l2.sum(-1) / epsilon)), 1e-300))
    low, high = scale - 30, scale + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(HALVINGS):
            a, b = high - 0.618 * (high - low), low + 0.618 * (high - low)
            left = q(a) <= q(b)
            low, high = np.where(left, low, a), np.where(left, b, high)
        found = np.maximum(q((low + high) / 2), 0.0)
    return np.where(known & ~np.isnan(found), found, np.inf)
