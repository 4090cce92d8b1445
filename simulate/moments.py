"""Exact expectations without sampling, by probing an algorithm's own step.

No hand-derived recursion per algorithm. For a linear algorithm on quadratic losses one iteration is
z+ = A(draw) z in the homogeneous state z = (state - centre, 1). The columns of A are found by calling `step` once
on a batch of unit vectors. Clients draw independently and the step is affine in each client's gradient, so with
the problem's scenarios (points x_kj of weight w_kj that have the mean and covariance of client k's draw)
    E[z+ z+^T] = Abar M Abar^T + sum_k sum_j w_kj D_kj M D_kj^T,   D_kj = A(x_kj) - sum_j w_kj A(x_kj),
M = E[z z^T]; coins are averaged over their outcomes. A batch of m samples divides the second term by m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import InputError, as_whole

from .algorithms.base import Algorithm, Draw, State, check_algorithm
from .problem import QuadraticProblem, check_problem
from .step_sizes import StepSize, step_sizes


@dataclass(frozen=True, kw_only=True)
class Moments:
    """E[z z^T] of the homogeneous state z = (state - centre, 1) at t = 0..T.

    moments (T + 1, n + 1, n + 1); `layout` maps a state's name to its place in z and its shape without the seed axis.
    Models are centred at the optima, other states at zero; the last row is the mean.
    """

    moments: Tensor
    layout: Mapping[str, tuple[slice, tuple[int, ...]]]

    def of(self, one: str, two: str | None = None) -> Tensor:
        """E[x y^T] of two state variables, flattened, (T + 1, |x|, |y|)."""
        return self.moments[:, self.layout[one][0], self.layout[two or one][0]]

    def mean(self, name: str) -> Tensor:
        """E[x - centre], (T + 1, |x|)."""
        return self.moments[:, self.layout[name][0], -1]


def expected_excess(problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: StepSize) -> np.ndarray:
    """E[e_t] for t = 0..T, exactly, (T + 1, N): E[e_i] = tr(A_i E[delta_i delta_i^T])."""
    moments = expected_moments(problem, algorithm, iterations=iterations, eta=eta).of("models")
    n, d = problem.clients, problem.features
    own = moments.view(-1, n, d, n, d).diagonal(dim1=1, dim2=3)  # (T + 1, d, d, N)
    return torch.einsum("ide,tdei->ti", problem.A, own).numpy()


def expected_moments(problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: StepSize) -> Moments:
    """Second moments of the whole state, exactly. Needs a linear algorithm (`InputError` otherwise).

    The cost is O((N d)^3) per iteration and source: a source is one direction of noise per client when noise is
    additive, one scenario per client otherwise.
    """
    check_problem(problem)
    check_algorithm(algorithm)
    as_whole("iterations", iterations, least=0)
    step_size_at = step_sizes(eta, problem)
    if not algorithm.linear:
        raise InputError("algorithm", algorithm.name, "it is not linear: use expected_step at given states")
    template, centre, z = origin(problem, algorithm)
    result = [torch.outer(z, z)]
    known: dict[tuple[int, tuple[float, ...]], list[tuple[float, Maps]]] = {}
    for t in range(1, iterations + 1):
        step_size = step_size_at(t)
        key = (algorithm.phase(t), tuple(step_size.flatten().tolist()))
        if key not in known:
            if len(known) > 64:  # a decreasing step size never comes back
                known.clear()
            known[key] = [
                (probability, probe(problem, algorithm, centre, step_size, t, extra))
                for probability, extra in algorithm.outcomes(problem, t)
            ]
        result.append(torch.stack([probability * maps.advance(result[-1]) for probability, maps in known[key]]).sum(0))
    layout, offset = {}, 0
    for name, value in template.items():
        layout[name] = (slice(offset, offset + value.numel()), tuple(value.shape[1:]))
        offset += value.numel()
    return Moments(moments=torch.stack(result), layout=layout)


def origin(problem: QuadraticProblem, algorithm: Algorithm) -> tuple[State, State, Tensor]:
    """The state before the first step, the centre (optima; zero for other states), and z = (state - centre, 1)."""
    template = algorithm.init(problem, problem.start[None])
    centre = {name: torch.zeros_like(value) for name, value in template.items()} | {"models": problem.optimum[None]}
    start = _flatten({name: template[name] - centre[name] for name in template})
    return template, centre, torch.cat((start, torch.ones_like(start[:, :1])), dim=1)[0]


def expected_step(
    problem: QuadraticProblem, algorithm: Algorithm, models: Tensor, eta: float | np.ndarray, *, iteration: int = 1
) -> np.ndarray:
    """E[e_t | theta_{t-1}] at given models (S, N, d), exactly, (S, N): any algorithm whose step is affine in the draw.

    Weights may adapt to the models, not to the draw.
    """
    check_algorithm(algorithm)
    step_size = step_sizes(eta, problem)(iteration).to(models)
    weights, draws = problem.scenarios()
    total = torch.zeros(models.shape[:2], dtype=models.dtype)

    def after(draw: Tensor, extra: Mapping[str, Tensor]) -> Tensor:
        many = draw.expand(len(models), *draw.shape[1:])
        state = algorithm.init(problem, models)
        moved = Draw(iteration=iteration, noise=many, extra=extra)
        return algorithm.step(problem, state, moved, step_size)["models"]

    with torch.no_grad():
        for probability, extra in algorithm.outcomes(problem, iteration):
            reference = after(draws[:1], extra)
            mean, spread = reference.clone(), torch.zeros_like(total)
            for k in range(problem.clients):
                points = []
                for j in range(len(draws)):
                    point = draws[:1].clone()
                    point[0, k] = draws[j, k]
                    points.append(after(point, extra))
                moved = torch.stack(points)  # (J, S, N, d)
                centre = torch.einsum("j,jsnd->snd", weights[:, k], moved)
                mean += centre - reference
                gap = moved - centre
                spread += torch.einsum("j,jsnd,nde,jsne->sn", weights[:, k], gap, problem.A, gap)
            total += probability * (problem.excess(mean) + spread / problem.batch)
    return total.numpy()


@dataclass(frozen=True, kw_only=True)
class Maps:
    """One iteration on the second moment M of the homogeneous state.

    M+ = mean M mean^T + noise + sum_j weights_j D_j M D_j^T, D = deviations (none where noise is additive).
    """

    mean: Tensor
    weights: Tensor
    deviations: Tensor
    noise: Tensor

    def advance(self, moment: Tensor) -> Tensor:
        after = self.mean @ moment @ self.mean.T + self.noise
        for weight, deviation in zip(self.weights, self.deviations):
            after = after + weight * (deviation @ moment @ deviation.T)
        return after


def probe(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    centre: State,
    eta: Tensor,
    iteration: int,
    extra: Mapping[str, Tensor],
) -> Maps:
    """The maps of one iteration under one outcome of the coins, found by calling the algorithm's own step."""
    weights, draws = problem.scenarios()
    reference = _linear(problem, algorithm, centre, eta, draws[:1], iteration, extra)[0]
    mean, noise = reference.clone(), torch.zeros_like(reference)
    kept, scales = [], []
    for k in range(problem.clients):
        points = draws[:1].expand(len(draws), *draws.shape[1:]).clone()
        points[:, k] = draws[:, k]
        maps = _linear(problem, algorithm, centre, eta, points, iteration, extra)
        middle = torch.einsum("j,jab->ab", weights[:, k], maps)
        mean += middle - reference
        deviations = maps - middle
        if bool((deviations[:, :, :-1].abs() <= 1e-12 * maps.abs().max()).all()):  # additive: no state in it
            column = deviations[:, :, -1]
            noise += torch.einsum("j,ja,jb->ab", weights[:, k], column, column) / problem.batch
        else:
            kept.append(deviations)
            scales.append(weights[:, k] / problem.batch)
    size = len(mean)
    return Maps(
        mean=mean,
        noise=noise,
        weights=torch.cat(scales) if scales else torch.zeros(0, dtype=mean.dtype),
        deviations=torch.cat(kept) if kept else torch.zeros(0, size, size, dtype=mean.dtype),
    )


def _linear(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    centre: State,
    eta: Tensor,
    draws: Tensor,
    iteration: int,
    extra: Mapping[str, Tensor],
) -> Tensor:
    """The matrices of the homogeneous state for each of the draws (J, N, ...), from one batched call of `step`."""
    sizes = {name: value.numel() for name, value in centre.items()}
    states, count = sum(sizes.values()), len(draws)
    deviations = torch.zeros(states + 1, states, dtype=problem.dtype)  # unit states, and the origin last
    deviations[:states] = torch.eye(states, dtype=problem.dtype)
    deviations = deviations.repeat(count, 1)
    state, offset = {}, 0
    for name, value in centre.items():
        part = deviations[:, offset : offset + sizes[name]]
        state[name] = value + part.reshape(len(part), *value.shape[1:])
        offset += sizes[name]
    moved = Draw(iteration=iteration, noise=draws.repeat_interleave(states + 1, 0), extra=extra)
    with torch.no_grad():
        after = algorithm.step(problem, state, moved, eta)
    image = _flatten({name: after[name] - centre[name] for name in centre}).view(count, states + 1, states)
    image_of_zero = image[:, -1:]
    matrix = torch.zeros(count, states + 1, states + 1, dtype=problem.dtype)
    matrix[:, :-1, :-1] = (image[:, :states] - image_of_zero).transpose(1, 2)
    matrix[:, :-1, -1] = image_of_zero[:, 0]
    matrix[:, -1, -1] = 1
    return matrix


def _flatten(state: State) -> Tensor:
    return torch.cat([value.flatten(1) for value in state.values()], dim=1)
