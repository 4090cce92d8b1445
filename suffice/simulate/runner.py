"""Run an algorithm on many seeds at once.

Seeds run in blocks whose size depends on (N, d, dtype) alone; a seed's block and its place there depend on its
index alone, and blocks always run whole. So a seed's path is bitwise the same whichever range of seeds is asked for and
however many processes share the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, as_whole, real_array

from .algorithms.algorithm import Algorithm, Draw, State, check_algorithm
from .algorithms.optimiser import Optimised
from .checkpoint import Checkpoint, fingerprint
from .kernel_choice import Kernel, attempt, cannot_record, record
from .oracle import Oracle, check_problem
from .problem_batches import to_device
from .randomness import Randomness, check_root
from .recorder import Recorder, check_size
from .seed_blocks import seed_blocks
from .step_size_argument import StepSize, step_sizes
from .threads import one_thread
from .trace import Trace

Progress = Callable[[int, int], None]
POINTS = 100
"""Unless a grid is given, the losses of a network are recorded so many times: each takes all rows."""


class Diverged(InputError):
    """A model or a loss is no longer a number. `models` (S, N, d) are the last finite ones of `seeds`, those before
    `iteration` or, where a loss alone is lost, after it."""

    def __init__(
        self, problem: Oracle, rule: str, seeds: Tensor, iteration: int, models: Tensor, losses: np.ndarray, why: str
    ) -> None:
        self.seeds, self.iteration, self.models = seeds.tolist(), iteration, models.double().cpu().numpy()
        seed, lost = np.argwhere(~np.isfinite(losses))[0]
        remedy = f"at iteration {iteration} of {rule}; {why} (the error keeps the last .models)"
        super().__init__(f"loss of client {problem.names[lost]}", float(losses[seed, lost]), remedy)


def run(
    problem: Oracle | Sequence[Oracle],
    algorithm: Algorithm,
    *,
    iterations: int,
    eta: StepSize,
    seeds: int | range = 64,
    root: int = 0,
    grid: Sequence[int] | None = None,
    epsilon: float | Sequence[float] | np.ndarray | None = None,
    weights: Sequence[int] | None = None,
    models: bool = False,
    relative: bool = False,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 100,
    kernel: Kernel = "auto",
    progress: Progress | None = None,
) -> Trace:
    """Run `algorithm` from the problem's start and record excess losses, or a network's losses and metrics.

    problem   one for all seeds, or one for each of them, with as many clients and features
    iterations  T, the number of steps
    eta       step size: one number, one per client (N,), or a function of t = 1..T returning either
    seeds     how many (0, 1, ...), or a range of seed indices
    root      root from which all random numbers are derived, with the seed's index
    grid      iterations to record, default 0..T, of a network about a hundred of them
    epsilon   record stopping times min{t <= T: e_t < epsilon}, whatever the grid; one number or (N,). A block of seeds
              ends when all of them are known and the grid is over
    weights   the seeds of which to record the weights of each iteration on the grid
    models    keep the models after the last iteration
    relative  where compiled code runs, count models from their clients' optima, so that excesses are right far below
              the rounding of models: of streams and quadratics, and rules that average no models
    momentum, weight_decay  of every client's stochastic gradients, as `Optimised` has them
    checkpoint  a file from which a run that was killed goes on, written after each `checkpoint_every` iterations
    kernel    "auto": compiled where possible (`kernels.general_refusal` says why not), else torch, with one
              warning if only a compiler is missing; "c": compiled or an error; "reference". Paths agree up to rounding,
              and bit for bit for one kernel, which the trace names
    progress  is called with the work done and the whole of it
    Raises `InputError`, of which `Diverged` keeps a network's last models.
    """
    check_algorithm(algorithm)
    if momentum or weight_decay:
        algorithm = Optimised(of=algorithm, momentum=momentum, weight_decay=weight_decay)
    wanted = _wanted(seeds, root)
    problems = _problems(problem, wanted)
    problem = problems[0]
    as_whole("iterations", iterations)
    if grid is None and problem.measure == "loss":
        grid = np.linspace(0, iterations, min(iterations, POINTS) + 1).round().tolist()
    check_size("grid", iterations, len(wanted) * problem.clients * (iterations + 1 if grid is None else 1))
    points = np.arange(iterations + 1) if grid is None else np.unique(real_array("grid", grid))
    if len(points) == 0 or points[0] < 0 or points[-1] > iterations or (points != np.floor(points)).any():
        raise InputError("grid", grid, f"give whole iterations within 0..{iterations}")
    step_size = step_sizes(eta, problem)
    if epsilon is not None:
        epsilon = as_numbers("epsilon", epsilon, (problem.clients,), one_for_all=True, positive=True)
    recorder = Recorder(
        problem,
        algorithm,
        wanted=wanted,
        grid=points.astype(int),
        epsilon=epsilon,
        weights=weights,
        last=iterations if models else None,
    )
    blocks = _blocks(problems, wanted)
    if relative and models:
        raise InputError("models", models, "they are not kept where they are counted from optima; leave one out")
    setting: dict[str, Any] = {"root": root, "iterations": iterations, "step_size": step_size, "progress": progress}
    why = cannot_record(recorder, problems) if checkpoint is None else "it writes no checkpoints"
    trace = attempt(kernel, why, lambda: record(recorder, problems, relative=relative, **setting))
    if trace is not None:
        return trace
    saved, often = None, max(1, iterations // POINTS)
    done, at, state = 0, 0, {}
    if checkpoint is not None:
        steps = [step_size(t) for t in range(1, iterations + 1 if callable(eta) else 2)]
        asked = (wanted, root, iterations, points.tolist(), epsilon, weights, models, steps)
        own = fingerprint(problems, algorithm, *asked)
        saved = Checkpoint(checkpoint, as_whole("checkpoint_every", checkpoint_every), own)
        done, at, state = saved.load(recorder, problem)
    with one_thread():
        for number, (recorder.problem, block) in enumerate(blocks[done:], done):
            recorder.block(block, begin=not at)
            path = iterate(
                recorder.problem, algorithm, seeds=block, iterations=iterations, eta=step_size, root=root,
                resume=(at, state),
            )  # fmt: skip
            for t, before, draw, after in path:
                losses = recorder.see(t, before, draw, after)
                if problem.measure == "loss" and losses is not None and not np.isfinite(losses).all():
                    why = "its models are finite: look at its loss and rows, or give smaller steps eta"
                    raise Diverged(recorder.problem, algorithm.name, block, t, after["models"], losses, why)
                if saved is not None and t % saved.every == 0 and 0 < t < iterations:
                    saved.save(number, t, after, recorder)
                over = t == iterations or recorder.over(t)
                if progress is not None and (over or (t > 0 and t % often == 0)):
                    progress((number + over) * iterations + (0 if over else t), len(blocks) * iterations)
                if over:
                    break
            at = 0
            if saved is not None:
                saved.save(number + 1, 0, None, recorder)
    return recorder.finished()


def hitting_times(
    problem: Oracle | Sequence[Oracle],
    algorithm: Algorithm,
    *,
    epsilon: float | Sequence[float] | np.ndarray,
    limit: int,
    eta: StepSize,
    seeds: int | range = 64,
    root: int = 0,
    kernel: Kernel = "auto",
    progress: Progress | None = None,
) -> np.ndarray:
    """Simulate tau = min{t: e_t < epsilon} per seed and client, (S, N); inf where it is beyond `limit`.

    epsilon  precision [loss]: one number, or one per client (N,)
    limit    iterations after which a path is given up

    The other arguments are those of `run`. Raises `InputError`.
    """
    as_whole("limit", limit)
    if epsilon is None:
        raise InputError("epsilon", epsilon, "give a positive precision")
    how: dict[str, Any] = {"eta": eta, "seeds": seeds, "root": root, "kernel": kernel, "progress": progress}
    times = run(problem, algorithm, iterations=limit, grid=[0], epsilon=epsilon, **how).stopping_times
    assert times is not None
    return times


@torch.no_grad()
def iterate(
    problem: Oracle,
    algorithm: Algorithm,
    *,
    seeds: Tensor,
    iterations: int,
    eta: Callable[[int], Tensor],
    root: int = 0,
    starts: Tensor | None = None,
    resume: tuple[int, State] = (0, {}),
) -> Iterator[tuple[int, State | None, Draw | None, State]]:
    """(t, state before, what was drawn, state after) for t = 0..iterations, all `seeds` (S,) at once.

    eta     the step size of iteration t = 1, 2, ..., anything that broadcasts to (S, N)
    starts  models (S, N, d), default the problem's start on every seed
    resume  an iteration t > 0 and the state after it, from which the iterations t + 1, ... follow

    Raises `Diverged` where a network's models are no longer finite. A reduction that torch splits between threads may
    round in another way: whoever needs paths bitwise the same everywhere wraps the loop in `one_thread`, as `run` does.
    """
    randomness = Randomness(seeds=seeds.to(problem.device), root=root)
    if problem.device.type != "cpu":  # once: to hand over a tensor in each iteration is to wait for the card in each
        algorithm = to_device(algorithm, None, problem.device)
    begun, state = resume
    if not begun:
        models = problem.start.expand(len(seeds), -1, -1) if starts is None else starts
        state = algorithm.init(problem, models.clone())
        yield 0, None, None, state
    for t in range(begun + 1, iterations + 1):
        draw = algorithm.draw(problem, randomness, t)
        before, state = state, algorithm.step(problem, state, draw, eta(t))
        # the sum is no number where one model is none, and costs a tenth of asking each
        suspect = problem.measure == "loss" and not bool(torch.isfinite(state["models"].sum()))
        if suspect and not bool((finite := torch.isfinite(state["models"]).all(-1)).all()):
            losses = torch.where(finite, 0, torch.nan).double().cpu().numpy()
            why = "give smaller steps eta"
            raise Diverged(problem, algorithm.name, seeds, t, before["models"], losses, why)
        yield t, before, draw, state


def _problems(problem: Oracle | Sequence[Oracle], wanted: range) -> Sequence[Oracle]:
    """The problem of all seeds, or one for each seed, checked."""
    problems = problem if isinstance(problem, Sequence) else [problem]
    for each in problems:
        check_problem(each)
    if isinstance(problem, Sequence) and len(problems) != len(wanted):
        raise InputError("seeds", len(wanted), f"give one for each of the {len(problems)} problems")
    if len({(each.clients, each.features) for each in problems}) > 1:
        raise InputError("problem", problem, "give each seed a problem with as many clients and features")
    return problems


def _blocks(problems: Sequence[Oracle], wanted: range) -> list[tuple[Oracle, Tensor]]:
    """Problems and the seeds that run together on them: whole blocks, or each seed on a problem of its own."""
    if len(problems) == 1:
        return [(problems[0], block) for block in seed_blocks(problems[0], wanted)]
    return [(own, torch.tensor([seed])) for own, seed in zip(problems, wanted)]


def _wanted(seeds: int | range, root: int) -> range:
    wanted = range(int(seeds)) if isinstance(seeds, (int, np.integer)) else seeds
    ends = (wanted[0], wanted[-1]) if isinstance(wanted, range) and wanted else (-1,)  # len() fails beyond 2^63
    if not all(0 <= end < 2**32 for end in ends):
        raise InputError("seeds", seeds, "give how many (at least one), or a range within 0..2^32 - 1")
    check_root(root)
    return wanted
