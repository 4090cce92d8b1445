"""Hitting times of a plan, measured by simulation beside the predicted ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Binary, Criterion
from suffice.support.numbers import plain
from suffice.support.text import printable

from .constant_plan import ConstantPlan
from .plan_row import Row

if TYPE_CHECKING:
    from suffice.simulate import Problem
    from suffice.simulate.algorithms.base import Algorithm

LONGEST_SIMULATION = 20_000
"""Iterations after which a simulated path counts as not having arrived."""


@dataclass(frozen=True, kw_only=True)
class SimulatedPlan:
    """What paths of one plan did: their hitting times, and their excess at the plan's end.

    time        mean hitting time of the paths that arrived within the limit, at the step of the schedule that is
                guaranteed, or of the exact rates where nothing is
    time_se     its standard error; arrived  the share of these paths: 1 when the mean is complete
    predicted   the bound of E[tau], where there is one
    iterations  T of the exact or measured plan; exact  E e_T there [loss], which measured plans do not have
    excess      the mean over the seeds there [loss], of paths that did not choose T; excess_se  its standard error
    """

    time: float = float("nan")
    time_se: float = float("nan")
    arrived: float = 0.0
    predicted: float | None = None
    iterations: int | None = None
    exact: float | None = None
    excess: float | None = None
    excess_se: float | None = None

    @property
    def ratio(self) -> float | None:
        """Measured over predicted: at most about 1 where the prediction, a bound of the mean, holds."""
        return self.time / self.predicted if self.predicted and np.isfinite(self.time) else None


NUMBERS = {
    "{}": "time", "{}_se": "time_se", "{}_arrived": "arrived", "predicted_{}": "predicted", "ratio_{}": "ratio",
    "iterations_{}": "iterations", "exact_{}": "exact", "excess_{}": "excess", "excess_{}_se": "excess_se",
}  # fmt: skip
"""Names of the numbers of a simulated plan in JSON, and their fields."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One client at one precision, over seeds: its plans `alone` and `together`, each at its planned step."""

    client: int
    name: str
    epsilon: float
    seeds: int
    alone: SimulatedPlan
    together: SimulatedPlan

    def __repr__(self) -> str:
        times = [
            f"{how} {plan.time:.3g} ({plan.time_se:.2g})"
            + ("" if plan.arrived == 1 else f", {100 * plan.arrived:.0f} % arrived")
            for how, plan in (("alone", self.alone), ("together", self.together))
        ]
        who = self.name or f"client {self.client}"
        return printable(f"Measured({who} at {self.epsilon:.6g}: {'; '.join(times)}; {self.seeds} seeds)")

    def to_dict(self) -> dict[str, Any]:
        answer = {"client": self.client, "name": self.name, "epsilon": self.epsilon, "seeds": self.seeds}
        for how in ("alone", "together"):
            answer |= {name.format(how): getattr(getattr(self, how), field) for name, field in NUMBERS.items()}
        return plain(answer)


def measure(problem: Problem, rows: Sequence[Row], *, seeds: int, root: int) -> list[Measured]:
    """Run the exact plans, then what is guaranteed (or exact again, for single paths), together and alone.

    rows  those of all clients at one precision
    """
    from suffice.simulate import AllForOne, Local, hitting_times

    promised = rows[0].schedules is not None
    found: dict[str, list[dict[str, Any]]] = {}
    epsilon = np.array([row.epsilon for row in rows])
    for how in ("alone", "together"):
        plans = _constant(rows, how)
        if promised:
            algorithm = AllForOne(criterion=_joint(problem, rows)) if how == "together" else Local()
            hitting = [row.both("guaranteed")[how == "alone"].hitting for row in rows]
            etas, expected = ([one[name] for one in hitting] for name in ("eta", "expected_iterations"))
        else:
            algorithm, etas, expected = weights_of(problem, plans), [plan.eta for plan in plans], [None for _ in rows]
        # about how long each takes: what is promised, else the plan's own length
        limit = _limit([plan.iterations or 1 if bound is None else bound for plan, bound in zip(plans, expected)])
        paths: dict[str, Any] = {"eta": still(etas), "limit": limit, "seeds": seeds, "root": root}
        times = hitting_times(problem, algorithm, epsilon=epsilon, **paths)
        ends = excesses(problem, rows, how, seeds=seeds, root=root)
        found[how] = [
            end | _summary(times[:, row.client]) | {"predicted": bound} for row, end, bound in zip(rows, ends, expected)
        ]
    measured = []
    for row, *numbers in zip(rows, *found.values()):
        runs = {how: SimulatedPlan(**some) for how, some in zip(found, numbers)}
        measured.append(Measured(client=row.client, name=row.name, epsilon=row.epsilon, seeds=seeds, **runs))
    return measured


def _constant(rows: Sequence[Row], how: str) -> list[ConstantPlan]:
    """The measured plans, or the exact ones; without any, plans that stand still."""
    own = np.eye(len(rows))
    return [
        row.constant()[how == "alone"] or ConstantPlan(epsilon=row.epsilon, start=np.nan, weights=own[i])
        for i, row in enumerate(rows)
    ]


def weights_of(problem: Problem, plans: Sequence[ConstantPlan]) -> Algorithm:
    """The rule that all the plans follow, each client with its weights and its preconditioner."""
    import torch

    from suffice.simulate.algorithms.fixed_weights import PreconditionedWeights

    identity, own = np.eye(problem.features), np.eye(problem.clients)
    alpha = [plan.weights if plan.eta else alone for plan, alone in zip(plans, own)]
    matrices = [identity if plan.matrix is None else plan.matrix for plan in plans]
    return PreconditionedWeights(
        alpha=torch.from_numpy(np.stack(alpha)), preconditioners=torch.from_numpy(np.stack(matrices))
    )


def still(etas: Sequence[float] | np.ndarray) -> np.ndarray:
    """Steps (N,); a client that takes none does not move visibly."""
    return np.maximum(np.array(etas, dtype=float), 1e-300)


def excesses(problem: Problem, rows: Sequence[Row], how: str, *, seeds: int, root: int) -> list[dict[str, Any]]:
    """Exact and measured mean excess of every client at its own T; nothing of plans that are too long."""
    from suffice.simulate import run

    plans = _constant(rows, how)
    ends = [plan.iterations for plan in plans]
    grid = sorted({end for end in ends if end is not None and end <= LONGEST_SIMULATION})
    if not grid or grid[-1] == 0:
        return [{} for _ in rows]
    algorithm, eta = weights_of(problem, plans), still([plan.eta for plan in plans])
    trace = run(problem, algorithm, iterations=grid[-1], eta=eta, seeds=_fresh(rows, seeds), root=root, grid=grid)
    found: list[dict[str, Any]] = [{} for _ in rows]
    for i, (plan, end) in enumerate(zip(plans, ends)):
        if end in grid:
            exact = None if plan.model else plan.excess
            values = trace.excess[:, grid.index(end), i].astype(float)
            error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
            found[i] = {"iterations": end, "exact": exact, "excess": float(values.mean()), "excess_se": error}
    return found


def _fresh(rows: Sequence[Row], seeds: int) -> range:
    """Seeds of paths other than those that chose the times of measured plans."""
    used = max((plan.seeds for row in rows for plan in row.both("measured") if plan), default=0)
    return range(used, used + seeds)


def multiplications(problem: Problem, rows: Sequence[Row], *, seeds: int) -> float:
    """Of `measure` on all `rows`, at most and by a rough count: gradients of all clients at all models."""
    from suffice.simulate import padded_seeds

    iterations = sum(_limit([_longest(row)]) for row in rows) / problem.clients
    each = problem.clients**2 * (problem.gradient_cost + problem.features)
    return padded_seeds(problem, seeds) * each * iterations


def _joint(problem: Problem, rows: Sequence[Row]) -> Criterion:
    """One criterion for all clients: binary thresholds differ by row of the similarity matrix."""
    import torch

    rules = [row.criterion for row in rows]
    if isinstance(rules[0], Binary):
        thresholds = torch.tensor([getattr(rule, "threshold") for rule in rules], dtype=problem.dtype)  # noqa: B009
        return Binary(threshold=thresholds[:, None])
    return rules[0]


def _longest(row: Row) -> float:
    plans = row.both("exact" if row.schedules is None else "guaranteed")
    return max(float((plan and plan.iterations) or 1) for plan in plans)


def _limit(expected: Iterable[float]) -> int:
    """Ten times the largest predicted mean: by Markov at most a tenth of a valid prediction's paths take longer."""
    return int(np.clip(np.ceil(10 * max(expected)), 10, LONGEST_SIMULATION))


def _summary(times: np.ndarray) -> dict[str, float]:
    arrived = times[np.isfinite(times)]
    spread = arrived.std(ddof=1) / np.sqrt(len(arrived)) if len(arrived) > 1 else float("nan")
    mean = float(arrived.mean()) if len(arrived) else float("nan")
    return {"time": mean, "time_se": float(spread), "arrived": len(arrived) / len(times)}
