"""A plan on simulated paths: the mean excess at its end, and hitting times where a theorem bounds these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Binary, Criterion
from suffice.support.numbers import plain
from suffice.support.tables import number
from suffice.support.text import printable

from .client_plan import ClientPlan
from .constant_plan import ConstantPlan

if TYPE_CHECKING:
    from suffice.simulate import Problem

LONGEST_SIMULATION = 20_000
"""Iterations after which a simulated path counts as not having arrived."""
KEPT = 2e7
"""Excesses held at once."""


@dataclass(frozen=True, kw_only=True)
class SimulatedPlan:
    """The results of simulated paths of one plan; None marks one that does not exist.

    iterations  T of the exact or measured plan; exact  E e_T there [loss], which measured plans do not have
    excess      the mean over the seeds there [loss], of paths that did not choose T; excess_se  its standard error
    predicted   a theorem's bound of E[tau], at the step of its schedule
    time        at that step the mean hitting time of the paths that arrived within the limit; time_se  its standard
                error; arrived  the share of these paths: 1 when the mean is complete
    """

    iterations: int | None = None
    exact: float | None = None
    excess: float | None = None
    excess_se: float | None = None
    predicted: float | None = None
    time: float | None = None
    time_se: float | None = None
    arrived: float | None = None

    def __str__(self) -> str:
        what = "time" if self.excess is None else "excess"
        mean, error = (getattr(self, name) for name in (what, f"{what}_se"))
        return f"{what} {number(mean)} ({number(error, 2)})"

    @property
    def ratio(self) -> float | None:
        """Measured over predicted: at most about 1 where the prediction, a bound of the mean, holds."""
        known = self.predicted and self.time is not None and np.isfinite(self.time)
        return self.time / self.predicted if known else None


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
        told = f"{self.epsilon:.6g}: alone {self.alone}; together {self.together}; {self.seeds} seeds"
        return printable(f"Measured({self.name or f'client {self.client}'} at {told})")

    def to_dict(self) -> dict[str, Any]:
        answer = {"client": self.client, "name": self.name, "epsilon": self.epsilon, "seeds": self.seeds}
        for how in ("alone", "together"):
            answer |= {name.format(how): getattr(getattr(self, how), field) for name, field in NUMBERS.items()}
        return plain(answer)


def measure(problem: Problem, rows: Sequence[ClientPlan], *, seeds: int, root: int) -> list[Measured]:
    """Run the exact or measured plans, and what is guaranteed, with peers and alone.

    rows  those of all clients at one precision
    """
    from suffice.simulate import AllForOne, Local, hitting_times

    found: list[list[dict[str, Any]]] = []
    epsilon = np.array([row.epsilon for row in rows])
    for at in (0, 1):
        found.append(_ends(problem, rows, at, seeds=seeds, root=root))
        if rows[0].schedules is None:
            continue
        algorithm = Local() if at or _lonely(problem, rows) else AllForOne(criterion=_joint(problem, rows))
        hitting = [row.both("guaranteed")[at].hitting for row in rows]
        etas, bounds = ([one[name] for one in hitting] for name in ("eta", "expected_iterations"))
        # ten times the largest predicted mean: by Markov at most a tenth of a valid prediction's paths take longer
        limit = int(np.clip(np.ceil(10 * max(bounds)), 10, LONGEST_SIMULATION))
        paths: dict[str, Any] = {"eta": positive_steps(etas), "limit": limit, "seeds": seeds, "root": root}
        times = hitting_times(problem, algorithm, epsilon=epsilon, **paths)
        for row, known, bound in zip(rows, found[-1], bounds):
            known |= _summary(times[:, row.client]) | {"predicted": bound}
    return [
        Measured(
            client=row.client,
            name=row.name,
            epsilon=row.epsilon,
            seeds=seeds,
            together=SimulatedPlan(**together),
            alone=SimulatedPlan(**alone),
        )
        for row, together, alone in zip(rows, *found)
    ]


def positive_steps(etas: Sequence[float] | np.ndarray) -> np.ndarray:
    """Steps (N,); a client that takes none does not move visibly."""
    return np.maximum(np.array(etas, dtype=float), 1e-300)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # steps that are not stable; a single path
def mean_excess(
    problem: Problem, plans: Sequence[ConstantPlan], times: Sequence[int], seeds: range, root: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Mean excess of every client at the times over simulated paths and its standard error, (len(times), N)."""
    import torch

    from suffice.simulate import run
    from suffice.simulate.algorithms.fixed_weights import PreconditionedWeights

    identity, own = np.eye(problem.features), np.eye(problem.clients)
    alpha = np.stack([plan.weights if plan.eta else alone for plan, alone in zip(plans, own)])
    matrices = np.stack([identity if plan.matrix is None else plan.matrix for plan in plans])
    rule = PreconditionedWeights(alpha=torch.from_numpy(alpha), preconditioners=torch.from_numpy(matrices))
    part, many = max(1, int(KEPT / (len(times) * problem.clients))), len(seeds)
    eta = positive_steps([plan.eta for plan in plans])
    origin = total = squares = np.zeros(())
    for first in range(0, many, part):
        paths: dict[str, Any] = {"seeds": seeds[first : first + part], "root": root, "grid": times}
        values = run(problem, rule, iterations=times[-1], eta=eta, **paths).excess.astype(float)
        origin = values.mean(0) if first == 0 else origin  # squares about 0 would lose digits
        total, squares = total + (values - origin).sum(0), squares + ((values - origin) ** 2).sum(0)
    shift = total / many
    variance = np.maximum(squares - many * shift**2, 0) / np.float64(many - 1)
    return origin + shift, np.sqrt(variance / many)


def first_below(curve: np.ndarray, epsilon: float) -> int | None:
    """The first t at which the curve is at most epsilon; None where it never is."""
    below = curve <= epsilon
    return int(np.argmax(below)) if below.any() else None


def _ends(problem: Problem, rows: Sequence[ClientPlan], at: int, *, seeds: int, root: int) -> list[dict[str, Any]]:
    """Exact and measured mean excess of every client at its own T, with peers (`at` 0) or alone (1); nothing of plans
    that are too long. Paths are others than those that chose the times of measured plans."""
    plans, found = [row.constant()[at] for row in rows], [dict[str, Any]() for _ in rows]
    ends = [None if plan is None else plan.iterations for plan in plans]
    times = sorted({end for end in ends if end is not None and end <= LONGEST_SIMULATION})
    if not times or times[-1] == 0:
        return found
    used = max(plan.seeds for row in rows for plan in row.constant())
    mean, error = mean_excess(problem, plans, times, range(used, used + seeds), root)
    for i, (plan, end) in enumerate(zip(plans, ends)):
        if end in times:
            measured = {"excess": float(mean[times.index(end), i]), "excess_se": float(error[times.index(end), i])}
            found[i] = {"iterations": end, "exact": None if plan.model else plan.excess} | measured
    return found


def _lonely(problem: Problem, rows: Sequence[ClientPlan]) -> bool:
    """Whether All-for-one equals local steps, which are faster: thresholds are 1, and no starting gradients agree."""
    gap = problem.gradient_gap(problem.start[None])[0]
    apart = int((gap > 0).sum()) == gap.numel() - len(gap)
    return apart and all(getattr(row.criterion, "threshold", 0.0) >= 1 for row in rows)


def _joint(problem: Problem, rows: Sequence[ClientPlan]) -> Criterion:
    """One criterion for all clients: binary thresholds differ by row of the similarity matrix."""
    rules = [row.criterion for row in rows]
    if isinstance(rules[0], Binary):
        thresholds = problem.start.new_tensor([getattr(rule, "threshold") for rule in rules])  # noqa: B009
        return Binary(threshold=thresholds[:, None])
    return rules[0]


def _summary(times: np.ndarray) -> dict[str, float]:
    arrived = times[np.isfinite(times)]
    spread = arrived.std(ddof=1) / np.sqrt(len(arrived)) if len(arrived) > 1 else float("nan")
    mean = float(arrived.mean()) if len(arrived) else float("nan")
    return {"time": mean, "time_se": float(spread), "arrived": len(arrived) / len(times)}
