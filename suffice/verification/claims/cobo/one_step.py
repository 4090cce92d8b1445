"""Lemmas 3 and 4 and the descent of the mean loss: one step from any models, its exact means and variances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import rows
from ...widened_conditions import beyond
from .cluster import ClientKinds

# f_i = sum_a h_ia (x_a - m_ia)^2 / 2 in a few kinds of clients, n_k clients of kind k at one point; h of either sign:
# the lemmas do not ask for convexity. All pairs of clients, a client with itself among them, are weighted sums over
# pairs of kinds; only the noise of z_ij+ tells i = j (variance eta^2 s a coordinate) from i != j (half of it). By hand,
# as Lemma 3 is attained by one client beside a million others.


@dataclass(frozen=True, kw_only=True)
class Step(ClientKinds):
    """One step of kinds of clients with their minimisers and models (B, K, d)."""

    minimiser: np.ndarray
    models: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        return np.einsum("bk,bkd->bd", self.share, self.models)

    @property
    def apart(self) -> np.ndarray:
        """x_k - xbar, (B, K, d)."""
        return self.models - self.mean[:, None]

    @cached_property
    def move(self) -> np.ndarray:
        """E x_k+ - x_k, (B, K, d)."""
        gradient = self.curvature * (self.models - self.minimiser)
        return -self.eta[:, None, None] * (gradient + (self.rho * self.size)[:, None, None] * self.apart)

    def arguments(self) -> dict[str, np.ndarray]:
        """The arguments of the lemmas, except the decrease."""
        return {
            "eta": self.eta,
            "beta": self.beta,
            "rho": self.rho,
            "size": self.size,
            "M": self.heterogeneity,
            "batch": np.full(len(self.eta), 1e9),
            "spread": np.einsum("bk,bkd->b", self.share, self.apart**2),
            "sigma2": self.sigma2,
            "mean_gradient": np.sqrt((self.mean_gradient**2).sum(-1)),
        }

    @property
    def mean_gradient(self) -> np.ndarray:
        """grad fbar at the mean model, (B, d)."""
        return np.einsum("bk,bkd->bd", self.share, self.curvature * (self.mean[:, None] - self.minimiser))

    @property
    def mean_gradient_squared(self) -> np.ndarray:
        """|grad fbar|^2 at the mean model."""
        return (self.mean_gradient**2).sum(-1)

    @property
    def mean_decrease(self) -> np.ndarray:
        """fbar(xbar) - E fbar(xbar+)."""
        move = np.einsum("bk,bkd->bd", self.share, self.move)
        fall = _fall(self.curvature, self.mean[:, None] - self.minimiser, move[:, None])
        curvature = np.einsum("bk,bkd->b", self.share, self.curvature)
        noise = self.eta**2 * self.sigma2 / self.curvature.shape[-1] / self.size
        return np.einsum("bk,bkd->b", self.share, fall) - curvature * noise / 2

    def _pairs(self, of: Callable[..., np.ndarray]) -> np.ndarray:
        """Mean over all pairs of of(i, j, z_ij, E z_ij+ - z_ij), arrays that broadcast to (B, K, K, d)."""
        z = (self.models[:, :, None] + self.models[:, None]) / 2
        move = (self.move[:, :, None] + self.move[:, None]) / 2
        one = (self.curvature[:, :, None], self.minimiser[:, :, None])
        other = (self.curvature[:, None], self.minimiser[:, None])
        return np.einsum("bk,bl,bkld->b", self.share, self.share, of(one, other, z, move))

    @property
    def midpoint_gradient(self) -> np.ndarray:
        """Mean over pairs of |grad f_ij(z_ij)|^2."""
        return self._pairs(lambda i, j, z, move: ((i[0] * (z - i[1]) + j[0] * (z - j[1])) / 2) ** 2)

    @property
    def midpoint_decrease(self) -> np.ndarray:
        """Mean over pairs of f_ij(z_ij) - E f_ij(z_ij+)."""
        falls = self._pairs(lambda i, j, z, move: (_fall(i[0], z - i[1], move) + _fall(j[0], z - j[1], move)) / 2)
        curvature = np.einsum("bk,bkd->b", self.share, self.curvature)
        noise = self.eta**2 * self.sigma2 / self.curvature.shape[-1]
        return falls - curvature * noise * (1 + 1 / self.size) / 4

    @property
    def next_consensus(self) -> np.ndarray:
        """Mean over pairs of E|x_i+ - x_j+|^2."""
        after = self.apart + self.move - np.einsum("bk,bkd->bd", self.share, self.move)[:, None]
        noise = self.eta**2 * self.sigma2 * (1 - 1 / self.size)
        return 2 * (np.einsum("bk,bkd->b", self.share, after**2) + noise)


def _fall(curvature: np.ndarray, away: np.ndarray, move: np.ndarray) -> np.ndarray:
    """h (y^2 - (y + v)^2) / 2, without cancellation where v is small."""
    return -curvature * move * (away + move / 2)


# --- families -------------------------------------------------------------------------------------------


@measured_by("one exact step", "a cluster of quadratics, diagonal and of either sign")
def _lemma(values: Values, quantity: str, decrease: str, *, penalised: bool) -> Measured:
    """`quantity` beside a `decrease`; rho is a multiple of L/c, eta a fraction of 1/L, or of 1/(rho c)."""
    size, beta = values["counts"].sum(-1), values["overstatement"] * np.abs(values["curvature"]).max((1, 2))
    rho = values["penalty"] * beta / size
    step = Step(
        **{name: values[name] for name in ("counts", "curvature", "minimiser", "models", "sigma2", "overstatement")},
        rho=rho,
        eta=values["fraction"] / (rho * size if penalised else beta),
    )
    return getattr(step, quantity), {**step.arguments(), "decrease": getattr(step, decrease)}


_KINDS, _FEATURES = 3, 2
_DRAWN = {
    "counts": Domain(low=1, high=4, integer=True, shape=(_KINDS,)),
    "curvature": Domain(low=-1, high=1, shape=(_KINDS, _FEATURES)),
    "minimiser": Domain(low=-1, high=1, shape=(_KINDS, _FEATURES)),
    "models": Domain(low=-1, high=1, shape=(_KINDS, _FEATURES)),
    "sigma2": Domain(low=1e-3, high=1, log=True),
    "penalty": Domain(low=0.1, high=10, log=True),
    "fraction": Domain(low=0.01, high=1, log=True),
    "overstatement": Domain(low=1, high=1.05),
}


def _rows(*given: Mapping[str, Any]) -> Values:
    """Two kinds of clients on a line; plain: equal ones at their minimiser 0, without noise."""
    plain = {
        "counts": np.ones(2),
        "curvature": np.ones((2, 1)),
        "minimiser": np.zeros((2, 1)),
        "models": np.zeros((2, 1)),
        **{"sigma2": 0.0, "penalty": 3.0, "fraction": 1.0, "overstatement": 1.0},
    }
    return rows(plain, *given)


def _noisy(limit: float) -> list[dict[str, Any]]:
    """Equal clients at one point, eta at `limit`/L: what the noise adds is exact."""
    return [
        {"counts": [[1, 0], [1, 1], [3, 2], [50, 50]][at], "models": 1.0, "sigma2": share * (2 - limit) / limit,
         "fraction": limit, "penalty": 0.5}
        for at in range(4) for share in (0.0, 0.5, 1 - 1e-9)
    ]  # fmt: skip


def _still(counts: list[float], bend: float, models: list[float], penalty: float, shift: float) -> dict[str, Any]:
    """Models that do not move: h_i (x_i - m_i) = -rho c (x_i - xbar), but for a shift of one sign a small decrease.

    The curvatures are `bend` and its opposite.
    """
    share, x = np.array(counts) / sum(counts), np.array(models)
    h = bend * np.array([1.0, -1.0])
    away = -penalty * np.abs(h) * (x - share @ x) / h + shift
    return {
        "counts": counts,
        "curvature": h[:, None],
        "models": x[:, None],
        "minimiser": (x - away)[:, None],
        "penalty": penalty,
        "fraction": 0.5,
    }


def _sharp_lemma_3() -> Values:
    """Noise alone; and one outlier of a million with the other curvature, which turns all parts of e_ij one way."""
    still = [
        _still([1, 1e6], bend, [0.0, 1.0], penalty, shift)
        for bend in (4, -4) for penalty in (0.1, 1.0, 10.0) for shift in (1e-8, -1e-8)
    ]  # fmt: skip
    return _rows(*_noisy(1.0), *still)


def _sharp_mean_descent() -> Values:
    """Noise alone; and two halves of opposite curvature: all h_i (x_i - xbar) point one way."""
    still = [_still([1, 1], bend, [-1.0, 1.0], 3.0, shift) for bend in (4, -4) for shift in (1e-8, -1e-8)]
    return _rows(*_noisy(1.0), *still)


def _sharp_lemma_3_printed() -> Values:
    """One client at L x^2 / 2 and eta = 1/(2 L), the noise so large that the loss hardly decreases."""
    return _rows({"counts": [1, 0], "models": 1.0, "sigma2": 3 * (1 - 1e-9), "fraction": 0.5})


_COLLABORATIVE = {
    **_DRAWN,
    "curvature": Domain(low=0.05, high=1, log=True, shape=(_KINDS, _FEATURES)),
    "minimiser": Domain(low=0, high=0, shape=(_KINDS, _FEATURES)),
    "penalty": Domain(low=1.01, high=100, log=True),
}
"""One minimiser and curvatures of one sign, as (A4) asks; eta = fraction / (rho c)."""


def _sharp_lemma_4() -> Values:
    """Noise of equal clients; concave ones apart, at small steps or held apart; different ones at one point."""
    noise = [
        {"counts": counts, "sigma2": 1.0, "penalty": 2.0, "curvature": curvature}
        for counts in ([1, 1], [2, 1], [30, 70]) for curvature in (1.0, 0.1)
    ]  # fmt: skip
    apart = [
        {"curvature": -1.0, "models": [[-1.0], [1.0]], "penalty": penalty, "fraction": fraction}
        for penalty in (1.01, 1.5, 5.0) for fraction in (1e-3, 1e-2)
    ]  # fmt: skip
    drift = [
        {"curvature": [[1.0], [(1 - M) / (1 + M)]], "models": 1.0, "penalty": penalty}
        for M in (0.1, 0.5, 0.9) for penalty in (10.0, 1e4)
    ]  # fmt: skip
    # nearly equal concave clients whose deviations stay: -b_i/(rho c - L), b_i = +-M grad fbar(xbar)
    M = 1e-5
    held = [
        {"curvature": [[-1.0], [-(1 - M) / (1 + M)]], "models": [[1 + M / (penalty - 1)], [1 - M / (penalty - 1)]],
         "penalty": penalty, "fraction": fraction}
        for penalty in (1.5, 3.0) for fraction in (0.5, 1.0)
    ]  # fmt: skip
    return _rows(*noise, *apart, *drift, *held)


def _sharp_lemma_4_printed() -> Values:
    """Two equal clients at one point: the noise alone."""
    return _rows({"models": 2.0, "sigma2": 1.0, "penalty": 2.0, "fraction": 0.5})


_OPPOSITE = {"counts": [3, 3], "curvature": [[1.0], [-1 / 6]], "models": 1.0, "penalty": 10.0}
"""M = 1.4 in a cluster of six, where `cluster_dissimilarity` is negative."""


def claims() -> tuple[Claim, ...]:
    def claim(key: str, edition: str, quantity: str, decrease: str, sharp: Callable[[], Values],
              outside: Mapping[str, Callable[[Family], Callable[[], Evidence]]]) -> Claim:  # fmt: skip
        penalised = key == "lemma-4"
        family = Family(
            name="one step of a cluster",
            domains=_COLLABORATIVE if penalised else _DRAWN,
            measure=lambda values: _lemma(values, quantity, decrease, penalised=penalised),
            sharp=sharp,
        )
        return Claim.on(
            f"cobo/{key}",
            family,
            edition=edition,
            outside_conditions={name: instances(family) for name, instances in outside.items()},
        )

    def longer(family: Family) -> Callable[[], Evidence]:
        return beyond(family, fraction=1.05)

    long = {"step size eta <= 1/beta": longer}
    apart = {
        "step size eta <= 1/(rho size)": longer,
        "penalty 1.01 beta/size <= rho": lambda family: beyond(family, penalty=0.95),
        "relative heterogeneity M <= 1": lambda family: lambda: family.evidence(_rows(_OPPOSITE)),
    }
    midpoint, mean = ("midpoint_gradient", "midpoint_decrease"), ("mean_gradient_squared", "mean_decrease")
    return (
        claim("lemma-3", "printed", *midpoint, _sharp_lemma_3_printed, {}),
        claim("lemma-3", "corrected", *midpoint, _sharp_lemma_3, long),
        claim("mean-descent", "corrected", *mean, _sharp_mean_descent, long),
        claim("lemma-4", "printed", "next_consensus", "midpoint_decrease", _sharp_lemma_4_printed, {}),
        claim("lemma-4", "corrected", "next_consensus", "midpoint_decrease", _sharp_lemma_4, apart),
    )
