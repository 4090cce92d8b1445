"""The plan of CoBo with settled weights: Hashemi, He, Jaggi (2024), Theorem I, corrected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..collaborativeness import pairwise_heterogeneity
from ..evaluate import evaluate
from ..heterogeneity import GradientDissimilarity
from ..quantities import Quantity
from ..theorems import find
from ..theorems.cobo.assumption_4 import cluster_dissimilarity
from ..theorems.cobo.theorem_1_star import star_step
from ..weights import components
from .method_plan import MethodPlan, failure, unknown_excess, whole
from .network import Network

KEY = "cobo/theorem-1-star"
GUARANTEE = (
    "the average over T steps of E|grad fbar(xbar_t)|^2 is <= 2 mu_c epsilon at the mean model of each cluster, for "
    "the weights of the true clusters: no theorem says when CoBo's own selection finds them"
)
SHARED = 1e-9
"""Optima closer than this, relative to the largest of their coordinates, count as one."""
PENALTIES = np.geomspace(1, 300, 60)
"""Penalties tried, in units of the smallest that the theorem allows."""


@dataclass(frozen=True, kw_only=True)
class _Cluster:
    members: np.ndarray
    rounds: float
    rho: float
    eta: float


def agreement(network: Network) -> np.ndarray:
    """M (N, N) with |grad R_i - grad R_k| <= M_ik |grad R_i + grad R_k| at every model; inf where there is none.

    Quadratics: exact, for a shared optimum; different optima have none. An affine pair with b = 0 and c < 1 has
    sqrt(c) / (2 - sqrt(c)), since |grad R_i + grad R_k| >= (2 - sqrt(c)) |grad R_i|.
    """
    known, own = network.constants.heterogeneity, np.eye(network.clients, dtype=bool)
    if network.quadratics is not None:
        H, optimum = network.quadratics
        gap = np.linalg.norm(optimum[:, None] - optimum[None], axis=-1)
        M = np.where(gap <= SHARED * max(np.abs(optimum).max(), 1e-300), pairwise_heterogeneity(H), np.inf)
    elif isinstance(known, GradientDissimilarity):
        root = np.sqrt(np.minimum(known.c, 1))
        M = np.where((known.b2 == 0) & (known.c < 1), root / (2 - root), np.inf)
        M = np.minimum(M, M.T)
    else:
        M = np.full(own.shape, np.inf)
    return np.where(own, 0.0, M)


def cobo_plan(network: Network, epsilon: float) -> MethodPlan:
    """Clusters of clients that agree pairwise (M < 1), each with the penalty rho of fewest rounds.

    The target of a cluster is |grad fbar|^2 <= 2 mu_c epsilon with mu_c the mean of its mu_i, which a strongly convex
    fbar turns into an excess loss of epsilon. Without any pair that agrees the plan is refused.
    """
    row = MethodPlan(
        method="cobo",
        epsilon=epsilon,
        theorem=KEY,
        quantity=Quantity.AVERAGE_MEAN_GRADIENT.expression,
        guarantee=GUARANTEE,
    )
    M = agreement(network)
    off = M[~np.eye(network.clients, dtype=bool)]
    least = off.min().item() if off.size else np.inf
    if network.constants.excess is None:
        return replace(row, failure=unknown_excess())
    if network.spread:
        reason = "all models have to start at one point"
        return replace(row, failure=failure("common start: largest distance <= 0", network.spread, 0.0, reason))
    if not least < 1:
        reason = "no two clients agree as (A4) asks, with one optimum"
        return replace(row, failure=failure("relative heterogeneity M <= 1", least, 1.0, reason))
    clusters = []
    for label in np.unique(labels := components(M < 1)):
        members = np.flatnonzero(labels == label)
        worst = M[np.ix_(members, members)].max().item()
        if worst >= 1:
            reason = f"clients {members.tolist()} are linked by agreeing pairs, but not all of their pairs agree"
            return replace(row, failure=failure("relative heterogeneity M <= 1", worst, 1.0, reason))
        clusters.append(_planned(network, members, worst, epsilon))
    rounds = np.zeros(network.clients)
    for cluster in clusters:
        rounds[cluster.members] = cluster.rounds
    served = whole(rounds)
    return replace(
        row,
        rounds=served,
        samples_per_client=max(served),
        vectors=float(sum((len(one.members) - 1) * served[i] for one in clusters for i in one.members)),
        settings={
            "clusters": [one.members.tolist() for one in clusters],
            "rho": [one.rho for one in clusters],
            "eta": [one.eta for one in clusters],
        },
        notes=network.constants.notes,
    )


def _planned(network: Network, members: np.ndarray, M: float, epsilon: float) -> _Cluster:
    constants, size = network.constants, len(members)
    assert constants.excess is not None
    beta, mu = constants.beta[members].max().item(), constants.mu[members].mean().item()
    e0, sigma2 = constants.excess[members].mean().item(), constants.sigma2[members].max().item()
    target = 2 * mu * epsilon
    if e0 == 0:
        return _Cluster(members=members, rounds=0.0, rho=beta, eta=0.0)
    m2 = max(0.0, float(cluster_dissimilarity(M=M, size=size)))
    rho = 1.01 * np.sqrt(1 + m2) * beta / size * PENALTIES * (1 + 1e-12)
    pull = rho * size
    # The bound is a/T + n at the step 1/(rho c), and 2 sqrt(a n/T) at the shorter one that balances start and noise,
    # which comes into play where both are equal, at T = a/n.
    left = 1 - m2 * beta**2 / ((pull - beta) * (pull + beta))
    a, n = pull * 2 * e0 / left, beta * sigma2 * (1 + beta / pull * (size - 1)) / (size * pull) / left
    needed = np.where(2 * n <= target, a / np.maximum(target - n, target / 2), 4 * a * n / target**2)
    at = int(np.argmin(needed))
    values: dict[str, Any] = {"beta": beta, "rho": rho[at].item(), "size": size, "least_weight": 1.0}
    values |= {"e0": e0, "spread": 0.0, "sigma2": sigma2, "T": float(np.ceil(max(needed[at], 1)))}
    while float(evaluate(find(KEY), **values, dissimilarity=m2, eta=(eta := float(star_step(**values))))) > target:
        values["T"] = np.ceil(values["T"] * (1 + 1e-9)).item() + 1  # rounding, outward
    return _Cluster(members=members, rounds=values["T"], rho=values["rho"], eta=eta)
