"""Peers as Definition 1 sees them: similarities and variances, and what the weights made of them are.

Weights come from `bounds.collaboration_weights`, which the simulator steps with; sums of them are taken here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.bounds import (
    Binary,
    Continuous,
    Criterion,
    Sharp,
    best_threshold,
    collaboration_weights,
    sufficient_variance,
)

from ..evidence import measured_by
from ..family import Domain, Family, Values
from .rows import columns

CLIENTS = 5
NOBODY = 1e30
"""The variance of a client that weighs nothing."""


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """Binary where `power` is below 1, else phi(x) = min(peak, x^power); one row per instance, (n, 1)."""

    peak: np.ndarray
    power: np.ndarray

    def phi(self, x: Any) -> Any:
        return np.where(self.power < 1, Binary(threshold=self.peak).phi(x), np.minimum(self.peak, x**self.power))

    def psi(self, x: Any) -> Any:
        return x * self.phi(x)


@dataclass(frozen=True, kw_only=True)
class Peers:
    """A batch of networks: similarity and sigma2 (n, N), client i first with similarity 1, and a criterion."""

    similarity: np.ndarray
    sigma2: np.ndarray
    criterion: Any

    @property
    def alpha(self) -> np.ndarray:
        return collaboration_weights(self.criterion, similarity=self.similarity, sigma2=self.sigma2)

    @property
    def share(self) -> np.ndarray:
        """w_i."""
        return 1 / self.sigma2[:, 0] / (1 / self.sigma2).sum(-1)

    @property
    def peak(self) -> np.ndarray:
        """phi(1)."""
        return np.broadcast_to(self.criterion.phi(np.ones((len(self.sigma2), 1)))[:, 0], self.sigma2[:, 0].shape)

    def noise(self) -> np.ndarray:
        """V = sum_k alpha_k^2 sigma_k^2."""
        return (self.alpha**2 * self.sigma2).sum(-1)

    def step_ratio(self) -> np.ndarray:
        """1 / sum_k alpha_k."""
        return 1 / self.alpha.sum(-1)

    def effective(self) -> np.ndarray:
        """sigma_psi^2, from the client's own weight alpha_i = phi(1) sigma_psi^2 / sigma_i^2."""
        return self.alpha[:, 0] * self.sigma2[:, 0] / self.peak


def _family(
    name: str,
    evidence: Callable[[Values], tuple[np.ndarray, dict[str, np.ndarray]]],
    sharp: Callable[[], Values],
    **domains: Domain,
) -> Family:
    """Random similarities (own first, 1) and variances beside `domains`."""

    return Family(
        name=name,
        domains={
            "sigma2": Domain(low=0.01, high=100, log=True, shape=(CLIENTS,)),
            "r": Domain(low=0, high=1, shape=(CLIENTS,)),
            **domains,
        },
        measure=measured_by("exact", name)(evidence),
        sharp=sharp,
    )


_ANY = {"peak": Domain(low=0.02, high=1), "power": Domain(low=0, high=4)}


def _own_first(r: np.ndarray) -> np.ndarray:
    return np.concatenate((np.ones_like(r[:, :1]), r[:, 1:]), axis=1)


def _mixed(values: Values) -> Peers:
    criterion = Mixed(peak=values["peak"][:, None], power=values["power"][:, None])
    return Peers(similarity=_own_first(values["r"]), sigma2=values["sigma2"], criterion=criterion)


# --- one weight -------------------------------------------------------------------------------------------


def weights() -> Family:
    """The weight of one peer, any criterion; sharp: two clients alone, binary, r_k >= lambda."""

    def evidence(values: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        peers = _mixed(values)
        ratio = peers.sigma2[:, 1] / peers.sigma2[:, 0]
        return peers.alpha[:, 1], {"similarity": peers.similarity[:, 1], "variance_ratio": ratio}

    def sharp() -> Values:
        rows = [((1.0, r, 0, 0, 0), (1.0, s, *[NOBODY] * 3), r, 0.0) for r in (0.05, 0.5, 1) for s in (1e-4, 1, 50)]
        return columns(("r", "sigma2", "peak", "power"), rows)

    return _family("weights of five clients", evidence, sharp, **_ANY)


# --- how large the step may be ------------------------------------------------------------------------------


def step_ratios(kind: str) -> Family:
    """1 / sum_k alpha_k; sharp: all peers at the similarity where it is least."""
    fixed: dict[str, Criterion] = {"continuous": Continuous(), "sharp": Sharp()}

    def evidence(values: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        criterion = fixed[kind] if kind in fixed else Binary(threshold=values["threshold"][:, None])
        peers = Peers(similarity=_own_first(values["r"]), sigma2=values["sigma2"], criterion=criterion)
        return peers.step_ratio(), {"threshold": values["threshold"], "share": peers.share}

    def sharp() -> Values:
        rows = []
        for share in (0.999, 0.5, 0.1, 1e-3):
            for threshold in (0.02, 0.4, 1.0):
                p = 2 / (3 + np.sqrt(1 + 8 / share))
                least = {"continuous": np.sqrt(share) / (1 + np.sqrt(share)), "sharp": p * (2 - p)}
                peer = (CLIENTS - 1) * share / (1 - share)
                rows.append(
                    ((1.0, *[least.get(kind, threshold)] * (CLIENTS - 1)), (1.0, *[peer] * (CLIENTS - 1)), threshold)
                )
        return columns(("r", "sigma2", "threshold"), rows)

    return _family(f"{kind} weights of five clients", evidence, sharp, threshold=Domain(low=0.02, high=1))


# --- variances -----------------------------------------------------------------------------------------------


def local(measure: Callable[[Peers], np.ndarray], kind: str = "any", **fixed: float) -> Family:
    """A variance of a criterion beside the client's own; sharp: alone, or peers at r = phi(1) of the worst mass.

    `fixed` is the power 0 of binary criteria, or the peak 1 and the power 1 of the continuous one.
    """

    def evidence(values: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        count = len(values["sigma2"])
        peers = _mixed(values | {name: np.full(count, value) for name, value in fixed.items()})
        return measure(peers), {"sigma2": peers.sigma2[:, 0], "peak": peers.peak, "threshold": peers.peak}

    free = {name: domain for name, domain in _ANY.items() if name not in fixed}
    return _family(f"{kind} weights of five clients", evidence, _worst_mass, **free)


def _worst_mass() -> Values:
    rows = []
    for peak in (0.05, 0.2, 0.45, 0.5, 0.8, 1.0):
        for sigma2 in (0.2, 3.0):
            mass = (1 - 2 * peak) / peak
            rows.append(((1.0, *[0.0] * 4), (sigma2, *[1.0] * 4), peak, 0.0))
            if mass > 0:
                rows.append(((1.0, peak, 0, 0, 0), (sigma2, sigma2 / mass, *[1.0] * 3), peak, 0.0))
    return columns(("r", "sigma2", "peak", "power"), rows)


def continuous_against_binary() -> Family:
    """V of continuous weights beside S and P of the clients with r_k >= lambda; sharp: equally similar ones only."""

    def evidence(values: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        peers = Peers(similarity=_own_first(values["r"]), sigma2=values["sigma2"], criterion=Continuous())
        mass = (peers.similarity >= values["threshold"][:, None]) / peers.sigma2
        return peers.noise(), {"mass": mass.sum(-1), "similar_mass": (mass * peers.similarity).sum(-1)}

    def sharp() -> Values:
        rows = [
            ((1.0, *[r] * 4), (NOBODY, *[sigma2] * 4), 0.9 * r) for r in (0.1, 0.6, 1.0) for sigma2 in (0.05, 2.0, 60.0)
        ]
        return columns(("r", "sigma2", "threshold"), rows)

    return _family("continuous and binary weights", evidence, sharp, threshold=Domain(low=0.02, high=1))


# --- the sufficient variance ------------------------------------------------------------------------------------


def sufficient_binary() -> Family:
    """V of binary weights at similarities r_k >= rho_k, with S and P of the k with rho_k >= lambda.

    "lift" moves r_k from rho_k to 1; below 0 it puts r_k at lambda, where a peer has just joined.
    """

    def evidence(values: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        rho, threshold = _own_first(values["r"]), values["threshold"]
        joined = np.maximum(rho, threshold[:, None])
        r = np.where(values["lift"] < 0, joined, rho + (1 - rho) * np.maximum(values["lift"], 0))
        peers = Peers(similarity=_own_first(r), sigma2=values["sigma2"], criterion=Binary(threshold=threshold[:, None]))
        mass = (rho >= threshold[:, None]) / peers.sigma2
        arguments = {"threshold": threshold, "mass": mass.sum(-1), "similar_mass": (mass * rho).sum(-1)}
        return peers.noise(), arguments

    def sharp() -> Values:
        rows = []
        for threshold in (0.05, 0.3, 0.5, 0.9):
            for rho in (threshold, (1 + threshold) / 2, 1.0):
                for sigma2 in (0.02, 1.0, 40.0):
                    S, P = 2 / sigma2 + 1e-3, 2 * rho / sigma2 + 1e-3
                    x = max(P - 2 * threshold * S, 0)
                    joining = threshold / x if x > 0 else NOBODY
                    rows.append((
                        (1.0, rho, rho, 0.0, 0.0), (1e3, sigma2, sigma2, joining, NOBODY), threshold, (0, 0, 0, -1, 0)
                    ))  # fmt: skip
        return columns(("r", "sigma2", "threshold", "lift"), rows)

    return _family(
        "binary weights above known similarities",
        evidence,
        sharp,
        threshold=Domain(low=0.02, high=1),
        lift=Domain(low=-1, high=1, shape=(CLIENTS,)),
    )


def threshold_gap() -> Family:
    """Definition 2's binary value at the best threshold over its continuous one.

    Sharp: many peers with rho_k sum_{rho_l >= rho_k} a_l rho_l = 1, a_i = 1; the sum grows by 1 + step each.
    """

    def evidence(values: Values) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        rho, sigma2 = _own_first(values["r"]), values["sigma2"]
        best = Binary(threshold=np.asarray(best_threshold(similarity=rho, sigma2=sigma2))[:, None])
        binary = sufficient_variance(best, similarity=rho, sigma2=sigma2)
        continuous = sufficient_variance(Continuous(), similarity=rho, sigma2=sigma2)
        share = Peers(similarity=rho, sigma2=sigma2, criterion=Continuous()).share
        return binary / continuous, {"share": share}

    def sharp() -> Values:
        step, longest = 2e-3, 4000
        rho, sigma2 = np.zeros((5, longest + 1)), np.full((5, longest + 1), NOBODY)
        rho[:, 0], sigma2[:, 0] = 1, 1
        for row, peers in enumerate((0, 1, 40, 1000, longest)):
            R = (1 + step) ** np.arange(peers + 1)
            rho[row, 1 : peers + 1] = 1 / R[1:]
            sigma2[row, 1 : peers + 1] = 1 / (R[1:] * np.diff(R))
        return {"r": rho, "sigma2": sigma2}

    return _family("sufficient variances of five clients", evidence, sharp)
