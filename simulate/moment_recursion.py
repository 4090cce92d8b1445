"""Exact expectations without sampling, by probing an algorithm's own step.

No hand-derived recursion per algorithm: for a linear algorithm on quadratics with additive noise, one
iteration is z+ = A z + B n in the homogeneous state z = (state - centre, 1). Its columns are found by
calling `step` once on a batch of unit vectors, and E[z z^T] follows M+ = A M A^T + B Q B^T.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from .algorithms.base import Algorithm, State
from .problems.quadratic import Quadratics


def expected_excess(
    problem: Quadratics,
    algorithm: Algorithm,
    *,
    iterations: int,
    eta: float | np.ndarray | Callable[[int], float | np.ndarray],
) -> np.ndarray:
    """E[e_t] for t = 0..T, exactly, (T + 1, N). Needs a linear algorithm; cost O((N d)^3) per iteration."""
    if not algorithm.linear:
        raise ValueError(f"{algorithm.name} is not linear: use expected_step at given states")
    template = algorithm.init(problem, problem.start[None])
    centre = {name: torch.zeros_like(value) for name, value in template.items()} | {"models": problem.optimum[None]}
    start = _flatten({name: template[name] - centre[name] for name in template})
    z = torch.cat((start, torch.ones_like(start[:, :1])), dim=1)[0]
    moment = torch.outer(z, z)
    noise = torch.block_diag(*problem.noise.covariance)
    result = [_excess(problem, moment)]
    previous, maps = None, None
    for t in range(1, iterations + 1):
        step_size = torch.as_tensor(eta(t) if callable(eta) else eta, dtype=problem.dtype)
        if maps is None or previous is None or not torch.equal(previous, step_size):
            maps, previous = _probe(problem, algorithm, centre, step_size), step_size
        A, B = maps
        moment = A @ moment @ A.T + B @ noise @ B.T
        result.append(_excess(problem, moment))
    return torch.stack(result).numpy()


def expected_step(problem: Quadratics, algorithm: Algorithm, models: Tensor, eta: float | np.ndarray) -> np.ndarray:
    """E[e_t | theta_{t-1}] at given models (S, N, d), exactly, (S, N): any algorithm, weights adaptive or not.

    The step is affine in the noise once the state is given, so its mean is the noiseless step and each
    unit vector of noise contributes its own quadratic form.
    """
    step_size = torch.as_tensor(np.asarray(eta, dtype=float)).to(models)
    n, d = problem.clients, problem.features
    with torch.no_grad():
        state = algorithm.init(problem, models)
        silent = torch.zeros_like(models)
        mean = algorithm.step(problem, state, silent, step_size)["models"]
        total = problem.excess(mean)
        factor = torch.block_diag(*problem.noise.factor)  # columns: independent unit sources
        for column in factor.T:
            moved = algorithm.step(problem, state, column.view(1, n, d).expand_as(models), step_size)["models"]
            total = total + torch.einsum("sid,ide,sie->si", moved - mean, problem.A, moved - mean)
    return total.numpy()


def _probe(problem: Quadratics, algorithm: Algorithm, centre: State, eta: Tensor) -> tuple[Tensor, Tensor]:
    """(A, B) of the homogeneous state, from one batched call of `step`."""
    sizes = {name: value.numel() for name, value in centre.items()}
    states, sources = sum(sizes.values()), problem.clients * problem.features
    batch = states + sources + 1  # unit states, unit noises, and the origin last
    deviations = torch.zeros(batch, states, dtype=problem.dtype)
    deviations[:states] = torch.eye(states, dtype=problem.dtype)
    draws = torch.zeros(batch, sources, dtype=problem.dtype)
    draws[states : states + sources] = torch.eye(sources, dtype=problem.dtype)
    state, offset = {}, 0
    for name, value in centre.items():
        part = deviations[:, offset : offset + sizes[name]]
        state[name] = value + part.reshape(batch, *value.shape[1:])
        offset += sizes[name]
    with torch.no_grad():
        after = algorithm.step(problem, state, draws.view(batch, problem.clients, problem.features), eta)
        image = _flatten({name: after[name] - centre[name] for name in centre})
    origin = image[-1]
    A = torch.zeros(states + 1, states + 1, dtype=problem.dtype)
    A[:-1, :-1] = (image[:states] - origin).T
    A[:-1, -1] = origin
    A[-1, -1] = 1
    B = torch.zeros(states + 1, sources, dtype=problem.dtype)
    B[:-1] = (image[states : states + sources] - origin).T
    return A, B


def _flatten(state: State) -> Tensor:
    return torch.cat([value.flatten(1) for value in state.values()], dim=1)


def _excess(problem: Quadratics, moment: Tensor) -> Tensor:
    """E[e_i] = tr(A_i E[delta_i delta_i^T]) from the second moment of the homogeneous state; models come first."""
    n, d = problem.clients, problem.features
    models = moment[: n * d, : n * d].reshape(n, d, n, d).diagonal(dim1=0, dim2=2)  # (d, d, N)
    return torch.einsum("ide,dei->i", problem.A, models)
