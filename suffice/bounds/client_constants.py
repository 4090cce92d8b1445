"""The constants of N clients, checked for consistency when built."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, check_whole

from .gradient_dissimilarity import Heterogeneity


def labelled(names: Any, clients: int) -> tuple[str, ...]:
    """Give one distinct, non-empty text per client, "0", "1", ... where `names` is empty; or raise `InputError`."""
    unordered = isinstance(names, (str, set, frozenset)) or not isinstance(names, Iterable)
    given = () if unordered else tuple(names) or tuple(str(i) for i in range(clients))
    if len(given) != clients:
        raise InputError("names", names, f"give {clients} names, one per client")
    seen: set[str] = set()
    for name in given:
        if not isinstance(name, str) or not name.strip() or name in seen:
            raise InputError("names", name, "give every client a text of its own")
        seen.add(name)
    check_whole("names", given)
    return given


@dataclass(frozen=True, kw_only=True)
class Constants:
    """The constants that theorems need to know of N clients.

    mu, beta    (N,)  PL and smoothness constants of R_i [loss / theta^2], 0 < mu <= beta
    sigma2      (N,)  total variances E|g_k - grad R_k|^2 [(loss / theta)^2], >= 0
    excess      (N,)  R_i(theta_0) - min R_i [loss], >= 0, or None when unknown
    heterogeneity     pairs (i, k): peer k seen from client i
    names             one label per client
    strongly_convex   every R_i is mu_i-strongly convex, not only PL; of quadratics it is known
    notes             what is estimated, and over which region; every plan repeats them
    unbounded         why no sigma2 bounds the variance wherever a path may go; empty if sigma2 does. Bounds that assume
                      one noise level are then not printed
    """

    mu: np.ndarray
    beta: np.ndarray
    sigma2: np.ndarray
    heterogeneity: Heterogeneity
    excess: np.ndarray | None = None
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    unbounded: str = ""
    strongly_convex: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.heterogeneity, Heterogeneity) or isinstance(self.heterogeneity, type):
            raise InputError("heterogeneity", self.heterogeneity, "give GradientDissimilarity or QuadraticCertificate")
        n = self.heterogeneity.clients
        if n == 0:
            raise InputError("clients", 0, "give at least one client")
        for name in ("mu", "beta", "sigma2", "excess"):
            value = getattr(self, name)
            if value is None and name == "excess":
                continue
            value = as_numbers(name, value, (n,), one_for_all=True, positive=name in ("mu", "beta"))
            if (value < 0).any():
                raise InputError(name, value.min().item(), "give numbers >= 0")
            object.__setattr__(self, name, value)
        over = np.flatnonzero(self.mu > self.beta)
        if over.size:
            i = over[0].item()
            raise InputError("mu", self.mu[i].item(), f"mu <= beta must hold; client {i} has beta = {self.beta[i]:.6g}")
        object.__setattr__(self, "names", labelled(self.names, n))

    @property
    def clients(self) -> int:
        """Number of clients N."""
        return self.heterogeneity.clients

    @property
    def shares(self) -> np.ndarray:
        """Inverse-variance shares w_i = (1 / sigma_i^2) / sum_k 1 / sigma_k^2, (N,)."""
        precision = 1 / self.sigma2
        return precision / precision.sum()
