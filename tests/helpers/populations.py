"""Sites drawn from linear-Gaussian populations, as messages and as tables."""

from __future__ import annotations

import numpy as np

from suffice.simulate.data.folds import FOLDS, Fold, Messages, Units


def draw(seed: int, truth: np.ndarray, rows: int, noise: float = 0.5) -> list[tuple[np.ndarray, np.ndarray]]:
    """(X (rows, d), y) of each site for true slopes (N, d) and an intercept of 1."""
    rng = np.random.default_rng(seed)
    sites = []
    for slopes in truth:
        X = rng.normal(size=(rows, len(slopes)))
        sites.append((X, 1 + X @ slopes + noise * rng.normal(size=rows)))
    return sites


def folded(sites: list[tuple[np.ndarray, np.ndarray]]) -> list[list[Fold]]:
    return [[Fold.of(X[f::FOLDS], y[f::FOLDS]) for f in range(FOLDS)] for X, y in sites]


def messages(sites: list[tuple[np.ndarray, np.ndarray]]) -> Messages:
    folds = folded(sites)
    return Units.pooled(folds).messages(folds)


def table(sites: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, list]:
    """One mapping of columns, with sites s0, s1, ..."""
    X = np.concatenate([X for X, _ in sites])
    names = [f"s{k}" for k, (X, _) in enumerate(sites) for _ in X]
    return {
        "client": names,
        **{f"x{j}": X[:, j].tolist() for j in range(X.shape[1])},
        "target": np.concatenate([y for _, y in sites]).tolist(),
    }
