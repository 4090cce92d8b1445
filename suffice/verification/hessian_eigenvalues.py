"""Quadratics whose eigenvalues lie where a quantity is extreme between mu and beta, and few at a large T.

Of a linear algorithm each eigenvalue has a recursion of its own. What is extreme over [mu, beta] is seldom at an end: a
step forgets the start at once where eta lambda = 1, T steps with momentum at up to T places. So one eigenvalue moves
from mu to beta, through 1/eta of the instance, and then around where measured/bound was largest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .family import Domain, Values

_ROWS = [
    (ratio, noise, start, share, T)
    for ratio in (0.25, 2.0**-8)
    for noise, start in ((0.0, 1.0), (1.0, 0.0))
    for share, T in ((1.0, 1), (1.0, 2), (1.0, 30), (0.1, 3), (0.01, 10))
]
"""mu/beta, sigma2, the start's distance, the step's share of its largest (see `Steps.at`) and T."""
_STEPS = np.array([0.5, 1.0, 1.5])
"""eta lambda."""
_BETWEEN = np.array([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
_NEAR = np.array([0.25, 0.5, 0.75])
_ROUNDS = 6
"""Each of them looks four times as closely."""
LATE = tuple(63 * 4**k + k for k in range(10))
"""Values of T, up to 1.65e7: the next is four times as late, and no cycle of steps ends at them all."""


def scans(domains: Mapping[str, Domain]) -> bool:
    """Whether instances have eigenvalues to move: those of `families.quadratics` in two dimensions or more."""
    return {"curvature", "direction"} <= domains.keys() and domains["direction"].shape[0] > 1


def scanned(
    domains: Mapping[str, Domain],
    stepped: Callable[[Values], tuple[Values, np.ndarray]],
    ratio: Callable[[Values], np.ndarray],
    *,
    noise: bool,
) -> Values:
    """Instances with an eigenvalue where it is worst, and nearby, for each row of `_ROWS`.

    Without `noise` only those that have none. `stepped` moves values to where the theorem's conditions hold and says
    their steps; `ratio` is measured/bound.
    """
    base, eta = stepped(_values(domains, [row for row in _ROWS if noise or not row[1]]))
    spectrum = base["curvature"].reshape(len(eta), -1, domains["direction"].shape[0])
    low, high = spectrum.min((1, 2))[:, None], spectrum.max((1, 2))[:, None]
    at_steps = np.clip(_STEPS / np.maximum(eta, 1e-300)[:, None], low, high)
    grid = np.sort(np.concatenate((at_steps, low + _BETWEEN * (high - low), low * (high / low) ** _BETWEEN), 1), 1)
    for _ in range(_ROUNDS):
        best = ratio(_with_mode(domains, base, grid)).reshape(grid.shape).argmax(1)[:, None]
        left, top, right = (
            np.take_along_axis(grid, np.clip(best + side, 0, grid.shape[1] - 1), 1) for side in (-1, 0, 1)
        )
        grid = np.concatenate((left + _NEAR * (top - left), top, top + _NEAR * (right - top)), 1)
    return _with_mode(domains, base, grid)


def late(domains: Mapping[str, Domain], longest: int) -> Values:
    """A few instances at each T of `LATE` up to `longest`: equal eigenvalues and far ones, the start along both, noise
    or none."""
    return _values(
        domains,
        [
            (ratio, noise, start, share, T)
            for ratio in (1.0, 2.0**-4, 2.0**-10)
            for noise, start in ((0.0, 1e3), (1e6, 0.0), (1e5, 1e3))
            for share in (1.0, 0.1, 1e-4)
            for T in LATE
            if longest >= T
        ],
    )


def _values(domains: Mapping[str, Domain], rows: Sequence[tuple[float, ...]]) -> Values:
    """Values of a family of quadratics: eigenvalues 4 and 4 `ratio`, the start along both."""
    ratio, sigma2, far, step, T = (np.array(column, dtype=float) for column in zip(*rows))
    values = {name: np.zeros((len(rows), *domain.shape)) for name, domain in domains.items()}
    values |= {name: np.full(len(rows), 0.3) for name in ("share",) if name in domains}  # the level of what stops
    values["curvature"][:] = 4.0
    values["curvature"][..., -1] = (4 * ratio)[:, None]
    values["direction"][:, [0, -1]] = 1.0
    return values | {"sigma2": sigma2, "far": far, "step": step, "T": T}


def _with_mode(domains: Mapping[str, Domain], base: Values, grid: np.ndarray) -> Values:
    """Every row with its inner eigenvalues (the last one where there are two) at each of the grid (n, m), the start
    along one of them, as large a loss away as at beta."""
    values = {name: np.repeat(value, grid.shape[1], axis=0) for name, value in base.items()}
    features = domains["direction"].shape[0]
    inner = slice(1, max(features - 1, 2))
    values["curvature"][..., inner] = grid.ravel()[:, None, None]
    values["direction"] = np.zeros_like(values["direction"])
    values["direction"][:, 1] = 1.0
    values["far"] = values["far"] * np.sqrt(4.0 / grid.ravel())
    return values
