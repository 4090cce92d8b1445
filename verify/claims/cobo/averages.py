"""Theorem I and Corollary II: averages over T steps inside a cluster, as printed and as corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from itertools import product

import numpy as np
import torch

from bounds import find
from bounds.collaboration import pairwise_heterogeneity
from bounds.theorems.cobo import tuned_step
from simulate import FixedCoBo, Quadratics, expected_moments

from ...claim import Claim, Effort
from ...evidence import Evidence
from ...family import Domain, Family, Values
from .cluster import Cluster, relative_heterogeneity

MEASURES = {
    "theorem-1-mean-gradient": "mean_gradient",
    "theorem-1-tuned": "mean_gradient",
    "theorem-1-midpoint-gradient": "midpoint_gradient",
    "theorem-1-consensus": "consensus",
    "corollary-2": "client_gradient",
}
"""What each statement bounds, by the name of `Cluster`'s property."""


def cluster(values: Values) -> Cluster:
    """Penalty and step as multiples (`slack`, `fraction`) of their limits: rho c >= 1.01 (1 + m) L, eta <= 1/(rho c)."""
    size, beta = values["counts"].sum(-1), values["told"] * np.abs(values["curvature"]).max((1, 2))
    dissimilarity = find("cobo/cluster-dissimilarity").bound
    assert dissimilarity is not None
    m = np.sqrt(dissimilarity(M=relative_heterogeneity(values["curvature"]), size=size))
    rho = 1.01 * (1 + m) * beta / size * values["slack"]
    return Cluster(
        **{name: values[name] for name in ("counts", "curvature", "sigma2", "T", "told")},
        start=values["together"][:, None] + values["apart"],
        rho=rho,
        eta=values["fraction"] / (rho * size),
    )


def tuned(given: Cluster) -> Cluster:
    """The same cluster with the tuned step; where the bound at the start is 0 there is none, and the step stays."""
    arguments = given.arguments()
    start = arguments["e0"] + arguments["spread"] > 0
    arguments["e0"] = np.where(start, arguments["e0"], 1.0)
    eta = np.where(start, tuned_step(**{name: arguments[name] for name in signature(tuned_step).parameters}), given.eta)
    return Cluster(**{name: getattr(given, name) for name in given.__dataclass_fields__} | {"eta": eta})


def measure(values: Values, name: str, *, at_tuned_step: bool = False) -> Evidence:
    """One of the averages beside all arguments."""
    given = tuned(cluster(values)) if at_tuned_step else cluster(values)
    arguments = given.arguments()
    return Evidence(
        engine="closed-form moments",
        measured=getattr(given, name),
        arguments=arguments,
        hypothesis=arguments["e0"] + arguments["spread"] > 0 if at_tuned_step else None,
        label="a cluster of diagonal quadratics with one minimiser",
        values=values,
    )


# --- families -------------------------------------------------------------------------------------------


def _domains(kinds: int, features: int) -> dict[str, Domain]:
    return {
        "counts": Domain(low=1, high=4, integer=True, shape=(kinds,)),
        "curvature": Domain(low=0.01, high=1, log=True, shape=(kinds, features)),
        "together": Domain(low=-1, high=1, shape=(features,)),
        "apart": Domain(low=-1, high=1, shape=(kinds, features)),
        "sigma2": Domain(low=1e-6, high=10, log=True),
        "slack": Domain(low=1, high=100, log=True),
        "fraction": Domain(low=0.01, high=1, log=True),
        "T": Domain(low=1, high=300, integer=True),
        "told": Domain(low=1, high=1.01),
    }


def rows(kinds: int, features: int, given: list[Mapping[str, object]]) -> Values:
    """Values from rows that say what differs from equal clients at 1 in every coordinate, without noise, T = 1."""
    plain = {
        "counts": np.ones(kinds),
        "curvature": np.ones((kinds, features)),
        "together": np.ones(features),
        "apart": np.zeros((kinds, features)),
        **{"sigma2": 0.0, "slack": 1.0, "fraction": 1.0, "T": 1.0, "told": 1.0},
    }
    return {
        name: np.stack([np.broadcast_to(np.asarray(row.get(name, value), float), np.shape(value)) for row in given])
        for name, value in plain.items()
    }


def _equal() -> Values:
    """Equal clients: one of them at eta near 1/L, or many under a large penalty; start and noise in all proportions.

    The last ones have a tuned step just at its limit 1/(rho c), where start and noise weigh the same.
    """
    return rows(1, 1, [
        {"counts": c, "T": T, "sigma2": sigma2, "slack": slack, "together": x, "curvature": 4.0}
        for c, T, sigma2, slack, x in product((1, 2, 100), (1, 2, 100, 10_000), (0, 1e-2, 1.0, 100.0), (1, 3, 1e4), (0, 1))
    ] + [
        {"T": T, "sigma2": 1.01**2 / T} for T in (100, 1_000, 10_000)
    ])  # fmt: skip


def _two() -> Values:
    """Two clients together or apart, from equal ones to M near 1."""
    return rows(2, 1, [
        {"curvature": [[4.0], [4 * b]], "apart": apart, "together": x, "T": T, "slack": slack, "sigma2": sigma2}
        for b, apart, x, T, slack, sigma2 in product(
            (1, 0.5, 1e-2, 1e-6), ([[0], [0]], [[1], [-1]]), (0, 1), (1, 2, 20, 10_000), (1, 3, 1e4), (0, 1)
        )
    ])  # fmt: skip


def _orthogonal() -> Values:
    """Six clients, each curved in a coordinate of its own: M near 1, m^2 = c - 1."""
    return rows(6, 6, [
        {"curvature": 4 * (np.eye(6) + flat * (1 - np.eye(6))), "T": T, "slack": slack}
        for flat, T, slack in product((1e-12, 0.1, 0.5), (1, 20, 10_000), (1, 3, 1e4))
    ])  # fmt: skip


_SHARP = {(3, 2): None, (1, 1): _equal, (2, 1): _two, (6, 6): _orthogonal}


def families(name: str, *, at_tuned_step: bool = False) -> tuple[Family, ...]:
    """Random clusters of three kinds, and the kinds of sharp ones."""
    return tuple(
        Family(
            name=f"{kinds} kinds of clients in R^{features}",
            domains=_domains(kinds, features),
            measure=lambda values: measure(values, name, at_tuned_step=at_tuned_step),
            sharp=sharp,
        )
        for (kinds, features), sharp in _SHARP.items()
    )


# --- two engines more ------------------------------------------------------------------------------------
#
# Equal clients with a kink: f' = L (s + x) for x <= 0 and L (s - x)_+ for x > 0, noise +-sigma, eta rho c = 1 and
# s = eta sigma. Half of the clients start at s, half at -s, where f' = 0, and the noise keeps them there: the mean
# stays at 0, where f' = L s. With xi_i = x_i +- s, |f'(x_i)| <= L |xi_i| and xi_i+ = xbar - eta f'(x_i) give
#     E|xbar_t| <= (s / sqrt(c)) (1 + eta L)^t / (eta L),    E f'(xbar)^2 >= L^2 s (s - 2 E|xbar|).


def kinked() -> Evidence:
    """The noise of the deviations moves into the gradient of the mean: from below, for a cluster as large as needed."""
    penalty, T = (a.ravel() for a in np.meshgrid([30.0, 100.0], [3_000.0, 10_000.0], indexing="ij"))
    T = np.minimum(T, 100 * penalty)
    L, s, size = 2.0, 1.0, np.full(len(T), 1e100)
    eta = 1 / (penalty * L)
    growth = np.exp(T * np.log1p(eta * L)) / (eta * L)
    measured = L**2 * s**2 * (1 - 2 * growth / np.sqrt(size))
    one = np.ones(len(T))
    return Evidence(
        engine="closed-form law",
        measured=measured,
        arguments={
            **{"eta": eta, "beta": L * one, "rho": penalty * L / size, "size": size, "M": 0 * one},
            **{"e0": L * s**2 / 2 * one, "spread": s**2 * one, "sigma2": (s / eta) ** 2, "T": T},
        },
        label="equal clients with a kink at their mean, half of them on either side, from below",
    )


def simulated(name: str, count: int, root: int) -> Evidence:
    """Three clients in the plane, Hessians of any direction: second moments by probing the algorithm's own step."""
    values = Family(
        name="clusters",
        domains={
            "turn": Domain(low=-1, high=1, shape=(3, 2, 2)),
            "curvature": Domain(low=0.2, high=1, shape=(3, 2)),
            "bend": Domain(low=0, high=1),
            "start": Domain(low=-1, high=1, shape=(3, 2)),
            "sigma2": Domain(low=1e-3, high=3, log=True),
            "slack": Domain(low=1, high=3),
            "fraction": Domain(low=0.1, high=1),
            "T": Domain(low=1, high=12, integer=True),
        },
    ).draw(count, seed=root)
    rotation = np.linalg.qr(values["turn"])[0]
    turned = np.einsum("bkij,bkj,bklj->bkil", rotation, values["curvature"], rotation)
    hessians = turned[:, :1] + values["bend"][:, None, None, None] * (turned - turned[:, :1])
    hessians = (hessians + hessians.swapaxes(-1, -2)) / 2
    M = pairwise_heterogeneity(hessians).max((1, 2))
    beta = np.linalg.eigvalsh(hessians).max((1, 2))
    m = np.sqrt(2 * M**2 * 2 / (3 * np.maximum(1 - M**2, 1e-3) + 2 * M**2))
    rho = 1.01 * (1 + m) * beta / 3 * values["slack"]
    eta = values["fraction"] / (3 * rho)
    mean = values["start"].mean(1)
    measured = [
        _by_probing(hessians[at], values["start"][at], values["sigma2"][at], rho[at], eta[at], int(values["T"][at]), name)
        for at in range(count)
    ]
    return Evidence(
        engine="exact moments",
        measured=np.array(measured),
        arguments={
            **{"eta": eta, "beta": beta, "rho": rho, "size": np.full(count, 3.0), "M": M, "T": values["T"]},
            "e0": np.einsum("bd,bde,be->b", mean, hessians.mean(1), mean) / 2,
            "spread": ((values["start"] - mean[:, None]) ** 2).sum(-1).mean(-1),
            "sigma2": values["sigma2"],
        },
        label="three quadratics in the plane with one minimiser",
    )


def _by_probing(
    hessians: np.ndarray, start: np.ndarray, sigma2: float, rho: float, eta: float, T: int, name: str
) -> float:
    """One of the averages by second moments of the simulator's step."""
    c, d = start.shape
    problem = Quadratics.of(hessians / 2, np.zeros((c, d)), sigma2=sigma2, start=start)
    algorithm = FixedCoBo(w=torch.ones(c, c, dtype=torch.float64), rho=rho)
    moments = expected_moments(problem, algorithm, iterations=T, eta=eta).of("models").numpy()
    forms = quadratic_forms(hessians)
    before, after = ((forms[name] * part.mean(0)).sum() for part in (moments[:-1], moments[1:]))
    return max(before, after) if name == "consensus" else before


def quadratic_forms(hessians: np.ndarray) -> dict[str, np.ndarray]:
    """The measured quantities as quadratic forms of the stacked models (c d, c d), hessians (c, d, d)."""
    c, d, _ = hessians.shape
    models = np.eye(c * d).reshape(c, d, c * d)
    mean = models.mean(0)
    pairs = list(product(range(c), repeat=2))
    gradients = [hessians[i] + hessians[j] for i, j in pairs], [models[i] + models[j] for i, j in pairs]
    parts = {
        "mean_gradient": [hessians.mean(0) @ mean],
        "client_gradient": [H @ x for H, x in zip(hessians, models)],
        "midpoint_gradient": [H @ x / 4 for H, x in zip(*gradients)],
        "consensus": [models[i] - models[j] for i, j in pairs],
    }
    return {name: sum(part.T @ part for part in given) / len(given) for name, given in parts.items()}


# --- as printed ------------------------------------------------------------------------------------------


def printed(name: str) -> Evidence:
    """Two clients f = a x^2 / 2 with a = 1 and a little more: hardly any noise; a step of 1e-9; equal clients in noise;
    a penalty of 100, under which the printed step leaves the mean."""
    a = np.array([1.1, 1.1, 1 + 2e-4, 1.1])
    rho, count = np.array([*(3**0.5 * a[:3] / 2), 100.0]), len(a)
    eta = np.array([1 / (2 * 3**0.5 * 1.1), 1e-9, 0.0447, 1 / (2 * 3**0.5 * 1.1)])
    given = Cluster(
        counts=np.ones((count, 2)),
        curvature=np.stack((np.ones(count), a), -1)[..., None],
        start=np.array([1.0, 10.0, 1.0, 1.0])[:, None, None] * np.ones((1, 2, 1)),
        sigma2=np.array([1e-12, 1.0, 1.0, 1.0]),
        rho=rho,
        eta=eta,
        T=np.array([10.0, 10_000.0, 1_000.0, 6.0]),
        told=np.ones(count),
    )
    return Evidence(
        engine="closed-form moments",
        measured=getattr(given, name),
        arguments=given.arguments(),
        label="two clients a x^2 / 2 with a = 1 and 1.1 (or 1.0002), common start",
    )


def claims() -> tuple[Claim, ...]:
    """Built on demand."""

    def exact(key: str) -> Callable[[Effort, int], list[Evidence]]:
        kink = [kinked()] if key == "theorem-1-mean-gradient" else []
        if key == "theorem-1-tuned":
            return lambda effort, root: []
        return lambda effort, root: [simulated(MEASURES[key], effort.instances // 4, root), *kink]

    corrected = (
        Claim(
            theorem=find(f"cobo/{key}"),
            families=families(MEASURES[key], at_tuned_step=key == "theorem-1-tuned"),
            exact=exact(key),
        )
        for key in MEASURES
    )
    shown = {
        "theorem-1-midpoint-gradient": "midpoint_gradient",
        "theorem-1-consensus": "consensus_after",
        "corollary-2": "client_gradient",
    }
    return (
        *(
            Claim(theorem=find(f"cobo/{key}", "printed"), exact=lambda effort, root, name=name: [printed(name)])
            for key, name in shown.items()
        ),
        *corrected,
    )
