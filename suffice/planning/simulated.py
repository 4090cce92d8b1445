"""Hitting times of a plan, measured by simulation beside the predicted ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Binary, Criterion
from suffice.support.numbers import plain
from suffice.support.text import printable

from .plan_row import Row

if TYPE_CHECKING:
    from suffice.simulate import Problem
    from suffice.simulate.algorithms.base import Algorithm

    from .constant_plan import ConstantPlan

LONGEST_SIMULATION = 20_000
"""Iterations after which a simulated path counts as not having arrived."""


@dataclass(frozen=True, kw_only=True)
class SimulatedPlan:
    """What paths of one plan did: their hitting times, and their excess at the plan's end.

    time        mean hitting time of the paths that arrived within the limit, at the step of the schedule that is
                guaranteed, or of the exact rates (at the step at which their E[tau] has a bound, if it has one)
    time_se     its standard error; arrived  the share of these paths: 1 when the mean is complete
    predicted   the bound of E[tau]
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

    @property
    def excess_ratio(self) -> float | None:
        """Measured over exact."""
        return self.excess / self.exact if self.exact and self.excess is not None and np.isfinite(self.excess) else None


_TIMES = {
    "{}": "time", "{}_se": "time_se", "{}_arrived": "arrived", "predicted_{}": "predicted", "ratio_{}": "ratio",
}  # fmt: skip
_ENDS = {"iterations_{}": "iterations", "exact_{}": "exact", "excess_{}": "excess", "excess_{}_se": "excess_se"}
FIELDS = {"alone": _TIMES | _ENDS, "together": _TIMES | _ENDS, "scheduled": _ENDS}
"""Of each plan of `Measured` the numbers in JSON, and their names there."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One client at one precision, over seeds: its plans `alone`, `together` and, in stages, `scheduled`, each at its
    planned step."""

    client: int
    name: str
    epsilon: float
    seeds: int
    alone: SimulatedPlan
    together: SimulatedPlan
    scheduled: SimulatedPlan

    def __repr__(self) -> str:
        times = [
            f"{how} {plan.time:.3g} ({plan.time_se:.2g})"
            + ("" if plan.arrived == 1 else f", {100 * plan.arrived:.0f} % arrived")
            for how, plan in (("alone", self.alone), ("together", self.together))
        ]
        who = self.name or f"client {self.client}"
        return printable(f"Measured({who} at {self.epsilon:.6g}: {'; '.join(times)}; {self.seeds} seeds)")

    def to_dict(self) -> dict[str, Any]:
        known = {"client": self.client, "name": self.name, "epsilon": self.epsilon, "seeds": self.seeds}
        numbers = {
            name.format(how): getattr(getattr(self, how), field)
            for how, names in FIELDS.items()
            for name, field in names.items()
        }
        return plain(known | numbers)


def measure(problem: Problem, rows: Sequence[Row], *, seeds: int, root: int) -> list[Measured]:
    """Run the exact plans, then what is guaranteed (or exact again, for single paths), together and alone.

    rows  those of all clients at one precision
    """
    from suffice.simulate import AllForOne, Local

    found: dict[str, list[dict[str, Any]]] = {"alone": [], "together": [], "scheduled": [{} for _ in rows]}
    if any(row.exact is not None and row.exact.stages for row in rows):
        found["scheduled"] = excesses(problem, rows, "scheduled", seeds=seeds, root=root)
    times, lonely = np.empty(0), rows[0].schedules is not None and _lonely(problem, rows)
    for how in ("alone", "together"):
        if rows[0].schedules is not None:
            algorithm = AllForOne(criterion=_joint(problem, rows)) if how == "together" else Local()
            hitting = [_promised(row, how).hitting for row in rows]
            etas, expected = ([one[name] for one in hitting] for name in ("eta", "expected_iterations"))
        else:
            plans = [_followed(row, how) for row in rows]
            algorithm = weights_of(problem, plans)
            bounds = [None if plan is None else plan.long_run.hitting for plan in plans]
            etas = [_eta(plan) if bound is None else bound["eta"] for plan, bound in zip(plans, bounds)]
            expected = [None if bound is None else bound["expected_iterations"] for bound in bounds]
        if how == "alone" or not lonely:
            times = _hitting(problem, algorithm, rows, etas, _guess(rows, how, expected), seeds=seeds, root=root)
        ends = excesses(problem, rows, how, seeds=seeds, root=root)
        found[how] = [
            end | _summary(times[:, row.client]) | {"predicted": bound} for row, end, bound in zip(rows, ends, expected)
        ]
    return [
        Measured(
            client=row.client,
            name=row.name,
            epsilon=row.epsilon,
            seeds=seeds,
            **{how: SimulatedPlan(**numbers[at]) for how, numbers in found.items()},
        )
        for at, row in enumerate(rows)
    ]


def _lonely(problem: Problem, rows: Sequence[Row]) -> bool:
    """Whether All-for-one as planned is local steps: only a peer with the same gradient would be followed."""
    for row in rows:
        together, alone = (_promised(row, how).hitting["eta"] for how in ("together", "alone"))
        # the same up to rounding
        if abs(together - alone) > 1e-12 * alone or getattr(row.sufficient.criterion, "threshold", 0.0) < 1:
            return False
    gap = problem.gradient_gap(problem.start[None])[0]
    return int((gap > 0).sum()) == gap.numel() - len(gap)


def _promised(row: Row, how: str) -> Any:
    return row.local if how == "alone" else row.schedules


def _followed(row: Row, how: str) -> ConstantPlan | None:
    """The measured plan, or the exact one."""
    together, alone = row.plans.get("measured") or row.plans.get("exact") or (None, None)
    return alone if how == "alone" else together


def _eta(plan: ConstantPlan | None) -> float:
    return 0.0 if plan is None else plan.eta


def weights_of(problem: Problem, plans: Sequence[ConstantPlan | None]) -> Algorithm:
    """The rule that all the plans follow, each client with its weights and its preconditioner."""
    import torch

    from suffice.simulate.algorithms.fixed_weights import PreconditionedWeights

    identity, alone = np.eye(problem.features), np.eye(problem.clients)
    return PreconditionedWeights(
        alpha=torch.from_numpy(
            np.stack([own if plan is None or not plan.eta else plan.weights for plan, own in zip(plans, alone)])
        ),
        preconditioners=torch.from_numpy(
            np.stack([identity if plan is None or plan.matrix is None else plan.matrix for plan in plans])
        ),
    )


def _stages_of(problem: Problem, plans: Sequence[ConstantPlan | None]) -> tuple[Algorithm, Any]:
    """The rule and its step sizes by iteration: each client's stages, or its constant plan as the only one."""
    import torch

    from suffice.simulate.algorithms.fixed_weights import StagedWeights

    base: Any = weights_of(problem, plans)
    most = max(len(plan.stages) for plan in plans if plan is not None)
    alpha = base.alpha.repeat(most, 1, 1)
    ends, etas = np.zeros((2, most, len(plans)))
    for i, plan in enumerate(plans):
        ends[:, i] = 0 if plan is None else plan.scheduled or 0
        etas[:, i] = _eta(plan)
        for j, stage in enumerate(() if plan is None or not plan.stages else plan.stages):
            alpha[j, i], etas[j, i] = torch.from_numpy(stage.weights), stage.eta
            ends[j, i] = sum(one.iterations for one in plan.stages[: j + 1]) if plan is not None else 0
    everyone = np.arange(len(plans))

    def eta(t: int) -> np.ndarray:
        stage = (t > ends).sum(0)
        return still(np.where(stage < most, etas[np.minimum(stage, most - 1), everyone], 0.0))

    rule = StagedWeights(
        alpha=base.alpha, preconditioners=base.preconditioners, stages=alpha, ends=torch.from_numpy(ends)
    )
    return rule, eta


def still(etas: Sequence[float] | np.ndarray) -> np.ndarray:
    """Steps (N,); a client that takes none does not move visibly."""
    return np.maximum(np.array(etas, dtype=float), 1e-300)


def excesses(problem: Problem, rows: Sequence[Row], how: str, *, seeds: int, root: int) -> list[dict[str, Any]]:
    """Exact and measured mean excess of every client at its own T; nothing of plans that are too long."""
    from suffice.simulate import run

    plans, staged = [_followed(row, how) for row in rows], how == "scheduled"
    ends = [None if plan is None else plan.scheduled if staged else plan.iterations for plan in plans]
    grid = sorted({end for end in ends if end is not None and end <= LONGEST_SIMULATION})
    if not grid or grid[-1] == 0:
        return [{} for _ in rows]
    constant = weights_of(problem, plans), still([_eta(plan) for plan in plans])
    algorithm, eta = _stages_of(problem, plans) if staged else constant
    trace = run(problem, algorithm, iterations=grid[-1], eta=eta, seeds=_fresh(rows, seeds), root=root, grid=grid)
    found = []
    for row, plan, end in zip(rows, plans, ends):
        if plan is None or end not in grid:
            found.append({})
            continue
        last = plan.last.end if staged else plan.end
        exact = last.value if last.kind == "exact" else None
        values = trace.excess[:, grid.index(end), row.client].astype(float)
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
        mean = float(values.mean())
        found.append({"iterations": end, "exact": exact, "excess": mean, "excess_se": error})
    return found


Curves = dict[str, tuple[np.ndarray, np.ndarray]]
"""Two curves of each client, by its name."""


def paths(problem: Problem, rows: Sequence[Row], *, seeds: int, root: int = 0) -> tuple[Curves, Curves]:
    """By client the tenth and nine tenths of paths with peers at t = 0, 1, ..., to twice the longest plan, and the mean
    excess with peers and alone where plans are measured; the mean of exact plans is known, and not simulated."""
    from suffice.simulate import run

    measured, excess = rows[0].measured is not None, []
    for how in ("together", "alone") if measured else ("together",):
        plans = [_followed(row, how) for row in rows]
        trace = run(
            problem, weights_of(problem, plans), iterations=followed(rows), eta=still([_eta(plan) for plan in plans]),
            seeds=_fresh(rows, seeds), root=root,
        )  # fmt: skip
        excess.append(trace.excess.astype(float))
    ends = np.quantile(excess[0], [0.1, 0.9], axis=0)
    bands = {row.name: (ends[0, :, row.client], ends[1, :, row.client]) for row in rows}
    if not measured:
        return bands, {}
    together, alone = (one.mean(0) for one in excess)
    return bands, {row.name: (together[:, row.client], alone[:, row.client]) for row in rows}


def _fresh(rows: Sequence[Row], seeds: int) -> range:
    """Seeds of paths other than those that chose the times of measured plans."""
    used = max((plan.seeds for row in rows for plan in row.plans.get("measured", ())), default=0)
    return range(used, used + seeds)


def path_work(problem: Problem, rows: Sequence[Row], seeds: int) -> float:
    """Multiplications of `paths`."""
    return float(seeds) * followed(rows) * problem.clients**2 * (problem.gradient_cost + problem.features)


def followed(rows: Sequence[Row]) -> int:
    """Twice the longest plan that is drawn."""
    alone = ("alone",) if rows[0].measured is not None else ()  # drawn from paths, too
    plans = [_followed(row, how) for row in rows for how in ("together", *alone)]
    longest = max(1 if plan is None else plan.iterations or 1 for plan in plans)
    return min(2 * longest, LONGEST_SIMULATION)


def _guess(rows: Sequence[Row], how: str, expected: Sequence[float | None]) -> list[float]:
    """About how long each takes: what is promised, else the exact plan's own length."""
    plans = [_followed(row, how) for row in rows]
    known = [float(1 if plan is None else plan.iterations or 1) for plan in plans]
    return [one if bound is None else bound for one, bound in zip(known, expected)]


def _hitting(
    problem: Problem, algorithm: Algorithm, rows: Sequence[Row], etas: Sequence[float], expected: Sequence[float],
    *, seeds: int, root: int,
) -> np.ndarray:  # fmt: skip
    from suffice.simulate import hitting_times

    return hitting_times(
        problem,
        algorithm,
        epsilon=np.array([row.epsilon for row in rows]),
        eta=still(etas),
        limit=_limit(expected),
        seeds=seeds,
        root=root,
    )


def multiplications(problem: Problem, rows: Sequence[Row], *, seeds: int) -> float:
    """Of `measure` on all `rows`, at most and by a rough count: gradients of all clients at all models."""
    from suffice.simulate import padded_seeds

    iterations = sum(_limit([_longest(row)]) for row in rows) / problem.clients
    each = problem.clients**2 * (problem.gradient_cost + problem.features)
    return padded_seeds(problem, seeds) * each * iterations


def _joint(problem: Problem, rows: Sequence[Row]) -> Criterion:
    """One criterion for all clients: binary thresholds differ by row of the similarity matrix."""
    import torch

    rules = [row.sufficient.criterion for row in rows]
    if isinstance(rules[0], Binary):
        thresholds = torch.tensor([getattr(rule, "threshold") for rule in rules], dtype=problem.dtype)  # noqa: B009
        return Binary(threshold=thresholds[:, None])
    return rules[0]


def _longest(row: Row) -> float:
    plans = row.plans.get("guaranteed") or row.plans.get("exact") or ()
    return max((float(plan.time.value or 1) for plan in plans), default=1.0)


def _limit(expected: Iterable[float]) -> int:
    """Ten times the largest predicted mean: by Markov at most a tenth of a valid prediction's paths take longer."""
    return int(np.clip(np.ceil(10 * max(expected)), 10, LONGEST_SIMULATION))


def _summary(times: np.ndarray) -> dict[str, float]:
    arrived = times[np.isfinite(times)]
    spread = arrived.std(ddof=1) / np.sqrt(len(arrived)) if len(arrived) > 1 else float("nan")
    mean = float(arrived.mean()) if len(arrived) else float("nan")
    return {"time": mean, "time_se": float(spread), "arrived": len(arrived) / len(times)}
