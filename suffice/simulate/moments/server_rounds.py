"""Exact second moments of a server's model: rounds of local steps from it, the mean of some clients' models after them.

Given the server's model w, clients work independently: client i's model x after t steps x+ = x - eta (g_i(x) + pull
(x - w)) has a mean m = P (1, w) that is affine in w, and a covariance V (1, w, pack(w w')) that is linear in
z = (1, w, pack(w w')):
    m+ = B m + eta (2 h_i + pull w),  B = I - eta (2 A_i + pull I),   V+ = B V B + 4 eta^2 C_i(m, V + m m')/batch.
A round averages p of N clients, drawn uniformly without replacement: E[w+ w+'] is the sum over i of E[x_i x_i'] p/N and
over i != j of m_i m_j' p (p - 1)/(N (N - 1)), over p^2. So E z+ = M E z with one matrix M, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .gradient_moments import GradientMoments, moments_at
from .packed import cross, pack, sandwich
from .recursion import DIVERGED, orbit

FIRST, LONGEST = 64, 1024
"""Rounds that are followed at a time: at first, then twice as many, and at most."""
SETTLED = 1e-6
"""Curves that change by no more than this share while they are followed once more are where they stay."""


class Arrived(NamedTuple):
    """The first round with a mean excess of at most the precision, its step, and the excess (N,) there; no round where
    none is, and then the least mean that was met."""

    rounds: int | None
    eta: float
    excess: np.ndarray
    least: float


@dataclass(frozen=True, kw_only=True)
class ServerRounds:
    """`steps` local steps a round, pulled to the server by `pull`; `participants` clients a round."""

    moments: GradientMoments
    steps: int = 1
    participants: int
    pull: float = 0.0

    @property
    def losses(self) -> np.ndarray:
        """The functionals of z that are the clients' excess, (N, n)."""
        A, optimum = self.moments.A, self.moments.optimum
        slope = np.einsum("kde,ke->kd", A, optimum)
        return np.concatenate(((slope * optimum).sum(-1)[:, None], -2 * slope, pack(A)), -1)

    def matrices(self, eta: np.ndarray) -> np.ndarray:
        """M of every step eta (E,), (E, n, n)."""
        moments, N, d, p = self.moments, self.moments.clients, self.moments.features, self.participants
        step = eta[:, None, None, None]
        B = (1 - self.pull * step) * np.eye(d) - 2 * step * moments.A
        P = np.zeros((*B.shape[:-1], 1 + d))
        P[..., 1:] = np.eye(d)
        q = np.concatenate(
            (2 * step * moments.h[..., None], np.broadcast_to(step * self.pull * np.eye(d), B.shape)), -1
        )
        spread, noise = sandwich(B), 4 / moments.batch * step**2 * moments.noise
        V = np.zeros((*B.shape[:2], noise.shape[-2], noise.shape[-1]))
        for _ in range(self.steps):
            seen = V + _square(P)
            V = spread @ V + noise[..., 1 + d :] @ seen
            V[..., : 1 + d] += noise[..., :1] * np.eye(1 + d)[0] + noise[..., 1 : 1 + d] @ P
            P = B @ P + q
        own = _square(P)
        pairs = p * (p - 1) / (N * max(N - 1, 1)) * (_square(P.sum(1)) - own.sum(1))
        M = np.zeros((len(eta), noise.shape[-1], noise.shape[-1]))
        M[:, 0, 0] = 1
        M[:, 1 : 1 + d, : 1 + d] = P.mean(1)
        M[:, 1 + d :] = (p / N * (V + own).sum(1) + pairs) / p**2
        return M


@np.errstate(all="ignore")
def first_round(servers: Sequence[ServerRounds], eta: np.ndarray, epsilon: float, most: int) -> Arrived:
    """The best of steps (E,) for servers of disjoint clients: the mean excess over all is at most epsilon first."""
    M = np.stack([one.matrices(eta) for one in servers], 1)
    losses = [one.losses for one in servers]
    clients = sum(map(len, losses))
    mean = np.stack([each.sum(0) / clients for each in losses])
    z = np.stack([moments_at(one.moments.start.mean(0)) for one in servers])

    def excess(z: np.ndarray) -> np.ndarray:
        return np.concatenate([each @ at for each, at in zip(losses, z)])

    least = Arrived(None, float(eta[0]), excess(z), float((mean * z).sum()))
    if least.least <= epsilon:
        return least._replace(rounds=0)
    z, done, part = np.broadcast_to(z, (len(eta), *z.shape)), 0, FIRST
    while done < most:
        Z = orbit(M, z, min(part, most - done))
        curves = np.einsum("cn,ecnt->et", mean, Z)
        curves = np.where(np.isfinite(curves), curves, np.inf)
        below = curves <= epsilon
        if below.any():
            t = int(below.any(0).argmax())
            best = int(curves[:, t].argmin())
            return Arrived(done + t, float(eta[best]), excess(Z[best, :, :, t]), float(curves[best, t]))
        e, t = np.unravel_index(int(curves.argmin()), curves.shape)
        if curves[e, t] < least.least:
            least = Arrived(None, float(eta[e]), excess(Z[e, :, :, t]), float(curves[e, t]))
        going = np.isfinite(curves[:, -1]) & (curves[:, -1] < DIVERGED * curves[:, 0])
        if not going.any() or np.abs(curves[going] / curves[going, :1] - 1).max() < SETTLED:
            break
        M, z, eta, done = M[going], Z[going, ..., -1], eta[going], done + Z.shape[-1] - 1
        part = min(2 * part, LONGEST)
    return least


def fastest_step(servers: Sequence[ServerRounds], scale: float, epsilon: float, most: int) -> Arrived:
    """The best of many steps, up to twice `scale` and down to a thousandth of it, then of some about that one."""
    coarse = scale * np.geomspace(1e-3, 2, COARSE)
    found = first_round(servers, coarse, epsilon, most)
    if found.rounds is None and found.least > FAR * epsilon:
        return found
    ratio = (coarse[1] / coarse[0]) ** np.linspace(-0.9, 0.9, FINE)
    closer = first_round(servers, found.eta * ratio, epsilon, most if found.rounds is None else max(found.rounds, 1))
    return min(found, closer, key=lambda one: (one.rounds is None, one.rounds or 0, one.least))


COARSE, FINE = 16, 9
"""Steps that are tried."""
FAR = 2
"""Times the precision: where no coarse step comes so near, none between them arrives."""


def _square(P: np.ndarray) -> np.ndarray:
    """The matrix of z -> pack(m m') for m = P (1, w), (..., D, n)."""
    c, W = P[..., 0], P[..., 1:]
    return np.concatenate((pack(c[..., :, None] * c[..., None, :])[..., None], cross(W, c), sandwich(W)), -1)
