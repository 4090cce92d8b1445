"""What the methods' theorems ask of a network of clients, beyond `Constants`, and what follows from what is given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import as_numbers, as_whole
from ..constants import Constants
from ..errors import InputError
from ..heterogeneity import GradientDissimilarity, QuadraticCertificate

OUTWARD = 1 + 1e-12
"""Covers the rounding of a norm or a quadratic form."""


@dataclass(frozen=True, kw_only=True)
class Network:
    """Constants, and whatever else is known; None marks what is not.

    start     (N, d)     where the models start [theta]
    peer_excess  (N, N)  client i's excess loss at client j's optimum x_j*, R_i(x_j*) - min R_i, as [i, j] [loss]
    A, C      (N,)       expected smoothness: E|g_i - grad R_i(x*)|^2 <= 2 A_i D + C_i (Scafflix, Assumption 3); by
                         default A = beta and C = sigma2, which holds where sigma2 bounds the variance
    released  (N,)       smoothness constants as Scafflix's released code computes them, by default beta
    released_mu          the strong convexity that it takes, by default the smallest mu
    batch                samples that one stochastic gradient averages; sigma2 is the variance of such a mean
    notes                what the numbers above rest on

    Quadratics bring their Hessians, optima and peer excesses with their certificate.
    """

    constants: Constants
    start: np.ndarray | None = None
    peer_excess: np.ndarray | None = None
    A: np.ndarray | None = None
    C: np.ndarray | None = None
    released: np.ndarray | None = None
    released_mu: float | None = None
    batch: int = 1
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = self.clients
        shapes: dict[str, tuple[int | str, ...]] = {"start": (n, "d"), "peer_excess": (n, n), "A": (n,), "C": (n,)}
        for name, shape in (shapes | {"released": (n,)}).items():
            value = getattr(self, name)
            if value is None:
                continue
            value = as_numbers(name, value, shape, positive=name in ("A", "released"), infinite=name == "peer_excess")
            if name in ("peer_excess", "C") and (value < 0).any():
                raise InputError(name, value.min().item(), "give numbers >= 0")
            object.__setattr__(self, name, value)
        as_whole("batch", self.batch)
        if (self.A is None) != (self.C is None):
            raise InputError("A and C", "one of them", "give both or neither")

    @property
    def clients(self) -> int:
        return self.constants.clients

    @cached_property
    def quadratics(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Hessians (N, d, d) and optima (N, d) of quadratics with a certificate."""
        known = self.constants.heterogeneity
        return (2 * known.A, -known.xi) if isinstance(known, QuadraticCertificate) else None

    @cached_property
    def spread(self) -> float | None:
        """Largest distance of two starts, where the starts are known: several theorems ask for a common one."""
        return None if self.start is None else np.linalg.norm(self.start - self.start[:1], axis=-1).max().item()

    @cached_property
    def uniform(self) -> np.ndarray:
        """b (N, N) with |grad R_i - grad R_k| <= b_ik at every model; inf where no such number is known.

        An affine pair has one if c = 0. Two quadratics have one if their Hessians are equal.
        """
        known = self.constants.heterogeneity
        if isinstance(known, GradientDissimilarity):
            return np.where(known.c == 0, np.sqrt(known.b2), np.inf)
        if self.quadratics is None:
            return np.where(np.eye(self.clients, dtype=bool), 0.0, np.inf)
        H, optimum = self.quadratics
        b = np.linalg.norm(np.einsum("kde,ike->ikd", H, optimum[:, None] - optimum[None]), axis=-1)
        same = (H[:, None] == H[None]).all((-2, -1))
        return np.where(same, b * OUTWARD, np.inf)

    # At x_j* the gradient of R_j vanishes, so |grad R_i(x_j*)|^2 <= b2_ji whatever c_ji is, and <= b2_ij if c_ij = 0.
    # PL of R_i turns it into an excess loss.

    @cached_property
    def excess_at_peers(self) -> np.ndarray:
        """R_i(x_j*) - min R_i, or an upper bound, as [i, j] (N, N); inf where nothing is known."""
        if self.peer_excess is not None:
            return self.peer_excess
        if self.quadratics is not None:
            H, optimum = self.quadratics
            gap = optimum[None] - optimum[:, None]
            return np.einsum("ijd,ide,ije->ij", gap, H, gap) / 2 * OUTWARD
        known = self.constants.heterogeneity
        seen = np.full((self.clients, self.clients), np.inf)
        if isinstance(known, GradientDissimilarity):
            seen = np.minimum(known.b2.T, np.where(known.c == 0, known.b2, np.inf))
        own = np.eye(self.clients, dtype=bool)
        return np.where(own, 0.0, seen / (2 * self.constants.mu[:, None]) * OUTWARD)

    @cached_property
    def distance2(self) -> np.ndarray | None:
        """|x_i^0 - x_i*|^2 (N,), exact or bounded by 2 e_0 / mu (strong convexity); None without a start."""
        if self.start is not None and self.quadratics is not None:
            return ((self.start - self.quadratics[1]) ** 2).sum(-1)
        if self.constants.excess is None:
            return None
        return 2 * self.constants.excess / self.constants.mu

    def mixed_distance2(self, alpha: np.ndarray) -> float | None:
        """|x^0 - x*|^2 for the mixed objective mean_i R_i(alpha_i x + (1 - alpha_i) x_i*), or a bound of it.

        The bound: mean(alpha^2 mu)/2 |x^0 - x*|^2 is at most its excess at x^0, at most mean(alpha_i e_i) by
        convexity, since no loss is below its minimum.
        """
        solution = self.mixed_solution(alpha)
        if solution is not None and self.start is not None:
            return ((self.start[0] - solution) ** 2).sum().item()
        mu, excess = self.constants.mu, self.constants.excess
        return None if excess is None else 2 * (alpha * excess).mean().item() / (alpha**2 * mu).mean().item()

    def mixed_solution(self, alpha: np.ndarray) -> np.ndarray | None:
        """The minimiser (d,) of the mixed objective of quadratics."""
        if self.quadratics is None:
            return None
        H, optimum = self.quadratics
        weighted = alpha[:, None, None] ** 2 * H
        return np.linalg.solve(weighted.sum(0), np.einsum("ide,ie->d", weighted, optimum))

    def mixed_excess(self, alpha: np.ndarray) -> float | None:
        """Mean over the clients of R_i - min R_i at their mixed models: what mixing itself costs."""
        solution = self.mixed_solution(alpha)
        if solution is None or self.quadratics is None:
            return None
        H, optimum = self.quadratics
        gap = alpha[:, None] * (solution - optimum)
        return (np.einsum("id,ide,ie->i", gap, H, gap) / 2).mean().item()


def semimetric(b: Any) -> np.ndarray:
    """The largest semi-metric (N, N) below b: symmetric, and no pair further apart than over any detour."""
    b = np.asarray(b, dtype=float)
    closest = np.minimum(b, b.T)
    for k in range(len(closest)):
        closest = np.minimum(closest, closest[:, k : k + 1] + closest[k : k + 1])
    return closest
