"""Problems made to measure: clusters, heterogeneity, condition numbers; published settings.

Whatever is random comes from the counter-based stream of data under `seed`: the same on every machine.
Curvature is the Hessian's eigenvalue mu = beta = lambda of R = (lambda/2) |theta - theta*|^2 [loss / theta^2].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_numbers, as_whole

from ..randomness import Randomness, Stream
from .quadratic import Quadratics
from .streaming import StreamingLeastSquares


def _drawn(law: Callable[..., torch.Tensor], seed: int, *shape: int, use: int = 0) -> np.ndarray:
    """Numbers that `Randomness.normal` or `.uniform` draws; different uses under one seed are independent."""
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise InputError("seed", seed, "give a whole number within 0..2^32 - 1")
    source, rows = Randomness(seeds=torch.tensor([int(seed)])), int(np.prod(shape[:-1]))
    return law(source, iteration=use, stream=Stream.DATA, clients=rows, features=shape[-1])[0].numpy().reshape(shape)


_normal, _uniform = partial(_drawn, Randomness.normal), partial(_drawn, Randomness.uniform)


def _positive(name: str, value: Any) -> float:
    return as_numbers(name, value, (), positive=True).item()


def _spheres(curvature: Any, clients: int, features: int) -> np.ndarray:
    """A_i = (lambda_i / 2) I for one curvature or one per client."""
    values = as_numbers("curvature", curvature, (clients,), one_for_all=True)
    return values[:, None, None] / 2 * np.eye(features)


def simplex(points: int, distance: float) -> np.ndarray:
    """Points (K, K - 1), at least one column, all at the same distance from each other; the first is 0."""
    gram = distance**2 / 2 * (np.eye(points - 1) + 1)
    corners = np.linalg.cholesky(gram) if points > 1 else np.zeros((0, 1))
    return np.concatenate((np.zeros((1, corners.shape[1])), corners))


def clustered(
    sizes: Sequence[int],
    features: int,
    *,
    separation: float,
    spread: float = 0.0,
    curvature: Any = 1.0,
    sigma2: Any = 1.0,
    start: Any = None,
    seed: int = 0,
) -> Quadratics:
    """Clusters of clients, cluster by cluster, around centres at distance `separation` from each other.

    Minimisers deviate from their centre by spread * N(0, I); `np.repeat(range(K), sizes)` are the clusters.
    """
    counts = [as_whole(f"sizes[{k}]", size) for k, size in enumerate(sizes)]
    corners = simplex(as_whole("clusters", len(counts)), _positive("separation", separation))
    if as_whole("features", features) < corners.shape[1]:
        raise InputError("features", features, f"{len(counts)} equidistant centres need at least {corners.shape[1]}")
    centres = np.zeros((len(counts), features))
    centres[:, : corners.shape[1]] = corners
    n = sum(counts)
    optimum = np.repeat(centres, counts, axis=0) + as_number("spread", spread, least=0) * _normal(seed, n, features)
    names = tuple(f"{k}.{member}" for k, size in enumerate(counts) for member in range(size))
    return Quadratics.of(_spheres(curvature, n, features), -optimum, sigma2=sigma2, start=start, names=names)


def continuum(
    clients: int,
    features: int,
    *,
    length: float = 1.0,
    curvature: float = 1.0,
    sigma2: Any = 1.0,
    start: Any = None,
) -> Quadratics:
    """Minimisers evenly on a segment of the first axis: no clusters, b_ik = curvature |i - k| length / (N - 1), c = 0.

    Every precision has its own circle of useful peers.
    """
    n, d = as_whole("clients", clients, least=2), as_whole("features", features)
    optimum = np.zeros((n, d))
    optimum[:, 0] = _positive("length", length) * np.arange(n) / (n - 1)
    return Quadratics.of(_spheres(curvature, n, d), -optimum, sigma2=sigma2, start=start)


def conditioned(
    clients: int,
    features: int,
    condition: float,
    *,
    smoothness: float = 1.0,
    spread: float = 1.0,
    sigma2: Any = 1.0,
    start: Any = None,
    seed: int = 0,
) -> Quadratics:
    """Every client has beta = smoothness and mu = beta / condition, eigenvalues in geometric progression.

    Axes are rotated at random client by client, minimisers spread * N(0, I).
    """
    n, d = as_whole("clients", clients), as_whole("features", features)
    kappa, beta = as_number("condition", condition, least=1), _positive("smoothness", smoothness)
    if d == 1 and kappa > 1:
        raise InputError("features", features, "one feature has condition number 1; give at least two")
    values = beta / 2 * np.geomspace(1 / kappa, 1, d) if d > 1 else np.array([beta / 2])
    q, r = np.linalg.qr(_normal(seed, n, d, d))
    q = q * np.sign(r.diagonal(axis1=1, axis2=2))[:, None]  # unique, and uniform over rotations and reflections
    A = np.einsum("nij,j,nkj->nik", q, values, q)
    optimum = as_number("spread", spread, least=0) * _normal(seed, n, d, use=1)
    return Quadratics.of((A + A.transpose(0, 2, 1)) / 2, -optimum, sigma2=sigma2, start=start)


# Settings of the papers.


def cobo_example(
    clusters: int = 3,
    size: int = 3,
    features: int = 10,
    *,
    distance: float = 1.0,
    curvatures: tuple[float, float] = (0.8, 1.2),
    sigma2: Any = 1.0,
    start: Any = None,
    seed: int = 0,
) -> Quadratics:
    """f_i = (a_i/2) |theta - m_k|^2 with a_i uniform in `curvatures`: Hashemi, He and Jaggi (2024), Example 2.

    Inside a cluster M_ij = |a_i - a_j| / (a_i + a_j). Sizes, dimension and range of a_i are not in the paper.
    """
    low, high = (_positive("curvatures", value) for value in curvatures)
    n = as_whole("clusters", clusters) * as_whole("size", size)
    a = low + (high - low) * _uniform(seed, n, 1, use=1)[:, 0]
    sizes = [size] * clusters
    return clustered(sizes, features, separation=distance, curvature=a, sigma2=sigma2, start=start, seed=seed)


def adaptive_regression(
    edition: str, features: int, *, clients: int = 20, spread: float | None = None, seed: int = 0
) -> StreamingLeastSquares:
    """The synthetic regression of Philippenko et al. (2025), Figure 2: features N(0, I), no label noise.

    "stated"     two clusters, client i in i mod 2, that share their optimum exactly; batch 2 (Table S1). The law of
                 the two optima and the start are not stated: as in the released code, but without its bias.
    "published"  the released code: one centre uniform in [-5, 5]^d, each client's optimum N(centre, 0.1^2 I), a bias
                 feature (optimum 0), batch 1, a fresh sample for every pair of model and client.
    spread: of optima about their centre, 0.1 (published) or 0 (stated) unless given.
    All models start at the same point, uniform in +-1/sqrt(d).
    """
    d, n = as_whole("features", features), as_whole("clients", clients)
    published = edition == "published"
    if not published and edition != "stated":
        raise InputError("edition", edition, 'give "stated" or "published"')
    centres = 10 * _uniform(seed, 2, d) - 5
    spread = as_number("spread", (0.1 if published else 0.0) if spread is None else spread, least=0.0)
    optimum = np.zeros((n, d + published))
    optimum[:, :d] = centres[0 if published else np.arange(n) % 2]
    if spread > 0:
        optimum[:, :d] += spread * _normal(seed, n, d, use=1)
    start = (2 * _uniform(seed, 1, d + published, use=2)[0] - 1) / np.sqrt(d)
    return StreamingLeastSquares.of(
        np.eye(d), optimum, batch=1 if published else 2, bias=published, pairwise=published, start=start
    )
