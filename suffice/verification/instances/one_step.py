"""One step from a given model in the plane, under noise of four values: E[e_1] by trying every outcome.

R_i is a quadratic or 1 - cos along the first axis, with curvature beta there and `flat` beta along the second. Peers
are given by their gradients; noise of client k is sqrt(v_k) Z_jk along a direction of its own, with the Z of
`verification.instances.enumerated_paths`: uncorrelated across clients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from ..evidence import Measured, measured_by
from ..family import Domain, Family, Values
from .enumerated_paths import QUADRATIC, TWO_VALUES, Loss, similarities, uncorrelated, weights
from .rows import plain, rows

CLIENTS = 3

DOMAINS = {
    "beta": Domain(low=0.25, high=4, log=True),
    "flat": Domain(low=0.01, high=1),
    "theta": Domain(low=-3, high=3, shape=(2,)),
    "factor": Domain(low=0, high=2, shape=(CLIENTS - 1,)),
    "apart": Domain(low=-1, high=1, shape=(CLIENTS - 1, 2)),
    "alpha": Domain(low=0.001, high=1, shape=(CLIENTS,)),
    "sigma2": Domain(low=0.01, high=10, log=True, shape=(CLIENTS,)),
    "growth": Domain(low=0, high=3, shape=(CLIENTS,)),
    "angle": Domain(low=0, high=6.2831853, shape=(CLIENTS,)),
    "law": Domain(low=-1, high=1, shape=(4, CLIENTS)),
    "chance": Domain(low=0.02, high=1, log=True, shape=(4,)),
    "ratio": Domain(low=0.05, high=1),
    "binary": Domain(low=0, high=1, integer=True),
    "threshold": Domain(low=0.05, high=0.95),
}


class OneStep:
    """A batch of instances (n,). Weights alpha as given, or those of Definition 1 (`adaptive`).

    With `growing`, client k's variance is sigma_k^2 + growth_k |grad R_k|^2 and sigma_k^2 are reference variances too.
    """

    def __init__(self, values: Values, loss: Loss, *, adaptive: bool = False, growing: bool = False) -> None:
        self.values, self.loss = values, loss
        own = self.slope(values["theta"])
        size = np.linalg.norm(own, axis=-1)[:, None, None]
        peers = values["factor"][..., None] * own[:, None] + values["apart"] * size
        self.gradients = np.concatenate((own[:, None], peers), axis=1)  # (n, 3, 2)
        self.gap2 = ((self.gradients - self.gradients[:, :1]) ** 2).sum(-1)
        self.similarity = similarities(self.gap2, (self.gradients[:, :1] ** 2).sum(-1))
        binary, threshold = (values[name][:, None] for name in ("binary", "threshold"))
        sigma2 = values["sigma2"]
        self.alpha = weights(binary, threshold, self.similarity, sigma2) if adaptive else values["alpha"]
        self.total = self.alpha.sum(1)
        self.total[self.total == 0] = -1  # signed weights that cancel are outside every hypothesis
        self.eta = values["ratio"] / (values["beta"] * self.total)
        growth = values["growth"] * (self.gradients**2).sum(-1) if growing else 0
        self.variance = sigma2 + growth

    def value(self, theta: np.ndarray) -> np.ndarray:
        """R_i - min R_i at theta (n, ..., 2)."""
        beta, flat = (self._wide(self.values[name], theta.ndim - 1) for name in ("beta", "flat"))
        return beta * (self.loss.value(theta[..., 0]) + flat * theta[..., 1] ** 2 / 2) / self.loss.beta

    def slope(self, theta: np.ndarray) -> np.ndarray:
        """grad R_i."""
        beta, flat = (self._wide(self.values[name], theta.ndim - 1) for name in ("beta", "flat"))
        parts = self.loss.slope(theta[..., 0]) / self.loss.beta, flat * theta[..., 1]
        return beta[..., None] * np.stack(parts, -1)

    @staticmethod
    def _wide(x: np.ndarray, axes: int) -> np.ndarray:
        return x.reshape(-1, *[1] * (axes - 1))

    @cached_property
    def after(self) -> tuple[np.ndarray, np.ndarray]:
        """theta_1 in every outcome (n, 4, 2) and their probabilities (n, 4)."""
        basis, chance = uncorrelated(self.values["law"], self.values["chance"])
        angle = self.values["angle"]
        direction = np.stack((np.cos(angle), np.sin(angle)), -1)
        noise = np.einsum("njk,nk,nkd->njkd", basis, np.sqrt(self.variance), direction)
        move = np.einsum("nk,njkd->njd", self.alpha, self.gradients[:, None] + noise)
        return self.values["theta"][:, None] - self.eta[:, None, None] * move, chance

    def expected_excess(self) -> np.ndarray:
        """E[e_1]."""
        theta, chance = self.after
        return (chance * self.value(theta)).sum(1)

    def arguments(self) -> dict[str, np.ndarray]:
        """The arguments of Lemma 1 and its variants."""
        theta, chance = self.after
        alpha, total = self.alpha, self.total
        aggregate = np.einsum("nk,nkd->nd", alpha, self.gradients) / total[:, None]
        mixed = self.values["growth"] * (1 + np.sqrt(1 - self.similarity)) ** 2
        return {
            "eta": self.eta,
            "beta": self.values["beta"],
            "e0": self.value(self.values["theta"]),
            "weight": total,
            "q": 1 / total,
            "discrepancy": (alpha * self.gap2).sum(1),
            "gradient": np.linalg.norm(self.gradients[:, 0], axis=-1),
            "next_gradient2": (chance * (self.slope(theta) ** 2).sum(-1)).sum(1),
            "aggregate": np.linalg.norm(aggregate, axis=-1),
            "aggregate_gap": np.linalg.norm(aggregate - self.gradients[:, 0], axis=-1),
            "V": (alpha**2 * self.values["sigma2"]).sum(1),
            "Q": (alpha**2 * mixed).sum(1),
        }


def family(
    *,
    loss: Loss = QUADRATIC,
    sharp: Callable[[], Values] | None = None,
    adaptive: bool = False,
    growing: bool = False,
    change: Mapping[str, Domain] | None = None,
) -> Family:
    """One step of three clients in the plane."""

    @measured_by("all outcomes", f"one step of three clients in the plane, R_i = {loss.name} along one axis")
    def evidence(values: Values) -> Measured:
        batch = OneStep(values, loss, adaptive=adaptive, growing=growing)
        return batch.expected_excess(), batch.arguments()

    return Family(name=f"one step on {loss.name}", domains={**DOMAINS, **(change or {})}, measure=evidence, sharp=sharp)


def instances(*given: Mapping[str, object]) -> Values:
    """One array per parameter; what a row leaves out is an ordinary value: no peers, noise of two values."""
    one = plain(DOMAINS, flat=1, theta=[1, 0], factor=1, alpha=[1, 0, 0], ratio=1, threshold=0.5, law=TWO_VALUES)
    return rows(one, *given)
