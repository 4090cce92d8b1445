"""Tables of a plan: clients, schedules, weights, the network's methods, what was measured, how sure it is."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.text import Text

from bounds import Row
from bounds.method_plan import MethodPlan
from bounds.paying import Paying

from ..advice import Measured, Plan
from ..client_numbers import ClientNumbers, Known
from ..method_runs import MethodRun
from ..stability import Interval, Stability
from .console import WIDE, console, number, table

MOST_COLUMNS = 12
"""Clients up to which the collaboration matrix is printed."""


def plan_table(plan: Plan, measured: Sequence[Measured] | None) -> None:
    """One line per client and precision; below, measured hitting times beside the predicted ones."""
    _print_plan(plan, console())
    if measured is not None:
        _measured_table(plan, measured)


def plan_text(plan: Plan) -> str:
    """The table with its notes as plain text, as `print` shows a plan."""
    return _text(lambda out: _print_plan(plan, out))


def numbers_text(numbers: ClientNumbers) -> str:
    """The table of `numbers_table` as plain text, as `print` shows the numbers."""
    return _text(lambda out: _print_numbers(numbers, out))


def _text(show: Callable[[Console], None]) -> str:
    paper = io.StringIO()
    show(Console(markup=False, emoji=False, width=WIDE, file=paper, color_system=None))
    return "\n".join(line.rstrip() for line in paper.getvalue().splitlines())


def _print_plan(plan: Plan, out: Console) -> None:
    numeric = ("eps", "step limit", "step", "alone <=", "together <=", "speed-up")
    made = table(
        "Expected iterations to reach excess < eps",
        "client", "eps", "collaborates with", "rule", *numeric[1:],
        numeric=numeric,
    )  # fmt: skip
    for row in plan:
        made.add_row(
            row.name,
            number(row.epsilon),
            ", ".join(row.collaborators) or "nobody",
            _rule(row),
            number(row.step_limit),
            number(row.schedules.hitting["eta"]),
            number(row.local.hitting["expected_iterations"], 4),
            number(row.schedules.hitting["expected_iterations"], 4),
            number(row.speedup),
        )
    out.print(made)
    out.print(
        "Predictions bound E[tau], tau = min{t: e_t < eps}: stopped guarantees, nothing is promised after tau.",
        highlight=False,
    )
    for warning, rows in _grouped(plan).items():
        where = "" if len(rows) == len(plan) else f" ({', '.join(rows)})"
        out.print(f"note: {warning}{where}", highlight=False)


def _measured_table(plan: Plan, measured: Sequence[Measured]) -> None:
    numeric = ("eps", "alone", "measured/predicted", "together", "measured/predicted ", "speed-up")
    made = table(
        f"Measured over {measured[0].seeds} seeds: mean hitting time (standard error), exact similarities",
        "client", *numeric,
        numeric=numeric,
    )  # fmt: skip
    for row, entry in zip(plan, measured):
        made.add_row(
            row.name,
            number(row.epsilon),
            _time(entry.alone, entry.alone_se, entry.alone_arrived),
            number(entry.ratio_alone, 2),
            _time(entry.together, entry.together_se, entry.together_arrived),
            number(entry.ratio_together, 2),
            number(entry.alone / entry.together if entry.together else None),
        )
    out = console()
    out.print(made)
    if any(min(entry.alone_arrived, entry.together_arrived) < 1 for entry in measured):
        out.print("A share in %: not every path arrived, and the mean is over those that did.", highlight=False)


def schedules_table(plan: Plan) -> None:
    """The four schedules of every client, with what each promises, alone and together."""
    made = table(
        "Schedules: bounds of E[e_T 1{tau >= T}] at horizon T; hitting: iterations that leave at most delta running",
        "client", "eps", "schedule", "step", "alone <=", "together <=",
        numeric=("eps", "alone <=", "together <="),
    )  # fmt: skip
    for row in plan:
        for name in ("constant", "horizon", "decreasing", "hitting"):
            mine, alone = getattr(row.schedules, name), getattr(row.local, name)
            key = "iterations_at_confidence" if name == "hitting" else "bound"
            if mine[key] is None and name in ("horizon", "hitting"):
                continue
            made.add_row(
                row.name,
                number(row.epsilon),
                name,
                _step(name, mine),
                *(number(part[key], 4) for part in (alone, mine)),
            )
    console().print(made)


def _step(name: str, schedule: dict[str, float | None]) -> str:
    if name == "decreasing":
        return f"{number(schedule['C'])}/(mu (t + {number(schedule['gamma'])}))"
    return number(schedule["eta"])


def weights_table(plan: Plan) -> None:
    """The collaboration matrix of each precision at which somebody collaborates, for few clients."""
    names = plan.rows[0].names
    if len(names) > MOST_COLUMNS:
        return
    for epsilon in dict.fromkeys(row.epsilon for row in plan):
        there = [row for row in plan if row.epsilon == epsilon]
        if not any(row.collaborators for row in there):
            continue
        made = table(
            "",
            "client", *names, "sum",
            numeric=(*names, "sum"),
        )  # fmt: skip
        for row in there:
            cells = [number(weight.item()) if weight else "." for weight in row.weights]
            made.add_row(row.name, *cells, number(row.weights.sum().item()))
        out = console()  # a title would be folded to the width of a small matrix
        out.print(
            f"Collaboration matrix at {epsilon:.3g}: weights that the guaranteed similarities give, row by row",
            style="italic",
            highlight=False,
        )
        out.print(made, highlight=False)


def methods_table(plans: Sequence[MethodPlan], paying: Sequence[Paying]) -> None:
    """Every method for the whole network, the lower bound beneath; then where collaboration stops paying."""
    numeric = ("eps", "samples per client", "vectors")
    made = table(
        "The network: what each method costs until every client is served, and what it then promises",
        "method", "eps", "samples per client", "vectors", "controls", "theorem, or why it is refused",
        numeric=numeric,
    )  # fmt: skip
    told: set[tuple[str, str]] = set()
    for plan in plans:
        beneath = plan.method == "lower-bound"
        controls = plan.quantity.partition(", ")[0]
        if "excess_of_the_solution" in plan.settings:
            controls += f"; the clients' mean excess at x_i* is {number(plan.settings['excess_of_the_solution'])}"
        last = plan.theorem
        if plan.failure is not None:
            seen = (plan.method, plan.failure["reason"])
            last = f"refused: {plan.failure['reason']}" if seen in told else _refusal(plan)
            told.add(seen)
        sign = ">= " if beneath else ""
        made.add_row(
            Text("lower bound" if beneath else plan.method, style="dim" if not plan.applies else ""),
            number(plan.epsilon),
            f"{sign}{number(plan.samples_per_client, 4)}",
            number(plan.vectors, 4),
            controls,
            last,
        )
    out = console()
    out.print(made)
    promises = dict.fromkeys(f"{plan.method}: {plan.guarantee}" for plan in plans if plan.applies)
    for promise in promises:
        out.print(promise, highlight=False)
    one = [plan for plan in plans if plan.applies and plan.method != "lower-bound"]
    if len({plan.method for plan in plans} - {"lower-bound"}) == 1:
        for plan in one:
            out.print(f"{plan.method} at {plan.epsilon:.3g}: {_settings(plan)}", highlight=False)
    stops = [
        f"{entry.name} {'never pays' if entry.epsilon is None else f'{entry.epsilon:.3g}'}" for entry in paying[:12]
    ]
    more = f", {len(paying) - 12} more in --json" if len(paying) > 12 else ""
    out.print(
        f"Collaboration stops paying below these precisions (All-for-one): {', '.join(stops)}{more}.", highlight=False
    )


def _refusal(plan: MethodPlan) -> str:
    assert plan.failure is not None
    sides = [number(plan.failure[side]) if np.isfinite(plan.failure[side]) else "unknown" for side in ("lhs", "rhs")]
    if sides == ["unknown", "unknown"]:  # no inequality: something is missing, or an input is outside its domain
        return f"refused: {plan.failure['reason']} (asked for: {plan.failure['condition']})"
    return f"refused: {plan.failure['condition']} fails ({sides[0]} > {sides[1]}); {plan.failure['reason']}"


def _settings(plan: MethodPlan) -> str:
    """Numbers and short lists of a plan's settings."""
    parts = []
    for name, value in plan.to_dict()["settings"].items():
        if isinstance(value, float):
            parts.append(f"{name} {value:.6g}")
        elif isinstance(value, list) and value and all(isinstance(item, float) for item in value) and len(value) <= 12:
            parts.append(f"{name} {', '.join(f'{item:.4g}' for item in value)}")
        elif isinstance(value, str):
            parts.append(f"{name} {value}")
    return "; ".join(parts)


def runs_table(runs: Sequence[MethodRun]) -> None:
    """What each method's theorem controls: promised, measured, and the ratio."""
    numeric = ("eps", "promised <=", "measured", "measured/promised", "rounds", "reached", "reached/rounds")
    made = table(
        "The methods as planned, simulated (of several clients or clusters the one with the largest ratio)",
        "method", "controls", *numeric, numeric=numeric,
    )  # fmt: skip
    for run in runs:
        made.add_row(
            run.method,
            run.controls if not run.skipped else f"not simulated: {run.skipped}",
            number(run.epsilon),
            number(run.promised, 4),
            "-" if run.measured is None else f"{number(run.measured)} ({number(run.error, 2)})",
            number(run.ratio, 2),
            number(run.rounds, 4),
            "-" if run.reached is None else str(run.reached),
            number(run.ratio_rounds, 2),
        )
    out = console()
    out.print(made)
    out.print(
        "reached: first of about 60 looks from which on the mean is at most what is promised. CoBo runs with the "
        "weights of the planned clusters, as its theorem assumes.",
        highlight=False,
    )


def numbers_table(numbers: ClientNumbers) -> None:
    """What the data say of each client, every number with its trust; with intervals one line per number."""
    _print_numbers(numbers, console())


def _print_numbers(numbers: ClientNumbers, out: Console) -> None:
    fields = {
        "mu": numbers.mu, "beta": numbers.beta, "excess": numbers.excess, "var(start)": numbers.variance_start,
        "var(optimum)": numbers.variance_optimum, "sigma^2": numbers.sigma2, "floor": numbers.floor,
        "factor": numbers.factor,
    }  # fmt: skip
    if numbers.mu.low is None:
        made = table("What the data say", "client", "rows", *fields, numeric=("rows", *fields))
        for i, name in enumerate(numbers.names):
            made.add_row(name, str(numbers.rows[i]), *(number(value.value[i].item()) for value in fields.values()))
        made.add_row("trust", "", *(value.trust for value in fields.values()))
    else:
        made = table(
            "What the data say", "client", "rows", "number", "value", "trust", "95 % interval",
            numeric=("rows", "value"),
        )  # fmt: skip
        for i, name in enumerate(numbers.names):
            for field, value in fields.items():
                text = number(value.value[i].item())
                made.add_row(name, str(numbers.rows[i]), field, text, value.trust, _ends(value, i))
    out.print(made, highlight=False)
    out.print(
        f"sigma^2 holds on: {numbers.sigma2.region}; mu on: {numbers.mu.region}. At all models the variance is at most "
        "floor + factor |grad R_i|^2. Optima and pairs: --json.",
        highlight=False,
    )
    said = f"{100 * numbers.similar_pairs:.0f} % of the pairs are similar ({numbers.entry.trust})"
    if numbers.estimated_pairs is not None:
        said += f"; {100 * numbers.estimated_pairs:.0f} % by sampling (estimated)"
        if numbers.similar_pairs == 0 < numbers.estimated_pairs:
            said += ": --certainty estimated plans with these"
    out.print(f"At some precision below the initial excess {said}.", highlight=False)


def _ends(value: Known, i: int) -> str:
    if value.low is None or value.high is None:
        return "-"
    return f"{number(value.low[i].item())} to {number(value.high[i].item())}"


def stability_table(entries: Sequence[Stability], plan: Plan) -> None:
    """How often each planned peer is in the cluster when all rows are resampled."""
    made = table(
        f"Is the cluster stable? {entries[0].resamples} resamples of every client's rows",
        "client", "eps", "planned peers (share of resamples)", "others in half or more", "same cluster",
        "together <=", "alone <=", "speed-up",
        numeric=("eps", "same cluster"),
    )  # fmt: skip
    names = plan.rows[0].names
    for entry in entries:
        peers = [f"{names[k]} ({100 * entry.share[k]:.0f} %)" for k in entry.cluster if k != entry.client]
        others = [f"{names[k]} ({100 * entry.share[k]:.0f} %)" for k in entry.missing]
        made.add_row(
            entry.name,
            number(entry.epsilon),
            ", ".join(peers) or "nobody",
            ", ".join(others) or "-",
            f"{100 * entry.same:.0f} %",
            _between(entry.iterations),
            _between(entry.local_iterations),
            _between(entry.speedup),
        )
    out = console()
    out.print(made)
    failed = f"; {entries[0].failed} more had no constants" if entries[0].failed else ""
    out.print(
        "Iterations and speed-ups: the middle 95 % of the resamples' plans. A resample adds the rows' noise once more: "
        f"shares err towards instability{failed}.",
        highlight=False,
    )


def _between(ends: Interval | None) -> str:
    return "-" if ends is None else f"{number(ends[0])} to {number(ends[1])}"


def _grouped(plan: Plan) -> dict[str, list[str]]:
    """Warnings with the rows that carry them, numbers in the last clause left to the JSON."""
    groups: dict[str, list[str]] = {}
    for row in plan:
        for warning in row.warnings:
            text = warning if warning in row.notes else warning.partition(",")[0].partition(" (")[0]
            text += _remedy(text, plan)
            groups.setdefault(text, []).append(f"{row.name} at {row.epsilon:.3g}")
    return groups


def _remedy(note: str, plan: Plan) -> str:
    """The option that a note leads to; empty where there is none."""
    if note.startswith("continuous weights promise fewer iterations"):
        return ": --criterion continuous"
    if note.startswith("0 of ") and "pairs are similar by these constants" in note:
        # a single client has no pairs, and of constants that are sampled already there are no weaker ones
        sampled = getattr(plan.problem, "points", 1)
        return "" if sampled or len(plan.rows[0].names) < 2 else "; sampled ones may admit some: --certainty estimated"
    return ""


def _rule(row: Row) -> str:
    threshold = getattr(row.criterion, "threshold", None)
    return row.criterion.kind if threshold is None else f"r >= {threshold:.3g}"


def _time(mean: float, error: float, arrived: float) -> str:
    text = f"{number(mean)} ({number(error, 2)})"
    return text if arrived == 1 else f"{text} {100 * arrived:.0f} %"
