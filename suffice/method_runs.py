"""The plans of the methods, tried out: what each theorem controls, measured at the planned rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from suffice.bounds import Constants
from suffice.bounds.arrays import plain
from suffice.bounds.planning.method_plan import MethodPlan
from suffice.simulate import Algorithm, AllForAll, FixedCoBo, FixedWeights, Problem, Scaffnew, observables, padded_seeds

from .measured import Measured
from .network_of_problem import network

LOOKS = 60
"""Iterations, evenly spread over the planned rounds, at which the mean is compared with what is promised."""
MOST_ROUNDS = 200_000
MOST_WORK = 1e11
"""Multiplications of one method's run, by a rough count; more are not simulated."""
OF_A_ROUND = 5e6
"""At least: what is not computing."""


@dataclass(frozen=True, kw_only=True)
class MethodRun:
    """One method's plan beside its simulation; of several clients or clusters the one with the largest ratio.

    promised   what the theorem allows: iterations for stopped guarantees, otherwise the controlled quantity
    measured   its mean over the seeds, `error` the standard error; at the planned rounds unless it is a hitting time
    rounds     planned iterations
    reached    of the iterations looked at, the first from which on the mean is at most what is promised; None: never
    skipped    why nothing was simulated
    """

    method: str
    epsilon: float
    controls: str
    promised: float | None = None
    measured: float | None = None
    error: float | None = None
    rounds: float | None = None
    reached: int | None = None
    seeds: int = 0
    skipped: str = ""

    @property
    def ratio(self) -> float | None:
        """Measured over promised: at most about 1 where the theorem applies."""
        return None if self.measured is None or not self.promised else self.measured / self.promised

    @property
    def ratio_rounds(self) -> float | None:
        return None if self.reached is None or not self.rounds else self.reached / self.rounds

    def to_dict(self) -> dict[str, Any]:
        return plain(vars(self) | {"ratio": self.ratio, "ratio_rounds": self.ratio_rounds})


def run_methods(
    problem: Problem,
    constants: Constants,
    plans: Sequence[MethodPlan],
    measured: Sequence[Measured],
    *,
    seeds: int,
    root: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[MethodRun]:
    """One entry for every plan that applies; those of All-for-one and local from `measured`."""
    wanted = [plan for plan in plans if plan.applies and plan.method != "lower-bound"]
    results = []
    for done, plan in enumerate(wanted):
        if plan.method in ("all-for-one", "local"):
            results.append(_stopped(plan, measured))
        else:
            results.append(_fixed(problem, constants, plan, seeds, root))
        if progress is not None:
            progress(done + 1, len(wanted))
    return results


def _stopped(plan: MethodPlan, measured: Sequence[Measured]) -> MethodRun:
    entries = [entry for entry in measured if entry.epsilon == plan.epsilon]
    row = MethodRun(method=plan.method, epsilon=plan.epsilon, controls=plan.quantity)
    name = "together" if plan.method == "all-for-one" else "alone"
    known = [entry for entry in entries if getattr(entry, f"{name}_arrived") > 0]
    if len(known) < len(entries) or not entries:
        return replace(row, skipped="not every client arrived within the longest simulation")
    worst = max(known, key=lambda entry: getattr(entry, f"ratio_{name}") or 0.0)
    promised = getattr(worst, f"predicted_{name}")
    return replace(
        row,
        promised=promised,
        measured=getattr(worst, name),
        error=getattr(worst, f"{name}_se"),
        rounds=promised,
        seeds=worst.seeds,
    )


def _fixed(problem: Problem, constants: Constants, plan: MethodPlan, seeds: int, root: int) -> MethodRun:
    assert plan.rounds is not None
    row = MethodRun(method=plan.method, epsilon=plan.epsilon, controls=plan.quantity.partition(", ")[0])
    longest = int(max(plan.rounds))
    each = 4.0 * padded_seeds(problem, seeds) * problem.clients**2 * problem.features * problem.batch
    work = max(longest, 1) * max(each, OF_A_ROUND)
    if longest > MOST_ROUNDS or work > MOST_WORK:
        return replace(row, rounds=longest, skipped=f"{longest} rounds of {seeds} seeds take too long")
    algorithm, eta, make, promised, rounds = _prepared(problem, constants, plan)
    looks = np.unique(np.concatenate((np.linspace(0, longest, LOOKS).round(), rounds))).astype(int)
    values = observables.observe(problem, algorithm, make, eta=eta, grid=looks, seeds=seeds, root=root)  # (S, looks, K)
    mean, error = (
        values.mean(0),
        values.std(0, ddof=1) / np.sqrt(seeds) if seeds > 1 else np.full(values.shape[1:], np.nan),
    )
    at = np.searchsorted(looks, rounds)
    parts = np.arange(len(rounds))
    worst = int(np.argmax(mean[at, parts] / promised))
    low = mean[: at[worst] + 1, worst] <= promised[worst]
    above = np.flatnonzero(~low)
    first = 0 if not above.size else above[-1] + 1
    return replace(
        row,
        promised=promised[worst].item(),
        measured=mean[at[worst], worst].item(),
        error=error[at[worst], worst].item(),
        rounds=float(rounds[worst]),
        reached=int(looks[first]) if first < len(low) else None,
        seeds=seeds,
    )


def _prepared(
    problem: Problem, constants: Constants, plan: MethodPlan
) -> tuple[Algorithm, np.ndarray, Callable[[], observables.Observable], np.ndarray, np.ndarray]:
    """The algorithm, its steps (N,), what is observed, what is promised (K,) and the rounds (K,) of each part."""
    assert plan.rounds is not None
    settings, n = plan.settings, problem.clients
    rounds, target = np.array(plan.rounds).astype(int), np.array([plan.epsilon])
    if plan.method == "fixed-weights":
        algorithm = FixedWeights(alpha=torch.from_numpy(np.asarray(settings["weights"])))
        return algorithm, np.array(settings["eta"]), lambda: observables.Excess(problem), target.repeat(n), rounds
    if plan.method == "all-for-all":
        algorithm = AllForAll(Lambda=torch.from_numpy(np.asarray(settings["weights"])))
        kind = observables.AveragedExcess if "averaged" in plan.theorem else observables.MeanExcess
        return algorithm, np.full(n, settings["eta"]), lambda: kind(problem), target, rounds[:1]
    if plan.method == "cobo":
        clusters: list[list[int]] = settings["clusters"]
        w, eta = np.zeros((n, n)), np.ones(n)
        for members, rho, step in zip(clusters, settings["rho"], settings["eta"]):
            w[np.ix_(members, members)], eta[members] = rho, step
        promised = [2 * constants.mu[members].mean() * plan.epsilon for members in clusters]
        return (
            FixedCoBo(w=torch.from_numpy(w), rho=1.0),
            np.where(eta > 0, eta, 1e-300),  # a cluster that starts at its optimum does not move
            lambda: observables.ClusterGradient(problem, clusters),
            np.array(promised),
            np.array([plan.rounds[members[0]] for members in clusters]).astype(int),
        )
    return _scafflix(problem, constants, plan, rounds[:1])


def _scafflix(
    problem: Problem, constants: Constants, plan: MethodPlan, rounds: np.ndarray
) -> tuple[Algorithm, np.ndarray, Callable[[], observables.Observable], np.ndarray, np.ndarray]:
    alpha, p, eta = plan.settings["alpha"], plan.settings["p"], np.asarray(plan.settings["eta"])
    solution = network(problem, constants, alpha=alpha).mixed_solution(np.full(problem.clients, alpha))
    shared = _mixed_minimiser(problem, alpha) if solution is None else solution
    models = alpha * torch.from_numpy(shared).to(problem.start) + (1 - alpha) * problem.optimum
    algorithm = Scaffnew.scafflix(problem, p=p, alpha=alpha, eta=torch.from_numpy(eta).to(problem.start))
    if plan.method == "scafflix":
        return algorithm, eta, lambda: observables.Distance(models, constants.mu), np.array([plan.epsilon]), rounds
    level = np.array([plan.settings["eps_Psi"]])
    return algorithm, eta, lambda: observables.Lyapunov(problem, models, eta=eta, p=p), level, rounds


def _mixed_minimiser(problem: Problem, alpha: float) -> np.ndarray:
    """argmin (d,) of mean_i R_i(alpha x + (1 - alpha) x_i*) by a quasi-Newton method."""
    from scipy.optimize import minimize

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        models = (alpha * torch.from_numpy(x).to(problem.start) + (1 - alpha) * problem.optimum)[None]
        gradient = alpha * problem.gradient(models)[0].mean(0)
        return problem.excess(models).mean().item(), gradient.double().cpu().numpy()

    start = problem.optimum.mean(0).double().cpu().numpy()
    options = {"gtol": 1e-11, "ftol": 0.0, "maxiter": 5000, "maxfun": 20_000}
    return minimize(value, start, jac=True, method="L-BFGS-B", options=options).x
