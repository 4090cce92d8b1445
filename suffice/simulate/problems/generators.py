"""Problems made to measure: prescribed clusters, heterogeneity, condition numbers; sharp instances; published settings.

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
    """Of `Randomness.normal` or `.uniform`; different uses under one seed are independent."""
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


def prescribed(
    b: Any, c: Any, *, features: int = 2, curvature: float = 1.0, sigma2: Any = 1.0, start: Any = None
) -> Quadratics:
    """Clients of which 0 has |grad R_0 - grad R_k|^2 <= b_k^2 + c_k |grad R_0|^2, and no smaller b_k at this c_k.

    b, c (N,) with b_0 = c_0 = 0. With g = grad R_0 the difference is M g + v: A_0 = (lambda/2) I, A_k steeper by
    1 + sqrt(c_k) along the first axis, so M = -sqrt(c_k) e_1 e_1^T, and v = b_k e_2. As they are orthogonal,
    |M g + v|^2 = c_k g_1^2 + b_k^2, which for g along e_1 is the bound.
    """
    b = as_numbers("b", b, ("N",))
    c = as_numbers("c", c, (len(b),))
    d, scale = as_whole("features", features, least=2), _positive("curvature", curvature)
    for name, value in (("b", b), ("c", c)):
        if len(value) == 0 or value[0] != 0 or (value < 0).any():
            raise InputError(name, value.tolist(), "give numbers >= 0, one per client, the first one (itself) 0")
    A = np.tile(scale / 2 * np.eye(d), (len(b), 1, 1))
    A[:, 0, 0] *= 1 + np.sqrt(c)
    xi = np.zeros((len(b), d))
    xi[:, 1] = -b / scale  # v = 2 A_k (xi_0 - xi_k)
    return Quadratics.of(A, xi, sigma2=sigma2, start=start)


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


# Where bounds are attained: instances that a theorem must not exclude.


def proportional(
    similarity: Any, *, steeper: bool = False, curvature: float = 1.0, sigma2: Any = 1.0, start: Any = 1.0
) -> Quadratics:
    """R_k = c_k R_0 on the line with c_k = 1 - sqrt(1 - r_k): client 0 sees similarity r_k wherever it is.

    `similarity` r (N,) in (0, 1], r_0 = 1. Attains the worst case of one step and, as weights of Definition 1 never
    change, that of many: the contraction is 1 - eta lambda sum_k alpha_k c_k. `steeper` gives c_k = 1 + sqrt(1 - r_k),
    the worst peers of long steps.
    """
    r = as_numbers("similarity", similarity, ("N",))
    if len(r) == 0 or r[0] != 1 or (r <= 0).any() or (r > 1).any():
        raise InputError("similarity", r.tolist(), "give ratios in (0, 1], the first one (itself) 1")
    gap = np.sqrt(1 - r)
    # 1 - sqrt(1 - r) without cancellation
    factor = 1 + gap if steeper else r / (1 + gap)
    A = _positive("curvature", curvature) / 2 * factor[:, None, None]
    return Quadratics.of(A, np.zeros((len(r), 1)), sigma2=sigma2, start=[as_numbers("theta0", start, ()).item()])


def noise_floor(
    clients: int = 1, features: int = 1, *, curvature: float = 1.0, sigma2: Any = 1.0, start: Any = None
) -> Quadratics:
    """Equal clients of condition number 1, started at their optimum: the plateau eta V / (2 (2 - eta lambda)) is exact.

    At kappa = 1 and eta near 1/beta the theorems' eta beta V / (2 mu) is attained; at kappa = 100 it is 100 to 190
    times too large, and no test against it can fail.
    """
    n, d = as_whole("clients", clients), as_whole("features", features)
    A = _spheres(_positive("curvature", curvature), n, d)
    return Quadratics.of(A, np.zeros((n, d)), sigma2=sigma2, start=start)


def equal_hessians(b: Any, *, curvature: float = 1.0, sigma2: Any = 1.0, start: Any = None) -> Quadratics:
    """R_k = (mu/2) (theta - b_k/mu)^2: |grad R_k - grad R_0| = b_k everywhere.

    Attains the bias of fixed weights of sum 1: their limit is sum_k alpha_k b_k / mu, at excess B^2 / (2 mu) with
    B = sum_k alpha_k b_k. b (N,), b_0 = 0.
    """
    b = as_numbers("b", b, ("N",))
    if len(b) == 0 or b[0] != 0 or (b < 0).any():
        raise InputError("b", b.tolist(), "give numbers >= 0, one per client, the first one (itself) 0")
    mu = _positive("curvature", curvature)
    return Quadratics.of(_spheres(mu, len(b), 1), -b[:, None] / mu, sigma2=sigma2, start=start)


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
