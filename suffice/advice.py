"""`plan`: from a problem or constants to a plan that can be read by client, and tried out by simulation."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import Constants, Criterion, InputError, Row, named
from bounds import plan as plan_constants
from bounds.method_plan import MethodPlan
from bounds.methods import MOST_CLIENTS, compare
from bounds.paying import Paying, stops_paying

if TYPE_CHECKING:
    from figures import Figure
    from simulate import Problem

    from .client_numbers import ClientNumbers
    from .method_runs import MethodRun
    from .stability import Stability

LONGEST_SIMULATION = 20_000
"""Iterations after which a simulated path counts as not having arrived."""
MOST_SEEDS = 1_000_000
MOST_WORK = 1e12
"""Multiplications of a simulation, by a rough count: most of an hour on one core."""


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
        return f"Measured({who} at {self.epsilon:.6g}: {'; '.join(times)}; {self.seeds} seeds)"

    def to_dict(self) -> dict[str, Any]:
        return vars(self) | {"ratio_alone": self.ratio_alone, "ratio_together": self.ratio_together}


class Rows(tuple[Row, ...]):
    """The rows of one client, one per precision, in the order in which the precisions were given."""

    def __getattr__(self, name: str) -> Any:
        # an AttributeError, not an InputError: hasattr must go on working
        if name.startswith("__") or (not hasattr(Row, name) and name not in Row.__dataclass_fields__):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        who, count = self[0].name, len(self)
        raise AttributeError(
            f"the plan has {count} precisions, so plan[{who!r}] has {count} rows: choose one, "
            f"as plan[{who!r}][0].{name}, or go through them"
        )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Rows for every client and precision. `plan["name"]` is a row (or a tuple of rows, one per precision).

    `print(plan)` shows the table of `suffice plan`.
    """

    rows: tuple[Row, ...]
    problem: Problem | None = None
    constants: Constants | None = None
    criterion: Criterion | None = None

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Any:
        found = Rows(row for row in self.rows if row.name == str(name))
        if not found:
            names = list(dict.fromkeys(row.name for row in self.rows))
            near = difflib.get_close_matches(str(name), names, n=1)
            raise InputError("client", name, f"did you mean {near[0]}?" if near else f"clients: {', '.join(names)}")
        return found[0] if len(found) == 1 else found

    def __repr__(self) -> str:
        clients = len({row.client for row in self.rows})
        precisions = ", ".join(f"{epsilon:.6g}" for epsilon in dict.fromkeys(row.epsilon for row in self.rows))
        source = "constants" if self.problem is None else type(self.problem).__name__
        return f"Plan({clients} clients at {precisions}; from {source}; print it for the table)"

    def __str__(self) -> str:
        from .cli.plan_tables import plan_text

        return plan_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from bounds.html import number, table, text

        rows = [
            (
                text(row.name),
                number(row.epsilon),
                text(", ".join(row.collaborators) or "nobody"),
                number(row.schedules.hitting["eta"]),
                number(row.local.hitting["expected_iterations"]),
                number(row.schedules.hitting["expected_iterations"]),
                number(row.speedup, 3),
            )
            for row in self.rows
        ]
        columns = ("client", "precision", "collaborates with", "step", "alone at most", "together at most", "speed-up")
        return table(columns, rows, caption="Expected iterations to an excess below the precision; stopped guarantees")

    def to_dict(self) -> dict[str, Any]:
        """The object of `suffice plan --json`."""
        return {"clients": [row.to_dict() for row in self.rows]}

    def plot(self, path: str | Path | None = None) -> Figure:
        """Who collaborates with whom, and the predicted curves: a figure that a notebook shows.

        With `path`, also written there: one .pdf, .png or .svg file, or a folder, which gets the data too. Raises
        `InputError`.
        """
        from figures.plan import plan_figure

        from .plan_files import write_figure

        drawn = plan_figure(self.rows, self.constants)
        if path is not None:
            write_figure(Path(path), drawn)
        return drawn

    def methods(self, method: str | None = None, *, alpha: float = 0.5) -> list[MethodPlan]:
        """Every method's plan for the network (or one method's) and the lower bound; `alpha` is Scafflix's weight."""
        from .networks import network

        known = self._known()
        return compare(network(self.problem or known, known, alpha=alpha), self.rows, method=method, alpha=alpha)

    def stops_paying(self) -> list[Paying]:
        """For each client the largest precision below which peers do not make it faster."""
        return stops_paying(self._known(), criterion=self.criterion)

    def stability(
        self, *, resamples: int = 50, root: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> list[Stability]:
        """How often each peer is in each cluster when the clients' rows are resampled; for plans from data."""
        from .stability import bootstrap

        return bootstrap(
            self._rows_behind(), self.rows, criterion=self.criterion, resamples=resamples, root=root, progress=progress
        )

    def numbers(
        self, *, resamples: int = 0, root: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> ClientNumbers:
        """What the data say of each client and pair, with trust and, by `resamples`, intervals; for plans from data."""
        from .client_numbers import known_numbers

        problem: Any = self._rows_behind("numbers")
        return known_numbers(problem, resamples=resamples, root=root, progress=progress)

    def uncertainty(
        self, *, resamples: int = 50, root: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> tuple[list[Stability], ClientNumbers]:
        """`stability` and `numbers` from the same resamples."""
        from .client_numbers import Intervals, numbers_with
        from .resampling import check_resamples, resampled
        from .stability import Tally

        problem = self._rows_behind()
        check_resamples("bootstrap", resamples, 2)
        tally, intervals = Tally(self.rows, self.criterion), Intervals()
        for again, constants in resampled(
            problem, resamples=resamples, root=root, field="bootstrap", progress=progress
        ):
            tally.add(constants)
            intervals.add(again, constants)
        return tally.result(resamples), numbers_with(problem, intervals)

    def check_rows(self, field: str) -> None:
        """Raise `InputError` on `field` unless the plan is from data."""
        self._rows_behind(field)

    def _rows_behind(self, field: str = "bootstrap") -> Problem:
        if self.problem is None or not hasattr(self.problem, "data"):
            kind = "constants" if self.problem is None else type(self.problem).__name__
            what = "there are no rows to resample" if field == "bootstrap" else "there are no rows behind it"
            raise InputError(field, kind, f"{what}; it needs client data")
        return self.problem

    @property
    def comparable(self) -> bool:
        """Whether the network is small enough to compare all methods at once, in seconds."""
        return self._known().clients <= MOST_CLIENTS

    def _known(self) -> Constants:
        if self.constants is None:
            raise InputError("constants", "missing", "build the plan with suffice.plan")
        return self.constants

    def simulate(
        self, *, seeds: int = 256, root: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> list[Measured]:
        """Run All-for-one as planned, and every client alone, on the same problem; one entry per row.

        Similarities are exact (from population gradients), steps are those of the hitting schedule.
        Raises `InputError`, also where that would take hours.
        """
        if not isinstance(seeds, int) or not 1 <= seeds <= MOST_SEEDS:
            raise InputError("seeds", seeds, f"give a number of seeds from 1 to {MOST_SEEDS}")
        if self.problem is None:
            raise InputError("problem", "constants", "constants alone cannot be simulated; plan from a problem or data")
        work = self.simulation_work(seeds)
        if work > MOST_WORK:
            raise InputError(
                "simulate", f"about {work:.0e} multiplications", "give fewer seeds, larger precisions or fewer rows"
            )
        results = []
        precisions = list(dict.fromkeys(row.epsilon for row in self.rows))
        for done, epsilon in enumerate(precisions):
            results.extend(_measure(self.problem, [row for row in self.rows if row.epsilon == epsilon], seeds, root))
            if progress is not None:
                progress(done + 1, len(precisions))
        return results

    def simulation_work(self, seeds: int) -> float:
        """Multiplications of `simulate` at most, by a rough count; 0 without a problem. One core does 1e9 a second."""
        if self.problem is None:
            return 0.0
        iterations = sum(_limit([_longest(row)]) for row in self.rows) / self.problem.clients
        return lanes(self.problem, seeds) * _work(self.problem) * iterations

    def simulate_methods(
        self,
        methods: Sequence[MethodPlan],
        measured: Sequence[Measured],
        *,
        seeds: int = 256,
        root: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[MethodRun]:
        """Run every method of `methods` that applies for its planned rounds; `measured` is what `simulate` gave.

        CoBo runs with the weights of the planned clusters, as its theorem assumes.
        """
        from .method_runs import run_methods

        if self.problem is None:
            raise InputError("problem", "constants", "constants alone cannot be simulated; plan from a problem or data")
        return run_methods(self.problem, self._known(), methods, measured, seeds=seeds, root=root, progress=progress)


def plan(
    source: Problem | Constants,
    epsilon: float | Sequence[float],
    *,
    criterion: Criterion | str | None = None,
    horizon: int | None = None,
    confidence: float | None = None,
) -> Plan:
    """Who collaborates with whom at which step, per client and precision; arguments as in `bounds.plan`.

    `source` is a problem (quadratics, least squares on data) or its constants.
    """
    if not isinstance(source, Constants) and not hasattr(source, "constants"):
        raise InputError("source", source, "give a problem (sf.read, sf.Quadratics.of) or sf.Constants")
    constants = source if isinstance(source, Constants) else source.constants()
    rows = plan_constants(constants, epsilon, criterion=criterion, horizon=horizon, confidence=confidence)
    return Plan(
        rows=tuple(rows),
        problem=None if isinstance(source, Constants) else source,
        constants=constants,
        criterion=_chosen(criterion),
    )


def _chosen(criterion: Criterion | str | None) -> Criterion | None:
    return named(criterion) if isinstance(criterion, str) else criterion


def _measure(problem: Problem, rows: list[Row], seeds: int, root: int) -> list[Measured]:
    from simulate import AllForOne, Local, hitting_times

    epsilon = rows[0].epsilon
    together = hitting_times(
        problem,
        AllForOne(criterion=_joint(problem, rows)),
        epsilon=epsilon,
        eta=np.array([row.schedules.hitting["eta"] for row in rows]),
        limit=_limit(row.schedules.hitting["expected_iterations"] for row in rows),
        seeds=seeds,
        root=root,
    )
    alone = hitting_times(
        problem,
        Local(),
        epsilon=epsilon,
        eta=np.array([row.local.hitting["eta"] for row in rows]),
        limit=_limit(row.local.hitting["expected_iterations"] for row in rows),
        seeds=seeds,
        root=root,
    )
    return [
        Measured(
            client=row.client,
            epsilon=epsilon,
            **_summary("alone", alone[:, row.client]),
            **_summary("together", together[:, row.client]),
            seeds=seeds,
            predicted_alone=row.local.hitting["expected_iterations"],
            predicted_together=row.schedules.hitting["expected_iterations"],
            name=row.name,
        )
        for row in rows
    ]


def _joint(problem: Problem, rows: list[Row]) -> Criterion:
    """One criterion for all clients: binary thresholds differ by row of the similarity matrix."""
    import torch

    from bounds import Binary

    if isinstance(rows[0].criterion, Binary):
        thresholds = torch.tensor([getattr(row.criterion, "threshold") for row in rows], dtype=problem.dtype)  # noqa: B009
        return Binary(threshold=thresholds[:, None])
    return rows[0].criterion


def _ratio(measured: float, predicted: float | None) -> float | None:
    return measured / predicted if predicted and np.isfinite(measured) else None


def lanes(problem: Problem, seeds: int) -> int:
    """Seeds that run: blocks always run whole."""
    from simulate import block_size

    size = block_size(problem.clients, problem.features, problem.dtype)
    return -(-seeds // size) * size


def _longest(row: Row) -> float:
    return max(row.schedules.hitting["expected_iterations"] or 0.0, row.local.hitting["expected_iterations"] or 0.0)


def _work(problem: Any) -> float:
    """Multiplications of one iteration of one seed: gradients of all clients at all models."""
    rows = getattr(problem, "data", None)
    quadratic = hasattr(problem, "A")
    one = problem.features**2 if quadratic or rows is None else problem.features * float(rows.counts.double().mean())
    return problem.clients**2 * (one + problem.features)


def _limit(expected: Iterator[float] | Any) -> int:
    """Ten times the largest predicted mean: by Markov at most a tenth of a valid prediction's paths take longer."""
    return int(np.clip(np.ceil(10 * max(expected)), 10, LONGEST_SIMULATION))


def _summary(name: str, times: np.ndarray) -> dict[str, Any]:
    arrived = times[np.isfinite(times)]
    spread = arrived.std(ddof=1) / np.sqrt(len(arrived)) if len(arrived) > 1 else float("nan")
    return {
        name: float(arrived.mean()) if len(arrived) else float("nan"),
        f"{name}_se": float(spread),
        f"{name}_arrived": len(arrived) / len(times),
    }
