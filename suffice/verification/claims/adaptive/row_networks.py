"""Clients with a few rows of data each: noise of sampled rows, which grows with the gradient, by moments.

Least squares on rows sampled with replacement. Floors and factors of the noise are those that the rows have, similarity
is that of the populations: nothing that a theorem is told comes from a formula of its bound.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from suffice.bounds import DEFINITIONS, Definition
from suffice.bounds.quadratic_certificate import QuadraticCertificate
from suffice.simulate import FixedWeights, LeastSquares, expected_excess

from ...evidence import Evidence
from ...family import Domain, Family, Values

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
