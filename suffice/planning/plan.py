"""`plan`: from a problem or constants to a plan that can be read by client, and tried out by simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants, Criterion, named
from suffice.support.errors import InputError
from suffice.support.frames import to_frame
from suffice.support.memory import MAX_MEMORY, Memory
from suffice.support.numbers import as_choice, as_whole, plain
from suffice.support.parse import nearest
from suffice.support.pictures import Picture, draw
from suffice.support.tables import Table

from .client_plan import KINDS, ClientPlan
from .constant_prediction import constant_excess, started
from .guaranteed.fixed_weights import all_for_all_of_components
from .logistic_plan import measured_curves, with_measured
from .plan_rows import planned_rows
from .precision import precisions
from .simulated import Measured, measure
from .tables.answer import answer
from .tables.plans import constant_table, noted_table, plan_table, sentence, stages_table

if TYPE_CHECKING:
    from suffice.simulate import Problem
    from suffice.simulate.data.encoding import Coordinates

    Fitted = Any  # `suffice.Fit`, whose `quadratics` can be planned for

OF_A_FIT = "Units: the target's variance over all rows; the start is 0, the mean of all targets; the goal, the fit."
OF_ROWS = "A plan counts iterations to the optimum of the given rows; suffice fit judges new rows."
NO_ROUNDS = "Least squares needs no rounds: one message of sums from each client gives every model (suffice fit)."
SERVED = "At {} of {} clients a constant model reaches eps: there is nothing to plan."
THERE = "Nothing to plan: every start is there already (0 iterations)."


def planned_for(problem: Problem | None, field: str) -> Any:
    """The problem of a plan; `InputError` about `field` where there is none."""
    if problem is None:
        raise InputError(field, "constants", "constants alone run nothing; plan from a problem or data")
    return problem


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan has rows for every client and precision. `plan["name"]` is a row (or a tuple of rows, one per precision).

    `print(plan)` shows the table of `suffice plan`, and iteration goes through `rows`.

    precisions  the rows of all clients at each precision, in the order in which these were given
    problem     what was planned for, from the start of the plan
    gradients   "plain", or "preconditioned" where clients may multiply them by a matrix
    """

    precisions: Mapping[float | str, tuple[ClientPlan, ...]]
    problem: Problem | None = None
    constants: Constants | None = None
    criterion: Criterion | None = None
    notes: tuple[str, ...] = ()
    gradients: str = "preconditioned"

    @property
    def coordinates(self) -> Coordinates | None:
        """The columns that coefficients multiply, in order, and the target; None of a problem without columns."""
        return getattr(self.problem, "coordinates", None)

    @property
    def start(self) -> np.ndarray:
        """Where the clients' models start, (N, d); `InputError` of constants."""
        return planned_for(self.problem, "start").start.double().cpu().numpy()

    @property
    def batch(self) -> int:
        """Rows that one stochastic gradient averages."""
        return planned_for(self.problem, "batch").batch

    def federated(self, precision: float | str | None = None) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Round by round t, rates (N, N) and matrices (N, d, d); `precision` is one of the plan's (the first).

        theta_i <- theta_i - matrices[i] sum_k rates[i, k] g_k(theta_i), g_k one stochastic gradient of client k at the
        model of client i. Rates are 0 from the round on in which a client has arrived. Raises `InputError`.
        """
        (_, rows), identity = self._at(precision), np.eye(planned_for(self.problem, "federated").features)
        plans = [row.to_follow() for row in rows]
        each = np.stack([identity if plan.matrix is None else plan.matrix for plan in plans])
        stages = [plan.stages or (plan,) for plan in plans]
        ends = [np.cumsum([stage.iterations for stage in parts]) for parts in stages]
        done = np.zeros(len(rows))

        def rates(t: int) -> np.ndarray:
            at = [int(np.searchsorted(end, t)) for end in ends]
            return np.stack([parts[k].rates if k < len(parts) else done for k, parts in zip(at, stages)])

        return ((t, rates(t), each) for t in range(1, 1 + max(int(end[-1]) for end in ends)))

    def export(self, folder: str | Path, precision: float | str | None = None, *, rows: bool = True) -> list[Path]:
        """Write plan.json, weights.csv, train.py, a trainer that needs NumPy alone, and with `rows` the rows that it
        trains on, rows.csv, to a folder. The plan is at one `precision` (the first). Raises `InputError`."""
        from .export import export

        one = replace(self, precisions=dict([self._at(precision)]))
        return export(one.to_dict(), one.rows, planned_for(self.problem, "out"), folder, rows=rows)

    def _at(self, precision: float | str | None) -> tuple[float | str, tuple[ClientPlan, ...]]:
        key = next(iter(self.precisions)) if precision is None else precision
        if key not in self.precisions:
            raise InputError("precision", precision, f"the plan has {', '.join(map(str, self.precisions))}")
        return key, self.precisions[key]

    @cached_property
    def rows(self) -> tuple[ClientPlan, ...]:
        """One per precision and client, the clients of a precision together."""
        return tuple(row for rows in self.precisions.values() for row in rows)

    def __iter__(self) -> Iterator[ClientPlan]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Any:
        found = tuple(row for row in self if row.name == str(name))
        if not found:
            names = self.rows[0].names
            near = nearest(str(name), names)
            raise InputError("client", name, f"did you mean {near}?" if near else f"clients: {', '.join(names)}")
        return found[0] if len(found) == 1 else found

    def __repr__(self) -> str:
        clients = len(self.rows[0].names)
        precisions = ", ".join(key if isinstance(key, str) else f"{key:.6g}" for key in self.precisions)
        source = "constants" if self.problem is None else type(self.problem).__name__
        return f"Plan({clients} clients at {precisions}; from {source}; print it for the table)"

    def __str__(self) -> str:
        return "\n\n".join(table.text() for table in (*sentence(self.answer), *self.tables()))

    @property
    def starts_meet_precision(self) -> bool:
        """Whether every client's start is already as good as each precision asks, so that nothing is left to plan."""
        known = None if self.constants is None else self.constants.excess
        starts = [row.exact.start if row.exact else np.inf if known is None else known[row.client] for row in self]
        return all(start <= row.epsilon for start, row in zip(starts, self))

    @property
    def answer(self) -> str:
        """Who trains with whom and how long that takes, in a sentence; empty where the tables say that there is no
        plan, or nothing to plan."""
        return "" if self.starts_meet_precision else answer(self.precisions)

    def tables(self) -> list[Table]:
        """The tables of `suffice plan`, with their notes: what is exact, then what is guaranteed."""
        if self.starts_meet_precision:
            return sentence(THERE)
        row = self.rows[0]
        found = [constant_table(self.precisions, kind) for kind in KINDS if kind != "guaranteed" and row.both(kind)[0]]
        if any(row.exact is not None and row.exact.stages for row in self):
            found.append(stages_table(self.rows))
        if row.schedules is not None:
            found.append(plan_table(self.rows, everybody=self.all_for_all(), said=self.notes))
        first, *others = found or sentence(f"There is no plan: {row.refusal}.")
        return [noted_table(first, self.notes), *others]

    def table(self) -> Table:
        """The first of `tables`."""
        return self.tables()[0]

    def _repr_html_(self) -> str:
        """The printed sentence and tables as HTML, which a notebook shows."""
        return "".join(table._repr_html_() for table in (*sentence(self.answer), *self.tables()))

    def to_dict(self) -> dict[str, Any]:
        """The object of `suffice plan --json`."""
        answer = {
            "clients": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
            "all_for_all": plain(self.all_for_all()),
        }
        if self.problem is None:
            return answer
        names, matrices = self.problem.names, {}
        for row in self.rows:
            for plan in (row.exact, row.exact_local, row.measured, row.measured_local):
                name = plan and plan.matrix_name(row.name)
                if name and name not in matrices:  # once; rows and columns in the order of the coordinates
                    matrices[name] = plan.matrix
        return answer | {
            "gradients": self.gradients,
            "loss": {"LeastSquares": "least-squares", "Logistic": "logistic"}.get(type(self.problem).__name__),
            "regularisation": getattr(self.problem, "regularisation", 0.0),
            "batch": self.batch,
            "coordinates": None if self.coordinates is None else plain(vars(self.coordinates)),
            "start": dict(zip(names, self.start.tolist())),
            "matrices": plain(matrices),
        }

    def to_frame(self) -> Any:
        """A row for each client and precision, as pandas' or polars' data frame, else a mapping of columns."""
        return to_frame({k: v for k, v in row.to_dict().items() if k != "labels"} for row in self.rows)

    def plot(self, path: str | Path | None = None, *, precision: float | str | None = None) -> Picture:
        """A figure that a notebook shows: every client's curves and weights.

        Measured plans have simulated means for exact curves, and those of constants bounds. With `path`, also written
        there: one .pdf, .png or .svg file, or a folder, which gets the data too. `precision` is one of the plan's (the
        first). Raises `InputError`.
        """
        key, rows = self._at(precision)
        measured = rows[0].exact is None and rows[0].measured is not None and any(row.measured.seeds for row in rows)
        means = measured_curves(planned_for(self.problem, "plot"), rows) if measured else None
        return draw("plan", key, rows, self.constants, means, path=path)

    def all_for_all(self) -> list[dict[str, Any]]:
        """The promises of All-for-all for the mean over clients at each precision, or at the mean of clients' own; none
        where nothing is guaranteed, clients start apart or losses need not be strongly convex."""
        known, start = self.constants, None if self.problem is None else self.problem.start
        if known is None or self.rows[0].schedules is None or self.rows[0].refusal:
            return []
        if start is not None and bool((start != start[:1]).any()):
            return []
        means = [float(np.mean([row.epsilon for row in rows])) for rows in self.precisions.values()]
        return [found for epsilon in means if (found := all_for_all_of_components(known, epsilon)) is not None]

    def break_even(self) -> list[dict[str, Any]]:
        """Where among the plan's precisions [loss] peers help each client, by its `name`; empty for a single precision.

        helped   the smallest one at which peers save an iteration; None: they do at none
        stopped  the next smaller one, at which they no longer do; None: they help at the smallest one, or at none
        """
        found = []
        for rows in zip(*self.precisions.values()) if len(self.precisions) > 1 else ():
            helped, stopped = None, None
            for row in sorted(rows, key=lambda row: row.epsilon):
                together, alone = (plan and plan.iterations for plan in row.both(row.recommended))
                if together is not None and (alone is None or alone - together >= 1):
                    helped = row.epsilon
                    break
                stopped = row.epsilon
            found.append({"name": rows[0].name, "helped": helped, "stopped": None if helped is None else stopped})
        return found

    def simulate(
        self, *, seeds: int = 256, root: int = 0, progress: Callable[[int, int], None] | None = None
    ) -> list[Measured]:
        """Run the exact or measured plans on the same problem, with peers and alone; one entry per row.

        Where theorems bound the hitting time, All-for-one runs at the steps of that schedule too, with exact
        similarities (from population gradients), and so does every client alone. Raises `InputError`.
        """
        as_whole("seeds", seeds)
        problem = planned_for(self.problem, "problem")
        results = []
        for done, rows in enumerate(self.precisions.values()):
            results.extend(measure(problem, rows, seeds=seeds, root=root))
            if progress is not None:
                progress(done + 1, len(self.precisions))
        return results


def plan(
    source: Problem | Constants | Fitted,
    epsilon: float | str | Sequence[float | str] | None = None,
    *,
    start: str | None = None,
    gradients: str = "preconditioned",
    criterion: Criterion | str | None = None,
    horizon: int | None = None,
    confidence: float | None = None,
    schedule: bool = False,
    max_memory: float = MAX_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Plan who collaborates with whom, at which step, per client and precision.

    epsilon    excess loss to reach [loss], a share such as "10%", or "noise"; or several of them
    criterion  weighs peers in the guaranteed plans: "binary", "continuous", "sharp" or an object
    horizon    iterations T, for schedules with a fixed horizon
    confidence  allowed probability of not reaching epsilon in time, in (0, 1]
    progress   is called with the work done and the whole of it

    `source` is a problem (quadratics, least squares on data), its constants, or a fit, whose models are then what each
    client is to reach. Columns and target of a fit are standardised over all its rows: a precision of 0.01 is one
    hundredth of the target's variance, and every client starts from 0, the mean of all targets.

    Rows with an intercept start from each client's best constant (`start` "constant"), unless their problem has a start
    of its own or `start` is "zero"; a share such as "10%" is of the excess over that constant. Elsewhere it is of the
    starting excess. "noise", the default on rows, is the excess that is its own standard error when measured on as many
    new rows as a client has; the default elsewhere is "10%". `gradients` "plain" plans for gradients as they are; else
    clients multiply them by a matrix, where this is faster. Quadratics and least squares get exact plans from second
    moments; where the noise has no bound these are all there is; with `schedule` also three stages of constant rates,
    where these are faster. A plan that needs more than `max_memory` bytes (2e9) is rejected. Raises `InputError`.
    """
    memory, notes = Memory(max_memory), ()
    if hasattr(source, "quadratics"):  # a fit
        if source.quadratics is None:
            remedy = "models from a file, or of classes, know no second moments: plan from a fit of rows or messages by"
            raise InputError("source", repr(source), f"{remedy} least squares, or from sf.read of the table")
        source, notes = source.quadratics, (OF_A_FIT,)
    if not isinstance(source, Constants) and not hasattr(source, "constants"):
        raise InputError("source", source, "give a problem or sf.Constants; what was measured is no guarantee")
    as_choice("gradients", gradients, ("preconditioned", "plain"))
    problem: Any = None if isinstance(source, Constants) else started(source, start)
    given: Any = source if problem is None else problem
    how: dict[str, Any] = {"memory": memory, "progress": progress, "precondition": gradients != "plain"}
    rule = named(criterion) if isinstance(criterion, str) else criterion
    told: dict[str, Any] = {"schedule": schedule, "criterion": rule, "horizon": horizon, "confidence": confidence}
    found, constants = planned_rows(given, precisions(given, epsilon), **how, **told)
    if problem is not None:
        found = with_measured(found, problem, **how)
        rows, least = [row for there in found.values() for row in there], constant_excess(problem)
        served = len({row.client for row in rows if row.epsilon >= least[row.client]})
        notes = (SERVED.format(served, problem.clients),) * (served > 0) + (*notes, *problem.remarks)
        notes += (OF_ROWS,) * (getattr(problem, "row_counts", None) is not None)
        notes += (NO_ROUNDS,) * (type(problem).__name__ == "LeastSquares" and rows[0].exact is not None)
    known: dict[str, Any] = {"problem": problem, "constants": constants, "criterion": rule, "notes": notes}
    return Plan(precisions=found, gradients=gradients, **known)
