"""Constants of a network where a run led: measured at its models, guaranteed nowhere, so that no plan takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from .algorithms.base import Algorithm
from .checked_step_sizes import StepSize, step_sizes
from .problems import Neural
from .randomness import Randomness, Stream
from .runner import iterate
from .threads import one_thread

_TOGETHER = 1 << 22
"""Numbers in the models whose gradients are sampled at once."""


@dataclass(frozen=True, kw_only=True)
class MeasuredConstants:
    """At the models theta_i of a run after `iterations` (G,); not bounds, and of these models alone.

    curvature  (G, N) largest eigenvalue of the Hessian of R_i at theta_i [loss / theta^2]
    variance   (G, N) of the stochastic gradient, E|g_i(theta_i) - grad R_i(theta_i)|^2, a mean over samples
    gap2       (G, N, N) |grad R_k(theta_i) - grad R_i(theta_i)|^2 as [g, i, k]
    gradient2  (G, N) |grad R_i(theta_i)|^2

    Assumption 3 of Philippenko et al. (2025), gap2 <= b^2 + c gradient2, holds at these models with b = `b`, c = 0, and
    with b = 0, c = `c`.
    """

    iterations: np.ndarray
    curvature: np.ndarray
    variance: np.ndarray
    gap2: np.ndarray
    gradient2: np.ndarray

    @property
    def b(self) -> np.ndarray:
        """Largest |grad R_k - grad R_i| along the run, [i, k] (N, N)."""
        return np.sqrt(self.gap2.max(0))

    @property
    def c(self) -> np.ndarray:
        """Largest |grad R_k - grad R_i|^2 / |grad R_i|^2 along the run, [i, k] (N, N)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(self.gap2 > 0, self.gap2 / self.gradient2[..., None], 0.0)
        return ratio.max(0)


def measured_constants(
    problem: Neural,
    algorithm: Algorithm,
    *,
    iterations: int,
    eta: StepSize,
    grid: Sequence[int] | None = None,
    samples: int = 64,
    seed: int = 0,
) -> MeasuredConstants:
    """Measure curvature, noise and dissimilarity of a network's clients along a run of `algorithm`.

    problem     a network on clients' rows
    iterations  of the run, at the step size or step sizes `eta`
    grid        iterations to measure at, default the start, the middle and the end
    samples     stochastic gradients that the variance is a mean over
    seed        of the run

    Raises `InputError`.
    """
    if not isinstance(problem, Neural):
        remedy = "its constants are known: ask problem.constants(); measured ones are of networks"
        raise InputError("problem", type(problem).__name__, remedy)
    as_whole("iterations", iterations)
    as_whole("samples", samples)
    points = sorted(set(grid or (0, iterations // 2, iterations)))
    if points[0] < 0 or points[-1] > iterations:
        raise InputError("grid", grid, f"give whole iterations within 0..{iterations}")
    seeds, found = torch.tensor([seed]), []
    with one_thread():
        for t, _, _, state in iterate(
            problem, algorithm, seeds=seeds, iterations=iterations, eta=step_sizes(eta, problem)
        ):
            if t not in points:
                continue
            theta = state["models"]
            gradient = problem.gradient(theta)
            noise = []
            for some in torch.arange(samples).split(max(1, _TOGETHER // theta.numel())):
                models, source = theta.expand(len(some), -1, -1), Randomness(seeds=some, root=seed)
                drawn = problem.draw(source, t, stream=Stream.POINTS)
                noise.append(((problem.stochastic_gradient(models, None, drawn) - gradient) ** 2).sum(-1))
            curvature = torch.tensor([_largest(problem, i, model) for i, model in enumerate(theta[0])])
            found.append((curvature, torch.cat(noise).mean(0), problem.gradient_gap(theta)[0],
                          (gradient[0] ** 2).sum(-1)))  # fmt: skip
    curvature, variance, gap2, gradient2 = (
        torch.stack(parts).double().cpu().numpy() for parts in zip(*found, strict=True)
    )
    return MeasuredConstants(
        iterations=np.array(points), curvature=curvature, variance=variance, gap2=gap2, gradient2=gradient2
    )


def _largest(problem: Neural, client: int, model: Tensor) -> float:
    """The largest eigenvalue of client i's Hessian, by Lanczos' method on Hessian-vector products."""
    data, first = problem.data, int(problem.data.first[client])
    rows = slice(first, first + int(data.counts[client]))
    with torch.enable_grad():
        leaf = model.detach().clone().requires_grad_()
        (slope,) = torch.autograd.grad(problem.flat.row_losses(leaf, data.X[rows], data.y[rows]).mean(), leaf,
                                       create_graph=True)  # fmt: skip

        def product(v: np.ndarray) -> np.ndarray:
            with torch.enable_grad():
                along = torch.from_numpy(np.ascontiguousarray(v.ravel())).to(model)
                (found,) = torch.autograd.grad(slope, leaf, along, retain_graph=True)
            return found.double().cpu().numpy()

    d = len(model)
    if d < 3:  # Lanczos needs room
        return float(np.linalg.eigvalsh(np.stack([product(row) for row in np.eye(d)]))[-1])
    made: Any = LinearOperator  # its arguments are those of a subclass that it picks
    operator = made((d, d), matvec=product, dtype=float)
    # a start that is the same in every run
    start = np.random.default_rng(0).normal(size=d)
    return float(eigsh(operator, k=1, which="LA", v0=start, tol=1e-4, return_eigenvectors=False)[0])
