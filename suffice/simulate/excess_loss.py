"""The expected excess loss and other exact moments, by probing an algorithm's own step: nothing is derived by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from .algorithms.algorithm import Algorithm, State, check_algorithm
from .moment_maps import Maps, origin, probe, probe_batch
from .moment_powers import Block, branches, moments_of_steps
from .oracle import check_problem
from .problem import QuadraticProblem
from .problem_batches import instances
from .step_size_argument import StepSize, step_sizes

NOT_LINEAR = "it is not linear, so that no recursion gives its moments: simulate it by sf.run"


@dataclass(frozen=True, kw_only=True)
class Moments:
    """E[z z^T] of the homogeneous state z = (state - centre, 1) at t = 0..T.

    moments (T + 1, n + 1, n + 1), or (B, T + 1, n + 1, n + 1) of a batch; `layout` maps a state's name to its place in
    z and its shape without the seed axis. Models are centred at the optima, other states at zero; the last row is the
    mean.
    """

    moments: Tensor
    layout: Mapping[str, tuple[slice, tuple[int, ...]]]

    def of(self, one: str, two: str | None = None) -> Tensor:
        """E[x y^T] of two state variables, flattened, (T + 1, |x|, |y|)."""
        return self.moments[..., self.layout[one][0], self.layout[two or one][0]]

    def mean(self, name: str) -> Tensor:
        """E[x - centre], (T + 1, |x|)."""
        return self.moments[..., self.layout[name][0], -1]

    def excess(self, problem: QuadraticProblem) -> Tensor:
        """E[e_i] = tr(A_i E[delta_i delta_i^T]) [loss], (T + 1, N), of the problem or the batch that this is of."""
        second, (n, d) = self.of("models"), self.layout["models"][1]
        own = second.unflatten(-1, (n, d)).unflatten(-3, (n, d)).diagonal(dim1=-4, dim2=-2)  # (..., T + 1, d, d, N)
        return torch.einsum("...ide,...tdei->...ti", problem.A, own)


def expected_excess(problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: StepSize) -> np.ndarray:
    """Compute E[e_t], t = 0..T, exactly, (T + 1, N) [loss], by second moments.

    problem     N quadratics, or least squares on data
    algorithm   a linear one: its models after a step are affine in those before
    iterations  T
    eta         step size: one number, one per client (N,), or a function of t = 1..T returning either
    Raises `InputError`, also for an algorithm that is not linear.
    """
    return expected_moments(problem, algorithm, iterations=iterations, eta=eta).excess(problem).numpy()


def expected_moments(problem: QuadraticProblem, algorithm: Algorithm, *, iterations: int, eta: StepSize) -> Moments:
    """Second moments of the whole state, exactly. Needs a linear algorithm (`InputError` otherwise).

    The cost is O((N d)^3) per iteration and source: a source is one direction of noise per client when noise is
    additive, one scenario per client otherwise.
    """
    check_problem(problem)
    check_algorithm(algorithm)
    as_whole("iterations", iterations, least=0)
    step_size_at = step_sizes(eta, problem)
    template, centre, z = origin(problem, algorithm)
    probed = partial(probe, problem, algorithm, centre)
    return _moments(z, template, problem, algorithm, probed, step_size_at, iterations)


def expected_moments_batch(
    problems: QuadraticProblem, algorithms: Algorithm, *, iterations: int, eta: np.ndarray
) -> Moments:
    """The moments of B instances at steps eta (B,) or (B, N), probed together; batches by `problem_batches.stack`.

    Each instance's start is checked as if it were alone; the step has to be one that `torch.func.vmap` can follow.
    """
    count = len(eta)
    every = list(zip(instances(problems, count), instances(algorithms, count)))
    starts = [origin(*each) for each in every]
    template = starts[0][0]
    centre = {name: torch.stack([each[1][name] for each in starts]) for name in template}
    z, step_size = torch.stack([each[2] for each in starts]), torch.from_numpy(eta)
    probed = partial(probe_batch, problems, algorithms, centre)
    return _moments(z, template, *every[0], probed, lambda t: step_size, iterations)


def _moments(
    z: Tensor,
    template: State,
    problem: QuadraticProblem,
    algorithm: Algorithm,
    probed: Callable[..., Maps],
    step_size_at: Callable[[int], Tensor],
    iterations: int,
) -> Moments:
    """The moments, round by round: a round keeps what was drawn, and the moments given each outcome go on apart."""
    if not algorithm.linear:
        raise InputError("algorithm", algorithm.name, NOT_LINEAR)
    result = [z[..., :, None] * z[..., None, :]]
    known: dict[tuple[int, int | None, tuple[float, ...]], Maps] = {}

    def maps(t: int, outcome: int | None) -> Maps:
        if outcome is not None and z.ndim > 1:
            remedy = "it keeps what it draws for several iterations: ask for the moments of one instance at a time"
            raise InputError("algorithm", algorithm.name, remedy)
        key = algorithm.phase(t), outcome, tuple(step_size_at(t).flatten().tolist())
        if key not in known:
            if len(known) > max(64, 4 * algorithm.phase(t)) and outcome is None:  # decreasing steps never come back
                known.clear()
            known[key] = probed(step_size_at(t), t, outcome)
        return known[key]

    while (t := len(result)) <= iterations:
        ends = (end for end in range(t, iterations) if algorithm.round_of(end + 1) != algorithm.round_of(t))
        block = Block(iterations=tuple(range(t, next(ends, iterations) + 1)))
        held = branches(problem, algorithm, [block], maps)
        result += moments_of_steps(held, result[-1], len(block.iterations))
    layout, offset = {}, 0
    for name, value in template.items():
        layout[name] = (slice(offset, offset + value.numel()), tuple(value.shape[1:]))
        offset += value.numel()
    return Moments(moments=torch.stack(result, dim=-3), layout=layout)
