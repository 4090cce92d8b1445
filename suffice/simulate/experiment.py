"""`suffice simulate`: an algorithm by name on a problem, traced over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants
from suffice.support.errors import InputError
from suffice.support.numbers import as_number, plain
from suffice.support.tables import some

from .step_limit import step_limit

if TYPE_CHECKING:
    from . import Problem, Trace


SHOWN = 6
"""A warning names at most so many clients."""
FAR = 1e3
"""A client whose mean excess ends above this many times the largest start, at a step beyond the limit, diverged."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A run of an algorithm on a problem, and its trace.

    step_limit    the largest step that a theorem here allows (`step_limit`) [theta^2 / loss]
    step_from     where `eta` comes from and what the limit is, in words
    """

    problem: Problem
    eta: float
    trace: Trace
    step_limit: float
    step_from: str = ""

    def __repr__(self) -> str:
        what = f"{self.trace.algorithm} on {type(self.problem).__name__}, {len(self.trace.seeds)} seeds"
        return f"Experiment({what}, {self.trace.iterations[-1]} iterations, step {self.eta:.3g})"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Clients that diverged, and others whose mean excess ends above its start, if there are any."""
        mean, names = self.trace.mean(), np.array(self.problem.names)
        above = ~(mean[-1] <= mean[0])
        gone = above & (~np.isfinite(mean[-1]) | ((mean[-1] > FAR * mean[0].max()) & (self.eta > self.step_limit)))
        step = f"the step is {self.eta:.3g}, its limit {self.step_limit:.3g}"
        risen = "the excess ends above its start (it diverged, has a higher noise floor, or goes to a shared model)"
        found = ((gone, "the models diverged"), (above & ~gone, risen))
        return tuple(f"{some(names[which].tolist(), SHOWN)}: {why}; {step}" for which, why in found if which.any())

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks of the problem's builder, and a reason where the first excess is not that of the start."""
        remarks = self.problem.remarks
        at_start = self.problem.excess(self.problem.start[None])[0].double().cpu().numpy()
        first = self.trace.mean()[0]
        if (np.abs(first - at_start) <= 1e-6 * (first + at_start)).all():
            return remarks
        why = f"{self.trace.algorithm} traces other models than those of the start"
        numbers = ", ".join(f"{value:.3g}" for value in at_start[:SHOWN]) + (", ..." if len(at_start) > SHOWN else "")
        return (*remarks, f"iteration 0: {why}; the excess of the start itself is {numbers}")

    def to_dict(self) -> dict[str, Any]:
        """The answer of `suffice simulate --json`: lists per grid point, of one number per client."""
        answer = {
            "algorithm": self.trace.algorithm,
            "problem": type(self.problem).__name__,
            "clients": list(self.problem.names),
            "eta": self.eta,
            "step_limit": self.step_limit,
            "step_from": self.step_from,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "seeds": len(self.trace.seeds),
            "iterations": self.trace.iterations.tolist(),
            "excess_mean": self.trace.mean().tolist(),
            "excess_se": self.trace.standard_error().tolist(),
            "oracle_calls": self.trace.oracle_calls.tolist(),
            "vectors_sent": self.trace.vectors_sent.tolist(),
        }
        return plain(answer)


def simulated(
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

    eta is one step size for all, by default half of `step_limit`. Raises `InputError`.
    """
    from . import AllForOne, run
    from .catalogue import algorithm as named

    if isinstance(problem, Constants):
        raise InputError("setup", "constants", "constants cannot be simulated: give a [problem] or [data]")
    if not 1 <= iterations <= 10**7:
        raise InputError("iterations", iterations, "give a whole number from 1 to 10^7")
    if eta is not None and not as_number("eta", eta) > 0:
        raise InputError("eta", eta, "give a positive step size")
    limit = step_limit(problem)
    why = "the largest at which every client alone contracts in the mean"
    chosen = named(algorithm, problem, eta=limit / 2 if eta is None else eta, **(options or {}))
    if isinstance(chosen, AllForOne):  # its theorems ask for eta <= q/beta; it is built without the step
        ratio = float(np.min(chosen.criterion.step_ratio(problem.constants().shares)))
        limit *= ratio
        why += f", times All-for-one's ratio q = {ratio:.3g}"
    step = limit / 2 if eta is None else float(eta)
    grid = np.unique(np.linspace(0, iterations, min(points, iterations + 1)).round().astype(int)).tolist()
    trace = run(problem, chosen, iterations=iterations, eta=step, seeds=seeds, root=root, grid=grid, progress=progress)
    source = f"half of the limit {limit:.3g}" if eta is None else f"as given; the limit is {limit:.3g}"
    return Experiment(problem=problem, eta=step, trace=trace, step_limit=limit, step_from=f"{source}, {why}")
