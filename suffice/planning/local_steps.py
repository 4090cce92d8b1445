"""Whether FedAvg with local steps needs fewer rounds than a plan, whose rounds are of one weighted gradient each.

By exact second moments of the server's model w. Given w, clients work independently: client i's model x after t steps
x+ = x - eta g_i(x) has a mean m = P (1, w) that is affine in w, and a covariance V (1, w, pack(w w')) that is linear in
z = (1, w, pack(w w')):
    m+ = B m + 2 eta h_i,  B = I - 2 eta A_i,   V+ = B V B + 4 eta^2 C_i(m, V + m m')/batch.
A round averages all N clients: E[w+ w+'] is the sum over i of E[x_i x_i'] and over i != j of m_i m_j', over N^2. So
E z+ = M E z with one matrix M, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from suffice.simulate.moments.gradient_moments import GradientMoments, moments_at
from suffice.simulate.moments.orbits import orbit
from suffice.simulate.moments.packed import cross, pack, sandwich

from .plan_row import Row

if TYPE_CHECKING:
    from suffice.simulate import Problem

STEPS, LOCAL_STEPS = np.geomspace(0.03, 1.0, 10), (4, 16)
"""FedAvg's, times 1/L, L the largest beta; local steps of a round."""
WORK, LONGEST = 1e9, 2000
"""Multiplications of the matrices of all steps, and rounds, up to which this is looked at."""
FEWER = (
    "In rounds FedAvg with local steps is faster: every client is at eps after {rounds} rounds of {steps} gradients "
    "each at step {eta:.3g}; this plan takes {taken} rounds, of one gradient for each model a client helps (--methods)"
)


def fewer_rounds(problem: Problem, rows: Sequence[Row]) -> tuple[str, ...]:
    """The note that says so, of all clients' exact plans at one precision; by exact moments of the server's model."""
    taken = [row.exact.iterations for row in rows if row.exact is not None and row.exact.iterations]
    D, n = (d * (d + 1) // 2 for d in (problem.features, problem.features + 1))
    if len(taken) < len(rows) or not 1 < max(taken) <= LONGEST or len(STEPS) * len(rows) * D**2 * n * 16 > WORK:
        return ()
    moments = problem.gradient_moments()
    if moments is None:
        return ()
    epsilon, start = np.array([[row.epsilon] for row in rows]), moments_at(moments.start.mean(0))
    eta, best = STEPS / (2 * np.linalg.eigvalsh(moments.A)[:, -1].max()), (max(taken), 0, 0.0)
    for steps in LOCAL_STEPS:
        with np.errstate(all="ignore"):
            z = orbit(round_matrices(moments, steps, eta), start + np.zeros((len(eta), len(start))), max(taken) - 1)
            excess = losses(moments) @ z
            below: np.ndarray = np.all(excess <= epsilon, axis=1)
        first = np.where(below.any(1), below.argmax(1), max(taken))
        best = min(best, (int(first.min()), steps, float(eta[first.argmin()])), key=lambda one: one[0])
    rounds, steps, step = best
    return (FEWER.format(rounds=rounds, steps=steps, eta=step, taken=max(taken)),) if steps else ()


def losses(moments: GradientMoments) -> np.ndarray:
    """The functionals of z that are the clients' excess, (N, n)."""
    A, optimum = moments.A, moments.optimum
    slope = np.einsum("kde,ke->kd", A, optimum)
    return np.concatenate(((slope * optimum).sum(-1)[:, None], -2 * slope, pack(A)), -1)


def round_matrices(moments: GradientMoments, steps: int, eta: np.ndarray) -> np.ndarray:
    """M of a round of `steps` local steps, at every step size eta (E,), (E, n, n)."""
    N, d = moments.clients, moments.features
    step = eta[:, None, None, None]
    B = np.eye(d) - 2 * step * moments.A
    P = np.zeros((*B.shape[:-1], 1 + d))
    P[..., 1:] = np.eye(d)
    spread, noise = sandwich(B), 4 / moments.batch * step**2 * moments.noise
    V = np.zeros((*B.shape[:2], noise.shape[-2], noise.shape[-1]))
    for _ in range(steps):
        seen = V + _square(P)
        V = spread @ V + noise[..., 1 + d :] @ seen
        V[..., : 1 + d] += noise[..., :1] * np.eye(1 + d)[0] + noise[..., 1 : 1 + d] @ P
        P = B @ P
        P[..., 0] += 2 * step[..., 0] * moments.h
    M = np.zeros((len(eta), noise.shape[-1], noise.shape[-1]))
    M[:, 0, 0] = 1
    M[:, 1 : 1 + d, : 1 + d] = P.mean(1)
    M[:, 1 + d :] = (V.sum(1) + _square(P.sum(1))) / N**2
    return M


def _square(P: np.ndarray) -> np.ndarray:
    """The matrix of z -> pack(m m') for m = P (1, w), (..., D, n)."""
    c, W = P[..., 0], P[..., 1:]
    return np.concatenate((pack(c[..., :, None] * c[..., None, :])[..., None], cross(W, c), sandwich(W)), -1)
