"""`suffice simulate`: an algorithm by name on a problem, traced over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import Constants, InputError, as_numbers

if TYPE_CHECKING:
    from simulate import Problem, Trace


SHOWN = 6
"""Clients that a warning names."""
_MIXED = "the traced models alpha x_i + (1 - alpha) x_i* have the clients' own optima x_i* mixed in from the beginning"
_STARTS = {
    "flix": _MIXED,
    "scafflix": _MIXED,
    "ifca": "every client takes the best of several starting models",
}


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What was run, and its trace; `step_limit` is the largest step that a theorem here allows (`step_limit`)."""

    problem: Problem
    eta: float
    trace: Trace
    step_limit: float

    def __repr__(self) -> str:
        what = f"{self.trace.algorithm} on {type(self.problem).__name__}, {len(self.trace.seeds)} seeds"
        return f"Experiment({what}, {self.trace.iterations[-1]} iterations, step {self.eta:.3g})"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Clients whose mean excess ends above its start, if there are any."""
        mean = self.trace.mean()
        above = [name for name, end, start in zip(self.problem.names, mean[-1], mean[0]) if not end <= start]
        if not above:
            return ()
        who = ", ".join(above[:SHOWN]) + (f" and {len(above) - SHOWN} more" if len(above) > SHOWN else "")
        return (
            f"{who}: ends above its start (diverged, noise floor above it, or drawn to a shared model); "
            f"step {self.eta:.3g}, limit {self.step_limit:.3g}",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the first excess is not that of the problem's start, where it is not."""
        at_start = self.problem.excess(self.problem.start[None])[0].double().cpu().numpy()
        first = self.trace.mean()[0]
        if (np.abs(first - at_start) <= 1e-6 * (first + at_start)).all():
            return ()
        why = _STARTS.get(self.trace.algorithm, f"{self.trace.algorithm} does not trace the models of the start")
        numbers = ", ".join(f"{value:.3g}" for value in at_start[:SHOWN]) + (", ..." if len(at_start) > SHOWN else "")
        return (f"iteration 0: {why}; the excess of the start itself is {numbers}",)

    def to_dict(self) -> dict[str, Any]:
        """The answer of `suffice simulate --json`: lists per grid point, of one number per client."""
        return {
            "algorithm": self.trace.algorithm,
            "problem": type(self.problem).__name__,
            "clients": list(self.problem.names),
            "eta": self.eta,
            "step_limit": self.step_limit,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
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

    eta is one step size for all, by default half of `step_limit`. Raises `InputError`.
    """
    from simulate import AllForOne, run
    from simulate.catalogue import algorithm as named

    if isinstance(problem, Constants):
        raise InputError("setup", "constants", "constants cannot be simulated: give a [problem] or [data]")
    if not 1 <= iterations <= 10**7:
        raise InputError("iterations", iterations, "give a whole number from 1 to 10^7")
    limit = step_limit(problem)
    chosen = named(algorithm, problem, eta=limit / 2, **(options or {}))
    if isinstance(chosen, AllForOne):  # its theorems ask for eta <= q/beta; it is built without the step
        limit *= float(np.min(chosen.criterion.step_ratio(problem.constants().shares)))
    step = limit / 2 if eta is None else as_numbers("eta", eta, ()).item()
    if not step > 0:
        raise InputError("eta", step, "give a positive step size")
    if eta is not None:
        chosen = named(algorithm, problem, eta=step, **(options or {}))
    grid = np.unique(np.linspace(0, iterations, min(points, iterations + 1)).round().astype(int)).tolist()
    trace = run(problem, chosen, iterations=iterations, eta=step, seeds=seeds, root=root, grid=grid, progress=progress)
    return Experiment(problem=problem, eta=step, trace=trace, step_limit=limit)


def step_limit(problem: Problem) -> float:
    """The largest step at which a client alone contracts in the mean: min_i 1 / (beta_i max(1, M_i)).

    Var[g_i] <= floor + M_i |grad R_i|^2: M_i is 0 for additive and for bounded noise, but least squares on rows or
    streams have noise that grows with the gradient. Source: adaptive Lemma 1 with multiplicative noise,
    `adaptive/theorem-1-multiplicative`, whose condition eta beta Q <= kappa asks for half of this at kappa = 1/2.
    """
    from simulate import LeastSquares
    from simulate.problems.streaming import StreamingLeastSquares

    from .client_numbers import multiplicative

    beta, factor = problem.constants().beta, np.zeros(problem.clients)
    if isinstance(problem, LeastSquares):
        factor = multiplicative(problem)[1]
    elif isinstance(problem, StreamingLeastSquares):
        # Var[g] = 4 tr(H) e + |grad R|^2 + constant, and 4 lambda_min(H) e <= |grad R|^2
        spectra = np.linalg.eigvalsh(problem.A.double().cpu().numpy())
        factor = (spectra.sum(-1) / spectra[:, 0] + 1) / problem.batch
    return float((1 / (beta * np.maximum(factor, 1))).min())
