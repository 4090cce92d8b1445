"""Exact plans beside simple rules, which no plan may be slower than: equal weights, the nearest m sites, FedAvg.

Each rule is at the best step of each site, and its time is when the site's own exact mean excess is at most its
precision, in iterations: FedAvg's rounds times K, as one gradient of each site is one iteration of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

import suffice as sf
from suffice.planning.constant_prediction import started
from suffice.simulate.moments.gradient_moments import GradientMoments, moments_at
from suffice.simulate.moments.orbits import arrivals, orbit
from suffice.simulate.moments.packed import affine, pack, sandwich
from suffice.simulate.moments.preconditioning import shared_bases
from suffice.simulate.moments.recursion import ExactRecursion

from . import fit_tables
from .timing import row

PRECISIONS = ("10%", "1%", "noise")
NAMES = (
    "diabetes-feature", "diabetes-label", "diabetes-random", "breast_cancer-feature", "wine-random", "iris",
    "friedman1-feature", "friedman1-label", "friedman2-random", "s-curve-label", "countries-gasoline",
    "secondary-attainment",
)  # fmt: skip
ALLOWED = 1.05
"""Times the best simple rule."""
SHARES = np.geomspace(0.02, 0.95, 24)
"""Of the step limit, at which weights are tried."""
STEPS, LOCAL_STEPS = np.geomspace(1e-2, 1.0, 20), (1, 4, 16)
"""FedAvg's, times 1/L."""
FOLLOWED = 2
"""Times the plan's time."""


def tasks(quick: bool) -> Iterator[fit_tables.Task]:
    every = chain(fit_tables.embedded("least-squares"), fit_tables.natural(), fit_tables.held_out())
    found = {task.name: task for task in every}
    yield from (found[name] for name in (NAMES[:2] if quick else NAMES))


def table(quick: bool) -> list[dict[str, Any]]:
    rows = []
    for task in tasks(quick):
        sites = [np.flatnonzero(task.sites == site) for site in np.unique(task.sites)]
        X = (task.X - task.X.mean(0)) / np.where(task.X.std(0) > 0, task.X.std(0), 1)
        problem = started(sf.from_arrays([X[at] for at in sites], [task.y[at] for at in sites]), None)
        for precision in PRECISIONS[: 1 if quick else None]:
            for gradients in ("preconditioned", "plain"):
                try:
                    plan = sf.plan(problem, precision, gradients=gradients)
                except sf.InputError:  # rows that are fitted exactly tell no noise
                    continue
                ratios = slower(problem.gradient_moments(), plan.rows, plain=gradients == "plain")
                shape = (problem.clients, problem.features)
                name = f"plan beside simple rules, {task.name}, {precision}, {gradients}"
                rows.append(row(name, float(ratios.max()), "times", shape=shape, goals={"value": ALLOWED}))
    return rows


def slower(moments: GradientMoments, plans: Any, *, plain: bool) -> np.ndarray:
    """The plan's time over that of the best rule, by site; 0 where nothing is to be planned, or no rule arrives
    within twice the plan's time."""
    epsilon = np.array([one.epsilon for one in plans])
    taken = np.array([one.exact.iterations or 0 for one in plans])
    most = [FOLLOWED * T for T in taken.tolist()]
    best = federated(moments, epsilon, most)
    for basis in (None,) if plain else (None, shared_bases(moments)["pooled"]):
        there = moments if basis is None else moments.in_basis(basis)
        found = [weighted(there, i, epsilon[i], most[i]) for i in range(moments.clients)]
        best = np.minimum(best, found)
    ratios = taken / np.maximum(np.ceil(best), 1)
    return np.where(taken > 0, ratios, 0.0)


def weighted(moments: GradientMoments, i: int, epsilon: float, most: int) -> float:
    """The least time of equal weights on the nearest m sites, m = 1 to N; inf beyond `most`."""
    if not most:
        return 0.0
    gap = moments.optimum - moments.optimum[i]
    distance = np.einsum("kd,de,ke->k", gap, moments.A[i], gap)
    distance[i] = -1
    rank = np.argsort(np.argsort(distance, kind="stable"))
    sizes = np.arange(1, moments.clients + 1)[:, None]
    recursion, V = ExactRecursion(moments=moments, client=i, unit=epsilon), (rank < sizes) / sizes
    V = np.array([min(recursion.limit(v), 1e300) for v in V])[:, None] * V
    times, *_ = arrivals(*recursion.expansion(V), recursion.start, recursion.loss, SHARES, most)
    return float(times.min())


def federated(moments: GradientMoments, epsilon: np.ndarray, most: list[int]) -> np.ndarray:
    """By site the least time of FedAvg, in iterations; inf beyond `most`."""
    best = np.full(len(epsilon), np.inf)
    eta = STEPS / (2 * np.linalg.eigvalsh(moments.A)[:, -1].max())
    start = moments_at(moments.start.mean(0))
    for steps in LOCAL_STEPS:
        with np.errstate(all="ignore"):
            for M in round_matrices(moments, steps, eta):
                excess = losses(moments) @ orbit(M, start, max(most) // steps + 1)
                below = excess <= epsilon[:, None]
                best = np.minimum(best, np.where(below.any(1), steps * below.argmax(1), np.inf))
    return best


def losses(moments: GradientMoments) -> np.ndarray:
    """The functionals of z that are the clients' excess, (N, n)."""
    gap = np.concatenate((-moments.optimum[..., None], np.tile(np.eye(moments.features), (moments.clients, 1, 1))), -1)
    return pack(gap.swapaxes(1, 2) @ moments.A @ gap)


def round_matrices(moments: GradientMoments, steps: int, eta: np.ndarray) -> np.ndarray:
    """M of a round of `steps` local steps, at every step size eta (E,), (E, n, n), of z = pack(E x x'), x = (1, w).

    Given the server's model w, clients work independently: client i's model after t steps y+ = y - eta g_i(y) has a
    mean with (1, m) = P x, and a covariance V z that is linear in z:
        P+ = (I - 2 eta (0; G_i)) P,   V+ = B V B + 4 eta^2 C_i(V + m m')/batch,  B = I - 2 eta A_i.
    A round averages all N clients: E[w+ w+'] is the sum over i of E[y_i y_i'] and over i != j of m_i m_j', over N^2.
    """
    N, d = moments.clients, moments.features
    step = eta[:, None, None, None]
    B = affine(-2 * step[..., 0] * moments.gradients[..., 0], np.eye(d) - 2 * step * moments.A)
    spread, noise = sandwich(B[..., 1:, 1:]), 4 / moments.batch * step**2 * moments.noise
    P = np.tile(np.eye(1 + d), (len(eta), N, 1, 1))
    V = np.zeros((*B.shape[:2], *noise.shape[-2:]))
    for _ in range(steps):
        V = spread @ V + noise @ sandwich(P) + noise[..., 1 + d :] @ V
        P = B @ P
    M = sandwich(P.mean(1))
    M[:, 1 + d :] += V.sum(1) / N**2
    return M
