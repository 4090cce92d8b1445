"""The command `suffice plan`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from suffice.support.progress import progress

from .app import Json, app
from .console import echo, print_json, run_next
from .data_options import DataOptions, grouped, has_sites, is_setup, memory_limit, option, source_of

if TYPE_CHECKING:
    from suffice.planning.plan import Plan
    from suffice.support.tables import Table

EPSILON = (
    "Excess loss to reach: a number, a share such as 10% of each client's excess over its best constant, or noise "
    "(what its rows can tell, default). Repeat the option for several."
)
START = "Where models start: constant (each client's best constant, default) or zero."
GRADIENTS = "Gradients to average: preconditioned (multiplied by a matrix if that is faster, default) or plain."
CRITERION = "Criterion that weighs peers: binary, continuous or sharp (default: that of the setup file)."
SCHEDULE = "Look for a three-stage schedule that is faster than a constant step."
METHODS = "Measure other methods beside the plan, each at its best step."
NUMBERS = "Show each client's constants and how reliable they are, and no plan."
OUT = "Write plan.json, weights.csv and a trainer, train.py, to this folder."
SEEDS = 256


@dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """Options for what is to be reached; None where an option is not given, here and below."""

    panel: ClassVar[str] = "What to reach"
    epsilon: Annotated[list[str] | None, option(EPSILON)] = None
    horizon: Annotated[int | None, option("Iterations T, for schedules with a fixed horizon.")] = None
    confidence: Annotated[str | None, option("Allowed probability of not reaching epsilon in time, in (0, 1].")] = None


@dataclass(frozen=True, kw_only=True)
class PlanningOptions:
    """Options for how to plan, and for what the plan is compared with."""

    panel: ClassVar[str] = "How to plan, and what to compare"
    start: Annotated[str | None, option(START)] = None
    gradients: Annotated[str, option(GRADIENTS)] = "preconditioned"
    criterion: Annotated[str | None, option(CRITERION)] = None
    schedule: Annotated[bool, option(SCHEDULE, "--schedule")] = False
    simulate: Annotated[bool, option("Simulate the plan, for comparison.", "--simulate")] = False
    methods: Annotated[bool, option(METHODS, "--methods")] = False
    seeds: Annotated[int | None, option("Number of runs of --simulate and --methods (default 256).")] = None
    root: Annotated[int | None, option("Random root of --simulate and --methods (default 0).")] = None

    def runs(self) -> dict[str, Any]:
        """The arguments of simulations; `InputError` where they are given and nothing is simulated."""
        from suffice.support.errors import InputError

        for name, missing in (("seeds", "nothing is simulated"), ("root", "nothing is random")):
            value = getattr(self, name)
            if value is not None and not (self.simulate or self.methods):
                raise InputError(name, value, f"without --simulate or --methods {missing}; give one of them too")
        return {"seeds": SEEDS if self.seeds is None else self.seeds, "root": self.root or 0}


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Options for what is shown and written."""

    panel: ClassVar[str] = "What to show and write"
    numbers: Annotated[bool, option(NUMBERS, "--numbers")] = False
    save_csv: Annotated[Path | None, option("Write the plan to this CSV file.", "--csv")] = None
    plot: Annotated[Path | None, option("Plot the plan: a .pdf, .png or .svg file, or a folder.")] = None
    out: Annotated[Path | None, option(OUT)] = None
    as_json: Json = False


@app.command()
@grouped
def plan(
    setup: Annotated[str, typer.Argument(help="A setup file (TOML), a table, a folder, or sklearn:NAME.")],
    target: TargetOptions,
    planning: PlanningOptions,
    output: OutputOptions,
    data: DataOptions,
) -> None:
    """Plan who should collaborate with whom, at which step size, and how much faster that is."""
    from suffice.planning.client_statistics import statistics
    from suffice.planning.constant_prediction import started
    from suffice.planning.plan import plan as make
    from suffice.planning.tables.columns import write_csv

    runs = planning.runs()
    source, asked = _request(setup, target, planning, output, data)
    if output.numbers:
        numbers = statistics(started(source, planning.start))
        print_json({"clients": [], "numbers": numbers.to_dict()}) if output.as_json else numbers.table().show()
        return
    how: dict[str, Any] = {name: getattr(planning, name) for name in ("schedule", "start", "gradients")}
    with progress("planning") as report:
        result = make(source, **(asked | memory_limit(data) | how), progress=report)
    _hint(result, source)
    beside, written = _beside(result, planning, runs), []
    if output.save_csv is not None:
        written.append(write_csv(output.save_csv, result.rows, measured=beside.get("measured")))
    if output.plot is not None:
        written += result.plot().write(output.plot)
    if output.out is not None:
        written += result.export(output.out, rows=not has_sites(setup, data.split))
    if output.as_json:
        told = {name: [one.to_dict() for one in found] if name == "measured" else found.to_dict()
                for name, found in beside.items()}  # fmt: skip
        even = result.break_even()
        print_json(result.to_dict() | ({"break_even": even} if even else {}) | told)
        return
    for table in _tables(result, beside, scheduled=bool(asked["horizon"] or asked["confidence"])):
        table.show()
    for path in written:
        echo(str(path))
    _next(result, setup, data, output)


def _next(result: Plan, setup: str, data: DataOptions, output: OutputOptions) -> None:
    """Suggest what to run next: models without rounds, the files of the plan, or the theorem that promises it."""
    from suffice.planning.plan import NO_ROUNDS

    schedules, given, plans = result.rows[0].schedules, data.given(), [row.constant()[0] for row in result]
    if NO_ROUNDS in result.notes and not is_setup(setup):
        taken = {name: given.get(name, []) for name in ("client", "target", "split", "seed", "drop")}
        each = [(name, one) for name, some in taken.items() for one in (some if isinstance(some, list) else [some])]
        run_next("every model, without rounds", "fit", setup, *(f"--{name}={one}" for name, one in each))
    elif output.out is None and result.coordinates and all(plan and plan.iterations is not None for plan in plans):
        run_next("weights, matrices and a trainer to run", *sys.argv[1:], "--out", "plan")
    else:
        key = "adaptive/theorem-2-constant" if schedules is None else schedules.theorem
        run_next("what the papers promise", "theorem", key)


def _request(
    setup: str, target: TargetOptions, planning: PlanningOptions, output: OutputOptions, data: DataOptions
) -> tuple[Any, dict[str, Any]]:
    """The problem or constants to plan for, and arguments of `suffice.plan`; rows and `numbers` need no precision."""
    import numpy as np

    from suffice.planning.precision import Precision
    from suffice.simulate.setup_file import read_setup
    from suffice.support.errors import InputError
    from suffice.support.parse import parse_number

    if setup.lower().endswith(".json"):
        remedy = "models of a fit hold no rows to plan for; plan from what they were fitted to: "
        raise InputError("setup", setup, f"{remedy}suffice plan TABLE.csv, or in Python sf.plan(sf.fit(...))")
    shown = replace(output, numbers=False, as_json=False), target, replace(planning, start=None)
    if output.numbers and shown != (OutputOptions(), TargetOptions(), PlanningOptions()):
        raise InputError("numbers", "True", "nothing is planned beside them: leave out the options of a plan")
    confidence = None if target.confidence is None else parse_number("confidence", target.confidence)
    for entry in target.epsilon or ():  # a large table is not read before a slip is told
        Precision.parse(entry, clients=1, excess=np.ones(1), noise=lambda: np.ones(1))
    asked: dict[str, Any] = {"horizon": target.horizon, "confidence": confidence, "criterion": planning.criterion}
    source, chosen = source_of(setup, data)
    if chosen is None:
        return source, asked | {"epsilon": target.epsilon}
    rows = getattr(source, "row_counts", None)
    if not (target.epsilon or output.numbers or chosen.epsilon or rows):
        read_setup(setup, **memory_limit(data))  # says what is missing
    asked = {name: getattr(chosen, name) if value is None else value for name, value in asked.items()}
    return source, asked | {"epsilon": target.epsilon or chosen.epsilon or (None if rows else [])}


def _hint(result: Plan, source: Any) -> None:
    """Say so on stderr where a share was probably meant: a number of less than 1e-6 of every client's start."""
    problem = result.problem
    excess = source.excess if problem is None else problem.excess(problem.start[None])[0].double()
    for epsilon in result.precisions:
        if isinstance(epsilon, str) or excess is None:
            continue
        share = epsilon / max(float(excess.min()), 1e-300)
        if 0 < share < 1e-6:
            meant = f"{100 * epsilon:g}%" if 1e-3 <= epsilon < 1 else "10%"
            echo(f"epsilon {epsilon:g} is {share:.0e} of the initial excess; did you mean {meant}?", err=True)


def _beside(result: Plan, planning: PlanningOptions, runs: dict[str, Any]) -> dict[str, Any]:
    """The measurements of the plan, and of other methods, where they were asked for."""
    found: dict[str, Any] = {}
    if planning.simulate:
        with progress("simulating the plan") as report:
            found["measured"] = result.simulate(progress=report, **runs)
    if planning.methods:
        from suffice.planning.method_comparison import compare_methods

        with progress("measuring methods") as report:
            found["methods"] = compare_methods(result, progress=report, **runs)
    return found


def _tables(result: Plan, beside: dict[str, Any], *, scheduled: bool) -> list[Table]:
    """The plan as tables, with schedules where a horizon or a confidence is given, and what was asked for beside it."""
    from suffice.planning.tables import plans

    tables = [*plans.sentence(result.answer), *result.tables()]
    if "measured" in beside:
        tables += plans.measured_tables(beside["measured"])
    if not result.starts_meet_precision:
        tables += plans.weights_tables(result.precisions)
    if scheduled:
        tables.append(plans.schedules_table(result.rows))
    if not result.starts_meet_precision:
        tables += plans.break_even_tables(result.break_even())
    if "methods" in beside:
        tables += beside["methods"].tables()
    return tables
