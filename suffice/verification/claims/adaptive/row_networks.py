"""Clients with a few rows of data each: noise of sampled rows, which grows with the gradient, by moments and by paths.

Least squares on rows sampled with replacement. Floors and factors of the noise are those that the rows have, similarity
is that of the populations: nothing that a theorem is told comes from a formula of its bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from suffice.bounds import DEFINITIONS, Continuous, Definition, evaluate, find, sufficient_variance
from suffice.bounds.quadratic_certificate import QuadraticCertificate
from suffice.simulate import AllForOne, FixedWeights, LeastSquares, expected_excess, run

from ...evidence import Evidence
from ...family import Domain, Family, Values
from ...sampled import Simulated, drawn

CLIENTS, ROWS, FEATURES = 3, 8, 2

DOMAINS = {
    "X": Domain(low=-1, high=1, shape=(CLIENTS, ROWS, FEATURES)),
    "residual": Domain(low=-0.4, high=0.4, shape=(CLIENTS, ROWS)),
    "common": Domain(low=0, high=1),
    "apart": Domain(low=-0.2, high=0.2, shape=(CLIENTS, FEATURES)),
    "weights": Domain(low=0.05, high=1, shape=(CLIENTS,)),
    "batch": Domain(low=1, high=64, integer=True, log=True),
    "start": Domain(low=0.3, high=5, log=True),
    "split": Domain(low=0.05, high=0.9),
    "ratio": Domain(low=0.2, high=1),
    "T": Domain(low=1, high=60, integer=True, log=True),
}
FAMILY = Family(name="three clients with eight rows each", domains=DOMAINS)


def problem(values: Values, index: int) -> LeastSquares:
    """Rows that share `common` of their features and lie around minimisers that are `apart`."""
    X = values["common"][index] * values["X"][index][:1] + (1 - values["common"][index]) * values["X"][index]
    X = X + 0.8 * np.resize(np.eye(FEATURES), (ROWS, FEATURES))  # no direction is missing
    y = np.einsum("krd,kd->kr", X, 1 + values["apart"][index]) + values["residual"][index]
    start = 1 + values["start"][index] * np.linspace(1, -0.5, FEATURES)
    return LeastSquares.of(list(X), list(y), batch=int(values["batch"][index]), start=start)


def definition(key: str) -> Definition:
    """The definition of a key."""
    return next(entry for entry in DEFINITIONS if entry.key == key)


def similarity_at(rows: LeastSquares, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """b (N, N) and c (N, N) of least dissimilarity at squared gradients (N,)."""
    certificate = rows.population.constants().heterogeneity
    assert isinstance(certificate, QuadraticCertificate)
    pair = certificate.best_pair(level)
    return np.sqrt(pair.b2), pair.c


def fixed_weights(effort_instances: int, root: int) -> Evidence:
    """E[e_T] of client 0 under fixed weights, exact second moments of its rows' gradients."""
    values = FAMILY.draw(max(effort_instances // 3, 6), seed=root + 31)
    rows: list[Mapping[str, float]] = []
    measured = []
    for index in range(len(values["T"])):
        given, T = problem(values, index), int(values["T"][index])
        w = values["weights"][index] / values["weights"][index].sum()
        constants, (floor, factor) = given.population.constants(), given.noise_growth()
        excess_0 = given.excess(given.start[None])[0, 0].item()
        level = 0.3 * 2 * constants.mu * excess_0
        b, c = (entry[0] for entry in similarity_at(given, level))
        s = np.sqrt(b**2 / level[0] + c)
        V = definition("adaptive/fixed-weights-noise").reduce(weights=w, floor=floor, factor=factor, b=b, s=s)
        Q = definition("adaptive/fixed-weights-growth").reduce(weights=w, factor=factor, c=c, s=s)
        split = values["split"][index]
        eta = values["ratio"][index] * min(1.0, split / Q) / constants.beta[0]
        alpha = np.eye(CLIENTS) * 1e-3
        alpha[0] = w
        rule = FixedWeights(alpha=torch.from_numpy(alpha))
        measured.append(expected_excess(given, rule, iterations=T, eta=float(eta))[T, 0])
        rows.append({
            "eta": eta, "mu": constants.mu[0], "beta": constants.beta[0], "e0": excess_0, "V": V, "Q": Q, "T": T,
            "bias2": w @ b**2, "c": w @ c, "split": eta * constants.beta[0] * Q,
        })  # fmt: skip
    return Evidence(
        engine="exact moments",
        measured=np.array(measured),
        arguments={name: np.array([float(row[name]) for row in rows]) for name in rows[0]},
        label="rows of data sampled with replacement, fixed weights",
    )


def peer_noise(effort_instances: int, root: int) -> Evidence:
    """Var[g_k] of sampled rows at models of client 0."""
    values = FAMILY.draw(max(effort_instances // 3, 6), seed=root + 32)
    found: list[dict[str, np.ndarray]] = []
    for index in range(len(values["T"])):
        given = problem(values, index)
        floor, factor = given.noise_growth()
        away = torch.linspace(-2, 2, 5, dtype=torch.float64)[:, None] * torch.tensor([1.0, -0.4], dtype=torch.float64)
        models = given.optimum[0] + away
        gradient = given.gradient(models[:, None].expand(-1, CLIENTS, -1)).norm(dim=-1)[:, 0].numpy()
        b, c = (entry[0] for entry in similarity_at(given, np.full(CLIENTS, np.median(gradient) ** 2 + 1e-12)))
        wide = np.broadcast_arrays(floor, factor, b, c, gradient[:, None], given.variance(models).numpy())
        found.append(dict(zip(("sigma2", "noise_factor", "b", "c", "gradient", "measured"), wide)))
    columns = {name: np.concatenate([each[name].ravel() for each in found]) for name in found[0]}
    measured = columns.pop("measured")
    return Evidence(engine="all rows", measured=measured, arguments=columns, label="rows of data at five models")


# --- paths under adaptive weights -----------------------------------------------------------------------------------


def _alike() -> tuple[LeastSquares, np.ndarray, np.ndarray]:
    """Five clients with the same six rows, Hessian 2 I, whose noise has no slope: its variance is its floor."""
    axes = np.sqrt(3) * np.repeat(np.eye(3), 2, 0)
    given = LeastSquares.of([axes] * 5, [np.tile([1.0, -1.0], 3)] * 5, batch=4, start=np.full(3, 2.0))
    floor = given.variance(given.optimum)[0].numpy()
    return given, floor, given.noise_growth()[1]


def simulated(index: int, *, networks: int, seeds: int, iterations: int, root: int, hitting: bool) -> Simulated:
    """A network of rows under continuous weights with the floors as reference variances; the first one is attained."""
    values = FAMILY.draw(networks, seed=root + 33)
    attained = index == 0 and not hitting
    if attained:
        given, floor, factor = _alike()
    else:
        given = problem(values, index)
        floor, factor = given.noise_growth()
    constants, criterion = given.population.constants(), Continuous()
    e0 = given.excess(given.start[None])[0].numpy()
    eps = np.maximum((1e-9 if attained else 0.005) * e0, 1e-6)
    rho = constants.heterogeneity.similarity(2 * constants.mu * eps)
    share = (1 / floor) / (1 / floor).sum()
    q = np.ones_like(e0) if attained else criterion.step_ratio(share)  # alike clients have r = 1: weights sum to 1
    s2 = sufficient_variance(criterion, similarity=rho, sigma2=floor)
    advantage = np.array([(one / np.delete(floor, i)).max() for i, one in enumerate(floor)])
    total = evaluate(find("adaptive/multiplicative-total"), noise_factor=factor.max(), peak=1.0, advantage=advantage)
    running = definition("adaptive/multiplicative-running-total").reduce(similarity=rho, sigma2=floor, factor=factor)
    Q = np.minimum(total, running)
    split = np.minimum(0.9, q * Q) if attained else np.full_like(q, 0.5)
    eta = np.minimum(q, split / Q) / constants.beta
    if hitting:
        eta = np.minimum(eta, (1 - split) * constants.mu * eps / (constants.beta * s2))
    rule = AllForOne(criterion=criterion, sigma2=torch.from_numpy(floor))
    trace = run(replace(given), rule, iterations=iterations, eta=eta, seeds=seeds, root=root)
    return Simulated(
        arguments={
            "eta": eta, "mu": constants.mu, "beta": constants.beta, "q": q, "s2": s2, "eps": eps, "e0": e0, "Q": Q,
            "split": split, "T": np.full_like(e0, iterations),
        },
        draws=drawn(trace.excess, eps),
    )  # fmt: skip
