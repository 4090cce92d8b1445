"""Hitting times of a plan, measured by simulation beside the predicted ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Binary, Criterion, Row, printable

if TYPE_CHECKING:
    from suffice.simulate import Problem

LONGEST_SIMULATION = 20_000
"""Iterations after which a simulated path counts as not having arrived."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Hitting times of one client at one precision, over seeds: alone and together, each at its planned step.

    Means are over the paths that arrived within the limit; `arrived` is their share (1 when the mean is complete).
    """

    client: int
    epsilon: float
    alone: float
    alone_se: float
    alone_arrived: float
    together: float
    together_se: float
    together_arrived: float
    seeds: int
    predicted_alone: float | None = None
    predicted_together: float | None = None
    name: str = ""

    @property
    def ratio_alone(self) -> float | None:
        """Measured over predicted: at most about 1 where the prediction, a bound of the mean, holds."""
        return _ratio(self.alone, self.predicted_alone)

    @property
    def ratio_together(self) -> float | None:
        return _ratio(self.together, self.predicted_together)

    def __repr__(self) -> str:
        times = [
            f"{name} {getattr(self, name):.3g} ({getattr(self, f'{name}_se'):.2g})"
            + ("" if (share := getattr(self, f"{name}_arrived")) == 1 else f", {100 * share:.0f} % arrived")
            for name in ("alone", "together")
        ]
        who = self.name or f"client {self.client}"
        return printable(f"Measured({who} at {self.epsilon:.6g}: {'; '.join(times)}; {self.seeds} seeds)")

    def to_dict(self) -> dict[str, Any]:
        return vars(self) | {"ratio_alone": self.ratio_alone, "ratio_together": self.ratio_together}


def measure(problem: Problem, rows: Sequence[Row], *, seeds: int, root: int) -> list[Measured]:
    """Run All-for-one as planned, and every client alone; `rows` are those of all clients at one precision."""
    from suffice.simulate import AllForOne, Local, hitting_times

    algorithms = {"together": AllForOne(criterion=_joint(problem, rows)), "alone": Local()}
    schedules = {"together": [row.schedules.hitting for row in rows], "alone": [row.local.hitting for row in rows]}
    times = {
        name: hitting_times(
            problem,
            algorithm,
            epsilon=rows[0].epsilon,
            eta=np.array([schedule["eta"] for schedule in schedules[name]]),
            limit=_limit(schedule["expected_iterations"] for schedule in schedules[name]),
            seeds=seeds,
            root=root,
        )
        for name, algorithm in algorithms.items()
    }
    return [
        Measured(
            client=row.client,
            epsilon=row.epsilon,
            **_summary("alone", times["alone"][:, row.client]),
            **_summary("together", times["together"][:, row.client]),
            seeds=seeds,
            predicted_alone=row.local.hitting["expected_iterations"],
            predicted_together=row.schedules.hitting["expected_iterations"],
            name=row.name,
        )
        for row in rows
    ]


def multiplications(problem: Problem, rows: Sequence[Row], *, seeds: int) -> float:
    """Of `measure` on all `rows`, at most and by a rough count: gradients of all clients at all models."""
    from suffice.simulate import padded_seeds

    iterations = sum(_limit([_longest(row)]) for row in rows) / problem.clients
    each = problem.clients**2 * (problem.gradient_cost + problem.features)
    return padded_seeds(problem, seeds) * each * iterations


def _joint(problem: Problem, rows: Sequence[Row]) -> Criterion:
    """One criterion for all clients: binary thresholds differ by row of the similarity matrix."""
    import torch

    if isinstance(rows[0].criterion, Binary):
        thresholds = torch.tensor([getattr(row.criterion, "threshold") for row in rows], dtype=problem.dtype)  # noqa: B009
        return Binary(threshold=thresholds[:, None])
    return rows[0].criterion


def _longest(row: Row) -> float:
    return max(row.schedules.hitting["expected_iterations"] or 0.0, row.local.hitting["expected_iterations"] or 0.0)


def _limit(expected: Iterable[float]) -> int:
    """Ten times the largest predicted mean: by Markov at most a tenth of a valid prediction's paths take longer."""
    return int(np.clip(np.ceil(10 * max(expected)), 10, LONGEST_SIMULATION))


def _ratio(measured: float, predicted: float | None) -> float | None:
    return measured / predicted if predicted and np.isfinite(measured) else None


def _summary(name: str, times: np.ndarray) -> dict[str, Any]:
    arrived = times[np.isfinite(times)]
    spread = arrived.std(ddof=1) / np.sqrt(len(arrived)) if len(arrived) > 1 else float("nan")
    return {
        name: float(arrived.mean()) if len(arrived) else float("nan"),
        f"{name}_se": float(spread),
        f"{name}_arrived": len(arrived) / len(times),
    }
