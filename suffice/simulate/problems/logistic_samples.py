"""Constants of logistic losses as sampled on balls around the optima: estimates, where certificates say nothing.

Points of client i's ball: its optimum displaced along random directions, along the eigenvectors of its Hessian there
and towards its start, by lengths from the radius down to a ten-thousandth of it. Every extreme over the ball lies
beyond its value over these points: an extreme of P independent points is passed by a further one with probability at
most 1 - 0.05^(1/P), at confidence 0.95 (0.6 % for P = 512).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy.special import expit

from suffice.bounds import GradientDissimilarity
from suffice.support.errors import InputError

from ..randomness import Randomness, Stream
from .logistic_optimum import gradient, hessian

SHORTEST = 1e-4
MOST_NUMBERS = 2e7
"""At most so many squared distances P N^2 are kept, of fewer points if need be."""
FEWEST = 32


@dataclass(frozen=True, kw_only=True)
class SampledCertificate(GradientDissimilarity):
    """The largest |grad R_i - grad R_k|^2 / |grad R_i|^2 among the points; as
    `GradientDissimilarity` the largest difference, c = 0.

    gap2 (N, P, N) squared differences [i, p, k] at client i's points, norm2 (N, P) there
    """

    gap2: np.ndarray
    norm2: np.ndarray

    @cached_property
    def _by_norm(self) -> tuple[np.ndarray, np.ndarray]:
        return _worst_above(self.norm2, self.gap2 / self.norm2[..., None])

    def similarity(self, level: np.ndarray) -> np.ndarray:
        (key, worst), level = self._by_norm, np.asarray(level, dtype=float)
        rho = np.empty((*level.shape, self.clients))
        for i in range(self.clients):
            at = np.searchsorted(key[i], level[..., i])
            # below all points too little is known, above all of them nothing is excluded but what the last one says
            known = worst[i][np.minimum(at, len(key[i]) - 1)]
            rho[..., i, :] = np.where((at > 0)[..., None] | (worst[i][0] == 0), np.maximum(1 - known, 0), 0)
        return np.where(np.eye(self.clients, dtype=bool), 1.0, rho)

    def entry_level(self, similarity: float) -> np.ndarray:
        key, worst = self._by_norm
        enough = 1 - worst >= similarity  # (N, P, N), rising in p
        first = enough.argmax(1)
        found = enough.any(1)
        level = np.take_along_axis(key, first, 1)  # [i, k] = key[i, first[i, k]]
        level = np.where(found, np.where((worst[:, 0] == 0), 0.0, level), np.inf)
        return np.where(np.eye(self.clients, dtype=bool), 0.0, level)


def _worst_above(key: np.ndarray, ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted keys (N, P), and the largest ratio among points of that key or more, (N, P, N)."""
    order = np.argsort(key, axis=1)
    ranked = np.take_along_axis(ratio, order[..., None], 1)
    worst = np.maximum.accumulate(ranked[:, ::-1], axis=1)[:, ::-1]
    return np.take_along_axis(key, order, 1), worst


@dataclass(frozen=True, kw_only=True)
class SampledConstants:
    """mu (N,), sigma2 (N,) over all clients' points, and the pairs."""

    mu: np.ndarray
    sigma2: np.ndarray
    pairs: SampledCertificate


def sampled_constants(
    rows: Sequence[np.ndarray],
    optimum: np.ndarray,
    start: np.ndarray,
    radius: np.ndarray,
    *,
    ridge: float,
    batch: int,
    same: np.ndarray,
    points: int,
    names: Sequence[str],
) -> SampledConstants:
    """From signed rows u (n_i, d); about `points` points a client. `same` (N, N) marks clients with the same rows."""
    n = len(rows)
    count = int(max(FEWEST, min(points, MOST_NUMBERS / n**2)))
    gap2, norm2, mu = [], [], []
    sigma2 = np.zeros(n)
    for i, u in enumerate(rows):
        spectrum, vectors = np.linalg.eigh(hessian(u, optimum[i], ridge))
        theta = _points(i, optimum[i], start[i], radius[i], vectors, count)
        slopes = np.stack([gradient(v, theta, ridge) for v in rows], axis=1)  # (P, N, d)
        gap2.append(((slopes - slopes[:, [i]]) ** 2).sum(-1))
        norm2.append((slopes[:, i] ** 2).sum(-1))
        excess = _excess(u, theta, optimum[i], ridge)
        for k, v in enumerate(rows):
            mean = slopes[:, k] - ridge * theta
            sigma2[k] = max(sigma2[k], (_second(v, theta) - (mean**2).sum(-1)).max())
        usable = excess > 1e-12 * excess.max()
        ratios = norm2[-1][usable] / (2 * excess[usable])
        mu.append(max(ridge, min([spectrum[0], *ratios.tolist()])))
        if mu[-1] <= 1e-13 * spectrum[-1]:
            remedy = "no curvature at its optimum; use regularisation 0.1, for example"
            raise InputError(f"regularisation, for client {names[i]}", ridge, remedy)
    gaps = np.where(same[:, None] | np.eye(n, dtype=bool)[:, None], 0.0, np.stack(gap2))
    pairs = SampledCertificate(
        b2=gaps.max(1),
        c=np.zeros((n, n)),
        gap2=gaps,
        norm2=np.maximum(np.stack(norm2), 1e-300),
    )
    return SampledConstants(mu=np.array(mu), sigma2=sigma2 / batch, pairs=pairs)


def _points(
    i: int, optimum: np.ndarray, start: np.ndarray, radius: float, vectors: np.ndarray, count: int
) -> np.ndarray:
    """(P, d) with P = count, the same for the same arguments; all within the ball, the start among them."""
    d, randomness = len(optimum), Randomness(seeds=torch.tensor([i]))
    directions = randomness.normal(iteration=0, stream=Stream.POINTS, clients=count, features=d)[0].numpy()
    uniform = randomness.uniform(iteration=1, stream=Stream.POINTS, clients=1, features=count)[0, 0].numpy()
    order = randomness.permutation(count, iteration=2, stream=Stream.POINTS)[0].numpy()
    both_ways = np.stack((vectors.T, -vectors.T), 1).reshape(-1, d)  # least curvature first
    axes = np.repeat(both_ways, 2, axis=0)[: count // 3]
    directions[: len(axes)] = axes
    toward = slice(len(axes), len(axes) + count // 6)
    directions[toward] = (start - optimum) + 0.1 * np.linalg.norm(start - optimum) / np.sqrt(d) * directions[toward]
    norm = np.linalg.norm(directions, axis=1, keepdims=True)
    directions = np.divide(directions, norm, out=np.zeros_like(directions), where=norm > 0)
    length = np.geomspace(1, SHORTEST, count)[order]
    length[::2] = uniform[::2]  # extremes are often far out
    length[: len(axes)] = np.where(np.arange(len(axes)) % 2, 1.0, length[: len(axes)])
    theta = optimum + radius * length[:, None] * directions
    theta[-1] = start
    return theta


def _errors(u: np.ndarray, theta: np.ndarray) -> np.ndarray:
    return expit(-theta @ u.T)


def _second(u: np.ndarray, theta: np.ndarray) -> np.ndarray:
    return _errors(u, theta) ** 2 @ (u**2).sum(1) / len(u)


def _excess(u: np.ndarray, theta: np.ndarray, optimum: np.ndarray, ridge: float) -> np.ndarray:
    """R(theta) - R(theta*) by the integral of the curvature where the direct difference would cancel."""
    delta = theta - optimum
    z, step = u @ optimum, delta @ u.T
    direct = np.logaddexp(0, -(z + step)) - np.logaddexp(0, -z) + _errors(u, optimum[None]) * step
    near = _errors(u, optimum[None]) * (1 - _errors(u, optimum[None])) * step**2 / 2
    small = np.abs(step).max(1) < 1e-4  # the cubic term is below 1e-4 of it, rounding of the difference below 1e-8
    loss = np.where(small[:, None], near, direct).mean(1)
    return loss + ridge / 2 * (delta**2).sum(1)
