"""The choice of the compiled kernel that runs a problem and an algorithm, and what it leaves as the reference would."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError

from .algorithms.algorithm import Draw
from .algorithms.cobo import PAIRS
from .algorithms.scafflix import COIN
from .kernels import (
    Unavailable,
    general_paths,
    general_refusal,
    identity,
    weighs_none,
)
from .oracle import Oracle
from .problem_batches import tensors
from .recorder import Recorder

Kernel = Literal["reference", "auto", "c"]
_warned: set[str] = set()
"""The reasons for the lack of a compiled kernel of which this process has warned already."""


def attempt(kernel: Kernel, why: str | None, compiled: Callable[[], Any]) -> Any:
    """The result of `compiled`, or None where the reference is to run; `why` says what the kernel cannot do, or None.

    Raises `InputError` for kernel "c" where it does not run.
    """
    if kernel not in ("reference", "auto", "c"):
        raise InputError("kernel", kernel, 'give "reference", "auto" or "c"')
    if kernel == "reference" or (why is not None and kernel == "auto"):
        return None
    if why is not None:
        raise InputError("kernel", kernel, f'the compiled kernel does not run this ({why}); use "auto" or "reference"')
    try:
        return compiled()
    except (Unavailable, MemoryError) as reason:
        if kernel == "c":
            raise InputError("kernel", kernel, f"this machine cannot run it: {reason}") from None
        if str(reason) not in _warned:
            _warned.add(str(reason))
            warnings.warn(f"the torch reference runs instead of the compiled kernel: {reason}", stacklevel=4)
        return None


def cannot_record(recorder: Recorder, problems: Sequence[Oracle]) -> str | None:
    """The reason why no compiled kernel runs these problems or yields what is to be recorded; None where one does."""
    if recorder.chosen and weighs_none(recorder.algorithm):
        return "it weighs no clients"
    shapes = [(type(each), each.batch, [part.shape for part in tensors(each)]) for each in problems]
    if any(shape != shapes[0] for shape in shapes):
        return "the seeds' problems differ in more than numbers"
    return next(filter(None, (general_refusal(each, recorder.algorithm) for each in problems)), None)


def record(
    recorder: Recorder,
    problems: Sequence[Oracle],
    *,
    root: int,
    iterations: int,
    step_size: Callable[[int], Tensor],
    relative: bool,
    progress: Any,
) -> Any:
    """Fill the recorder and return its trace; `Unavailable` without a compiler."""
    problem, algorithm, points = recorder.problem, recorder.algorithm, recorder.grid
    found = general_paths(
        problems,
        algorithm,
        seeds=recorder.wanted,
        iterations=iterations,
        grid=points,
        eta=steps_taken(step_size, iterations, problem.clients),
        root=root,
        level=recorder.epsilon,
        early=recorder.last is None and recorder.epsilon is not None and not points.any(),
        chosen=list(recorder.chosen),
        models=recorder.last is not None,
        relative=relative,
        progress=progress,
    )
    events = found.pop("events", np.zeros((1, len(points)))).sum(0)
    nothing = torch.zeros(1, problem.clients, problem.clients, dtype=torch.bool)
    one = nothing.clone()
    one[0, 0, -1] = True
    trace = recorder.trace
    for spent, cost in ((trace.oracle_calls, algorithm.oracle_calls), (trace.vectors_sent, algorithm.vectors_sent)):

        def cost_of(iteration: int, pairs: Tensor = nothing, cost: Any = cost) -> float:
            extra = {PAIRS: pairs, COIN: pairs[:, 0, -1]}
            return float(cost(problem, Draw(iteration=iteration, noise=nothing, extra=extra)))

        spent[:] = _spent(algorithm, points, cost_of) * len(recorder.wanted) + events * (cost_of(1, one) - cost_of(1))
    return recorder.finished(identity(problem.dtype), values=found.pop("excess"), **found)


def _spent(algorithm: Any, points: np.ndarray, cost_of: Callable[[int], float]) -> np.ndarray:
    """The cost of the iterations up to each point, if no pair or coin comes up: rounds are alike until fine-tuning."""
    server = getattr(algorithm, "server", algorithm)
    period, last = getattr(server, "period", 1), getattr(server, "fine_tune_after", None)
    until = 2**62 if last is None else max(last, 1)

    within = np.cumsum([0.0, *map(cost_of, range(1, min(period, int(points[-1])) + 1))])
    before = np.minimum(points, until - 1)
    rounds = before // period * within[-1] + within[before % period]
    return rounds + (points >= until) * cost_of(until) + np.maximum(points - until, 0) * cost_of(until + 1)


def steps_taken(step_size: Callable[[int], Tensor], iterations: int, clients: int) -> np.ndarray:
    """The step sizes (N,), or (T, N) where they change."""
    first = step_size(1)
    if all(step_size(t) is first for t in (1, 2)):  # a constant is prepared once
        return first.expand(clients).numpy()
    return torch.stack([step_size(t).expand(clients) for t in range(1, iterations + 1)]).numpy()
