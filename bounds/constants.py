"""The constants of N clients, checked for consistency when built."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .arrays import as_numbers
from .errors import InputError
from .heterogeneity import Heterogeneity


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What the theorems need to know of N clients.

    mu, beta    (N,)  PL and smoothness constants of R_i [loss / theta^2], 0 < mu <= beta
    sigma2      (N,)  total variances E|g_k - grad R_k|^2 [(loss / theta)^2], >= 0
    excess      (N,)  R_i(theta_0) - min R_i [loss], >= 0, or None when unknown
    heterogeneity     pairs (i, k): peer k seen from client i
    names             one label per client
    notes             what is estimated, and over which region: carried into every plan
    """

    mu: np.ndarray
    beta: np.ndarray
    sigma2: np.ndarray
    heterogeneity: Heterogeneity
    excess: np.ndarray | None = None
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        n = self.heterogeneity.clients
        if n == 0:
            raise InputError("clients", 0, "give at least one client")
        for name in ("mu", "beta", "sigma2", "excess"):
            value = getattr(self, name)
            if value is None:
                continue
            if np.ndim(value) != 0 and np.shape(value) != (n,):
                raise InputError(name, value, f"give one number or a list of {n}, one per client")
            if np.ndim(value) == 0:
                value = [value] * n
            value = as_numbers(name, value, (n,))
            least = float(np.min(value))
            if least < 0 or (least == 0 and name in ("mu", "beta")):
                wanted = "positive" if name in ("mu", "beta") else "non-negative"
                raise InputError(name, least, f"give {wanted} numbers")
            object.__setattr__(self, name, value)
        over = np.flatnonzero(self.mu > self.beta)
        if over.size:
            i = over[0].item()
            raise InputError("mu", self.mu[i].item(), f"mu <= beta must hold; client {i} has beta = {self.beta[i]:.6g}")
        if not self.names:
            object.__setattr__(self, "names", tuple(str(i) for i in range(n)))
        if len(self.names) != n:
            raise InputError("names", self.names, f"give {n} names, one per client")

    @property
    def clients(self) -> int:
        """Number of clients N."""
        return self.heterogeneity.clients
