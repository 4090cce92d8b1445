"""`suffice simulate`: an algorithm by name on a problem, traced over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import Constants, InputError, as_numbers

if TYPE_CHECKING:
    from simulate import Problem, Trace


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What was run, and its trace."""

    problem: Problem
    eta: float
    trace: Trace

    def to_dict(self) -> dict[str, Any]:
        """The answer of `suffice simulate --json`: lists per grid point, of one number per client."""
        return {
            "algorithm": self.trace.algorithm,
            "problem": type(self.problem).__name__,
            "clients": list(self.problem.names),
            "eta": self.eta,
            "seeds": len(self.trace.seeds),
            "iterations": self.trace.iterations.tolist(),
            "excess_mean": self.trace.mean().tolist(),
            "excess_se": self.trace.standard_error().tolist(),
            "oracle_calls": self.trace.oracle_calls.tolist(),
            "vectors_sent": self.trace.vectors_sent.tolist(),
        }


def experiment(
    problem: Problem | Constants,
    algorithm: str,
    *,
    iterations: int,
    seeds: int = 64,
    eta: float | None = None,
    options: Mapping[str, float | str] | None = None,
    points: int = 11,
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Experiment:
    """Run `algorithm` (a name of `simulate.ALGORITHMS`, with `options`) from the problem's start.

    eta is one step size for all, by default half of 1 / max_i beta_i. Raises `InputError`.
    """
    from simulate import run
    from simulate.catalogue import algorithm as named

    if isinstance(problem, Constants):
        raise InputError("setup", "constants", "constants cannot be simulated: give a [problem] or [data]")
    if not 1 <= iterations <= 10**7:
        raise InputError("iterations", iterations, "give a whole number from 1 to 10^7")
    step = 0.5 / problem.constants().beta.max().item() if eta is None else as_numbers("eta", eta, ()).item()
    if not step > 0:
        raise InputError("eta", step, "give a positive step size")
    chosen = named(algorithm, problem, eta=step, **(options or {}))
    grid = np.unique(np.linspace(0, iterations, min(points, iterations + 1)).round().astype(int)).tolist()
    trace = run(problem, chosen, iterations=iterations, eta=step, seeds=seeds, root=root, grid=grid, progress=progress)
    return Experiment(problem=problem, eta=step, trace=trace)
