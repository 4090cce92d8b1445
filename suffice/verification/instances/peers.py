"""Peers as Definition 1 sees them: similarities and variances, and what the weights made of them are.

Weights come from `bounds.collaboration_weights`, which the simulator steps with; sums of them are taken here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.bounds import (
    Binary,
    Continuous,
    Sharp,
    best_threshold,
    collaboration_weights,
    sufficient_variance,
)

from ..evidence import Measured, measured_by
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


def own_first(r: np.ndarray) -> np.ndarray:
    """Similarities (n, N) of which client i's own, the first, is 1."""
    return np.concatenate((np.ones_like(r[:, :1]), r[:, 1:]), axis=1)


def mixed(values: Mapping[str, Any]) -> Mixed:
    """Any criterion, of a peak and a power."""
    return Mixed(peak=np.reshape(values["peak"], (-1, 1)), power=np.reshape(values["power"], (-1, 1)))


_ANY = {"peak": Domain(low=0.02, high=1), "power": Domain(low=0, high=4)}
_THRESHOLD = Domain(low=0.02, high=1)


def _binary(values: Values) -> Binary:
    return Binary(threshold=values["threshold"][:, None])


def _family(
    name: str,
    criterion: Callable[[Values], Any],
    measure: Callable[[Peers], np.ndarray],
    arguments: Callable[[Peers, Values], dict[str, np.ndarray]],
    sharp: Callable[[], Iterable[Iterable[Any]]],
    domains: dict[str, Domain],
    similarity: Callable[[Values], np.ndarray] = lambda values: own_first(values["r"]),
) -> Family:
    """Random similarities and variances beside `domains`; `sharp` are rows of r, sigma2 and the names of `domains`."""

    @measured_by("exact", name)
    def evidence(values: Values) -> Measured:
        peers = Peers(similarity=similarity(values), sigma2=values["sigma2"], criterion=criterion(values))
        return measure(peers), arguments(peers, values)

    random = {
        "sigma2": Domain(low=0.01, high=100, log=True, shape=(CLIENTS,)),
        "r": Domain(low=0, high=1, shape=(CLIENTS,)),
    }
    every = {**random, **domains}
    return Family(name=name, domains=every, measure=evidence, sharp=lambda: columns(("r", "sigma2", *domains), sharp()))


def weights() -> Family:
    """The weight of one peer, any criterion; sharp: two clients alone, binary, r_k >= lambda."""
    return _family(
        "weights of five clients",
        mixed,
        lambda peers: peers.alpha[:, 1],
        lambda peers, values: {
            "similarity": peers.similarity[:, 1],
            "variance_ratio": peers.sigma2[:, 1] / peers.sigma2[:, 0],
        },
        lambda: [((1.0, r, 0, 0, 0), (1.0, s, *[NOBODY] * 3), r, 0) for r in (0.05, 0.5, 1) for s in (1e-4, 1, 50)],
        _ANY,
    )


def step_ratios(kind: str) -> Family:
    """1 / sum_k alpha_k; sharp: all peers at the similarity where it is least."""

    def sharp() -> Iterable[Any]:
        for share in (0.999, 0.5, 0.1, 1e-3):
            for threshold in (0.02, 0.4, 1.0):
                p = 2 / (3 + np.sqrt(1 + 8 / share))
                least = {"continuous": np.sqrt(share) / (1 + np.sqrt(share)), "sharp": p * (2 - p)}
                peer = (CLIENTS - 1) * share / (1 - share)
                similar = [least.get(kind, threshold)] * (CLIENTS - 1)
                yield (1.0, *similar), (1.0, *[peer] * (CLIENTS - 1)), threshold

    return _family(
        f"{kind} weights of five clients",
        {"continuous": lambda values: Continuous(), "sharp": lambda values: Sharp()}.get(kind, _binary),
        Peers.step_ratio,
        lambda peers, values: {"threshold": values["threshold"], "share": peers.share},
        sharp,
        {"threshold": _THRESHOLD},
    )


def local(measure: Callable[[Peers], np.ndarray], kind: str = "any", **fixed: float) -> Family:
    """A variance of a criterion beside the client's own; sharp: alone, or peers at r = phi(1) of the worst mass.

    `fixed` is the power 0 of binary criteria, or the peak 1 and the power 1 of the continuous one.
    """
    free = {name: domain for name, domain in _ANY.items() if name not in fixed}

    def sharp() -> Iterable[Any]:
        for peak in (0.05, 0.2, 0.45, 0.5, 0.8, 1.0):
            given = [{"peak": peak, "power": 0.0}[name] for name in free]
            for sigma2 in (0.2, 3.0):
                mass = (1 - 2 * peak) / peak
                yield (1.0, *[0.0] * 4), (sigma2, *[1.0] * 4), *given
                if mass > 0:
                    yield (1.0, peak, 0, 0, 0), (sigma2, sigma2 / mass, *[1.0] * 3), *given

    return _family(
        f"{kind} weights of five clients",
        lambda values: mixed({**values, **fixed}),
        measure,
        lambda peers, values: {"sigma2": peers.sigma2[:, 0], "peak": peers.peak, "threshold": peers.peak},
        sharp,
        free,
    )


def _similar_mass(similarity: np.ndarray, peers: Peers, values: Values) -> dict[str, np.ndarray]:
    """S and P of the clients whose similarity is at least the threshold."""
    mass = (similarity >= values["threshold"][:, None]) / peers.sigma2
    return {"mass": mass.sum(-1), "similar_mass": (mass * similarity).sum(-1)}


def continuous_against_binary() -> Family:
    """V of continuous weights beside S and P of the clients with r_k >= lambda; sharp: equally similar ones only."""
    return _family(
        "continuous and binary weights",
        lambda values: Continuous(),
        Peers.noise,
        lambda peers, values: _similar_mass(peers.similarity, peers, values),
        lambda: [
            ((1.0, *[r] * 4), (NOBODY, *[sigma2] * 4), 0.9 * r) for r in (0.1, 0.6, 1.0) for sigma2 in (0.05, 2.0, 60.0)
        ],
        {"threshold": _THRESHOLD},
    )


def sufficient_binary() -> Family:
    """V of binary weights at similarities r_k >= rho_k, with S and P of the k with rho_k >= lambda.

    "lift" moves r_k from rho_k to 1; below 0 it puts r_k at lambda, where a peer has just joined.
    """

    def similarity(values: Values) -> np.ndarray:
        rho = own_first(values["r"])
        joined = np.maximum(rho, values["threshold"][:, None])
        return own_first(np.where(values["lift"] < 0, joined, rho + (1 - rho) * np.maximum(values["lift"], 0)))

    def sharp() -> Iterable[Any]:
        for threshold in (0.05, 0.3, 0.5, 0.9):
            for rho in (threshold, (1 + threshold) / 2, 1.0):
                for sigma2 in (0.02, 1.0, 40.0):
                    S, P = 2 / sigma2 + 1e-3, 2 * rho / sigma2 + 1e-3
                    x = max(P - 2 * threshold * S, 0)
                    joining = threshold / x if x > 0 else NOBODY
                    variances = 1e3, sigma2, sigma2, joining, NOBODY
                    yield (1.0, rho, rho, 0.0, 0.0), variances, threshold, (0, 0, 0, -1, 0)

    return _family(
        "binary weights above known similarities",
        _binary,
        Peers.noise,
        lambda peers, values: {"threshold": values["threshold"]} | _similar_mass(own_first(values["r"]), peers, values),
        sharp,
        {"threshold": _THRESHOLD, "lift": Domain(low=-1, high=1, shape=(CLIENTS,))},
        similarity,
    )


def threshold_gap() -> Family:
    """Definition 2's binary value at the best threshold over its continuous one.

    Sharp: many peers with rho_k sum_{rho_l >= rho_k} a_l rho_l = 1, a_i = 1; the sum grows by 1 + step each.
    """

    def measure(peers: Peers) -> np.ndarray:
        given = {"similarity": peers.similarity, "sigma2": peers.sigma2}
        best = Binary(threshold=np.asarray(best_threshold(**given))[:, None])
        return sufficient_variance(best, **given) / sufficient_variance(Continuous(), **given)

    def sharp() -> Iterable[Any]:
        step, longest = 2e-3, 4000
        for peers in (0, 1, 40, 1000, longest):
            R = (1 + step) ** np.arange(peers + 1)
            nobody = np.full(longest - peers, NOBODY)
            yield np.concatenate(([1], 1 / R[1:], 0 * nobody)), np.concatenate(([1], 1 / (R[1:] * np.diff(R)), nobody))

    return _family(
        "sufficient variances of five clients",
        lambda values: Continuous(),
        measure,
        lambda peers, values: {"share": peers.share},
        sharp,
        {},
    )
