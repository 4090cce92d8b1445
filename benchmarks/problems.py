"""What is timed: problems, rules, and what one seed's step cannot do without."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary, Continuous
from suffice.simulate import (
    AllForOne,
    LeastSquares,
    Local,
    Logistic,
    Problem,
    Quadratics,
    SampledSimilarity,
    StreamingLeastSquares,
)  # fmt: skip

THRESHOLD, NOISE, ROWS, BATCH = 0.4, 0.3, 100, 8
SAMPLED = AllForOne(criterion=Binary(threshold=THRESHOLD), similarity=SampledSimilarity(), sigma2=1.0)
"""Weights anew in every iteration from one independent sample per client, binary criterion."""
EXACT = AllForOne(criterion=Continuous(), sigma2=1.0)


@cache
def stream(n: int, d: int, *, dtype: torch.dtype = torch.float64, batch: int = 1) -> StreamingLeastSquares:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(n, d, d))
    H = 0.3 * np.eye(d) + root @ root.transpose(0, 2, 1) / d
    best = rng.normal(size=(2, d))[np.arange(n) % 2] + 2
    return StreamingLeastSquares.of(H, best, label_noise=NOISE, batch=batch).to(dtype)


@cache
def problem_of(kind: str, n: int, d: int) -> Problem:
    rng = np.random.default_rng(0)
    best = rng.normal(size=(2, d))[np.arange(n) % 2] / np.sqrt(d)
    if kind == "quadratics":
        root = rng.normal(size=(n, d, d))
        return Quadratics.of(np.eye(d) / 3 + root @ root.transpose(0, 2, 1) / d, -best, sigma2=1.0)
    X = [rng.normal(size=(ROWS, d)) for _ in range(n)]
    y = [x @ b + 0.5 * rng.normal(size=ROWS) for x, b in zip(X, best)]
    if kind == "least squares":
        return LeastSquares.of(X, y, batch=BATCH)
    return Logistic.of(X, [np.where(z > 0, 1.0, -1.0) for z in y], regularisation=0.1, batch=BATCH)


@dataclass(frozen=True)
class Case:
    """One problem and rule; kinds are "stream", "least squares", "logistic" and "quadratics"."""

    kind: str
    n: int
    d: int
    exact: bool = True
    dtype: torch.dtype = torch.float64

    @property
    def name(self) -> str:
        rule = "sampled" if self.kind == "stream" else "exact" if self.exact else "local"
        return f"{self.kind}, {rule}, {str(self.dtype).removeprefix('torch.')}"

    @property
    def problem(self) -> Any:
        if self.kind == "stream":
            return stream(self.n, self.d, dtype=self.dtype)
        return problem_of(self.kind, self.n, self.d)

    @property
    def rule(self) -> Any:
        return SAMPLED if self.kind == "stream" else EXACT if self.exact else Local()

    @property
    def eta(self) -> float:
        return 0.01 / self.d if self.kind == "stream" else 0.01

    def needs(self) -> dict[str, float]:
        """Numbers drawn, logistic functions and multiply-adds of one seed's step, by the kind of work of limits.c.

        A pair is a model and a client. Streams: two samples (d normals times a triangle, one for the label), two
        residuals, the gradients' sum and half a Gram matrix. Exact similarities: the gradient over the population, its
        gap d, and the weighted sum of sampled gradients. Rows at random places, ratios and weights are not counted.
        """
        n, d, pairs = self.n, self.d, self.n**2 if self.exact else self.n
        if self.kind == "stream":
            return {"normal": 2 * n * (d + 1), "multiply_add": 3.5 * pairs * d + n * d * (d + 1)}
        over = {"logistic": 2 * ROWS * d}.get(self.kind, d * d)  # a gradient over the population
        if self.kind == "quadratics":  # its mean and the noise's
            return {"normal": n * d, "multiply_add": pairs * (over + (3 * d if self.exact else 0))}
        sampled = 2 * BATCH * d
        need = {"word": n * BATCH, "multiply_add": pairs * (sampled + (over + d if self.exact else 0))}
        if self.kind == "logistic":
            need["logistic"] = pairs * (BATCH + (ROWS if self.exact else 0))
        return need
