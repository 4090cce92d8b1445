"""Sites drawn from linear-Gaussian populations, as messages and as tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from suffice.fitting.model_averaging import Fitted, collaborate
from suffice.fitting.ridge import alone_models, best_penalty
from suffice.simulate.data.folds import FOLDS, Messages, Sums, Units


def draw(seed: int, truth: np.ndarray, rows: int, noise: float = 0.5) -> list[tuple[np.ndarray, np.ndarray]]:
    """(X (rows, d), y) of each site for true slopes (N, d) and an intercept of 1."""
    rng = np.random.default_rng(seed)
    sites = []
    for slopes in truth:
        X = rng.normal(size=(rows, len(slopes)))
        sites.append((X, 1 + X @ slopes + noise * rng.normal(size=rows)))
    return sites


def folded(sites: list[tuple[np.ndarray, np.ndarray]]) -> Sums:
    return Sums.of([[Sums.of_rows(X[f::FOLDS], y[f::FOLDS]) for f in range(FOLDS)] for X, y in sites])


def messages(sites: list[tuple[np.ndarray, np.ndarray]]) -> Messages:
    folds = folded(sites)
    return Units.pooled(folds).messages(folds)


def collaborating(sites: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Units, Messages, Fitted, np.ndarray]:
    """Units, messages, their fit, and the models of ridge alone with the network's best penalty (1 + FOLDS, N, d)."""
    folds = folded(sites)
    units = Units.pooled(folds)
    made = units.messages(folds)
    return units, made, collaborate(made), alone_models(made.fits, best_penalty(made.fits, made.held_out))


def table(sites: Any, *, classes: bool = False) -> dict[str, list]:
    """One mapping of columns of sites by name, or of s0, s1, ...; of `classes` whether a target is above 0."""
    sites = sites if isinstance(sites, dict) else {f"s{k}": site for k, site in enumerate(sites)}
    X, y = (np.concatenate([site[part] for site in sites.values()]) for part in (0, 1))
    names = [name for name, (_, own) in sites.items() for _ in own]
    target = np.where(y > 0, "yes", "no") if classes else y
    return {"client": names, **{f"x{j}": x.tolist() for j, x in enumerate(X.T)}, "target": target.tolist()}


def written(path: Path, columns: dict[str, Any]) -> Path:
    """The columns as a CSV file."""
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([columns, *zip(*columns.values())])
    return path
