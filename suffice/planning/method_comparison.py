"""Methods of the catalogue beside a plan: what each needs, at its best step, until the mean excess is the plan's.

Each is measured on simulated paths: the step and the setting that few paths reach the precision soonest with, then the
time on other paths. The first row is the plan itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole, plain
from suffice.support.tables import Column, Table, number

from .client_plan import ClientPlan
from .plan import Plan, planned_for
from .simulated import first_below

if TYPE_CHECKING:
    from suffice.simulate import Algorithm, Problem

PLAN = "this plan"
STEPS = 2.0 ** -np.arange(-1, 8)
"""Steps that are tried, times 1/beta, beta the largest: up to twice that."""
TRIED = {"period": (1, 4, 16), "p": (0.5, 0.2, 0.05)}
"""Settings that are tried of a method that has such an option."""
FEW = 32
"""Paths that each step and setting is tried on."""
PATIENCE, SHORTEST, LONGEST = 2, 64, 4096
"""Iterations that are followed: so many times those of the slowest client alone, at least, at most."""
WORK = 1e10
"""Multiplications of one run, by a rough count, about ten seconds; a method that takes more is named, not measured."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method at its best step and setting.

    iterations  the first at which the mean excess over clients is at most the precision's; low, high  the same of that
                mean less, and plus, two standard errors; None: at none that was followed
    rounds      iterations in which clients exchange vectors, in the mean; vectors  sent by and to all clients
    gradients   samples whose gradient was computed, by all clients
    anchored    whether models are mixed with the clients' own minimisers, for which nothing is counted
    why_not     why there are no iterations
    """

    name: str
    setting: str = ""
    eta: float | None = None
    iterations: int | None = None
    low: int | None = None
    high: int | None = None
    rounds: float | None = None
    vectors: float | None = None
    gradients: float | None = None
    anchored: bool = False
    why_not: str = ""


COLUMNS = (
    Column("method", lambda one: ", ".join(filter(None, (one.name, one.setting))), numeric=False),
    Column("iterations", lambda one: _time(one)),
    Column("rounds", lambda one: one.rounds, digits=4),
    Column("vectors", lambda one: one.vectors, digits=4),
    Column("gradients", lambda one: one.gradients, digits=4),
    Column("step", lambda one: one.eta),
)


def _time(one: Method) -> str:
    ends = "-".join("?" if end is None else str(end) for end in (one.low, one.high))
    return number(one.iterations) if ends == "?-?" else f"{one.iterations} ({ends})"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The methods at each precision of a plan: the plan first, the others by their iterations."""

    precisions: Mapping[float | str, tuple[Method, ...]]

    def __str__(self) -> str:
        return "\n\n".join(table.text() for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables())

    def tables(self) -> list[Table]:
        """One for each precision, with the reasons why methods are not in it."""
        found = []
        for key, methods in self.precisions.items():
            at = key if isinstance(key, str) else f"{key:.3g}"
            title = f"Methods at their best steps, until the mean excess over clients is at most that of {at}"
            lines = ["In brackets: measured, two standard errors."]
            for why in dict.fromkeys(one.why_not for one in methods if one.why_not):
                lines.append(f"{', '.join(one.name for one in methods if one.why_not == why)}: {why}.")
            measured = [one for one in methods if not one.why_not]
            if given := [one.name for one in measured if one.anchored]:
                lines.append(f"{' and '.join(given)}: with the clients' own minimisers, for which nothing is counted.")
            found.append(Table.from_columns(COLUMNS, measured, title=title, lines=lines, width=80))
        return found

    def to_dict(self) -> list[dict[str, Any]]:
        """The list `methods` of `suffice plan --methods --json`."""
        return [{"epsilon": key} | plain(vars(one)) for key, methods in self.precisions.items() for one in methods]


def compare_methods(
    plan: Plan,
    *,
    only: Sequence[str] = (),
    seeds: int = 256,
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Measure the plan and each method of `sf.simulate.ALGORITHMS` that runs on its problem, at each precision.

    only         names of the methods; all by default
    seeds, root  how many paths tell a method's time, and the number from which their randomness is derived
    progress     is called with the work done and the whole of it

    Raises `InputError`, also for a plan of constants, which run nothing.
    """
    from suffice.simulate.catalogue import ALGORITHMS

    problem = planned_for(plan.problem, "methods")
    as_whole("seeds", seeds, least=2)
    for name in only:
        if name not in ALGORITHMS:
            raise InputError("only", name, f"there are {', '.join(ALGORITHMS)}")
    names, found = tuple(only) or tuple(ALGORITHMS), {}
    for done, (key, rows) in enumerate(plan.precisions.items()):
        methods = []
        for at, name in enumerate(names, 1):
            methods.append(_best(problem, rows, name, range(FEW, FEW + seeds), root))
            if progress is not None:
                progress(done * len(names) + at, len(plan.precisions) * len(names))
        methods.sort(key=lambda one: np.inf if one.iterations is None else one.iterations)
        found[key] = (_planned(problem, rows), *methods)
    return Comparison(precisions=found)


def _planned(problem: Problem, rows: Sequence[ClientPlan]) -> Method:
    """The plan as it stands: every client stops at its own time."""
    plans = [plan for row in rows if (plan := row.constant()[0]) is not None and plan.iterations is not None]
    if len(plans) < len(rows):
        return Method(name=PLAN, why_not="some client has no exact or measured plan that arrives")
    followed = np.array([np.count_nonzero(plan.weights) for plan in plans])
    T, others = np.array([plan.iterations for plan in plans]), np.maximum(followed - 1, 0)
    return Method(
        name=PLAN,
        eta=float(np.median([plan.eta for plan in plans])),
        iterations=int(T.max()),
        rounds=float((T * (others > 0)).max()),
        vectors=2.0 * float(T @ others),
        gradients=float(T @ followed) * problem.batch,
    )


def _best(problem: Any, rows: Sequence[ClientPlan], name: str, seeds: range, root: int) -> Method:
    """A method at the step and in the setting of the fewest iterations, measured on other paths than chose them."""
    beta = 2 * np.linalg.eigvalsh(problem.A.double().cpu().numpy()) if hasattr(problem, "A") else problem.smoothness
    epsilon, scale = float(np.mean([row.epsilon for row in rows])), 1 / float(beta.max())
    known = [plan.iterations or 0 for row in rows for plan in row.constant() if plan is not None]
    most = int(np.clip(PATIENCE * max(known), SHORTEST, LONGEST))
    soonest: tuple[Any, ...] = (np.inf, np.inf)
    try:
        for setting, rule_at in _settings(problem, name, epsilon, scale):
            for eta in (scale * STEPS).tolist():
                mean, _, _ = _curve(problem, rule_at(eta), eta, most, range(FEW), root)
                first = first_below(mean, epsilon)
                trial = (np.inf if first is None else first, float(mean.min()), eta, setting, rule_at)
                soonest = min(soonest, trial, key=lambda one: one[:2])
    except InputError as error:
        return Method(name=name, why_not=error.remedy)
    time, _, eta, setting, rule_at = soonest
    words = ", ".join(f"{option}={value:g}" for option, value in setting.items() if option in TRIED)
    rule: Any = rule_at(eta)
    anchored = hasattr(rule, "anchors") and bool(np.min(rule.alpha) < 1)
    found = Method(name=name, setting=words, eta=eta, anchored=anchored)
    if time == np.inf:
        return replace(found, why_not=f"the precision is not reached within {most:,} iterations at any step")
    longest = min(most, int(2 * time) + 16)
    mean, error, trace = _curve(problem, rule, eta, longest, seeds, root)
    T, low, high = (first_below(curve, epsilon) for curve in (mean, mean - 2 * error, mean + 2 * error))
    if T is None:
        return replace(found, why_not=f"the precision is not reached within {longest:,} iterations")
    vectors = float(trace.vectors_sent[T])
    period, chance = getattr(getattr(rule, "server", rule), "period", 1), getattr(rule, "p", 1.0)
    rounds = T * float(chance) / period if vectors else 0.0
    gradients = float(trace.oracle_calls[T]) * problem.batch
    return replace(found, iterations=T, low=low, high=high, rounds=rounds, vectors=vectors, gradients=gradients)


def _settings(
    problem: Problem, name: str, epsilon: float, scale: float
) -> Iterator[tuple[dict[str, Any], Callable[[float], Algorithm]]]:
    """The settings that are tried of a method, each with a function that gives the rule at a step."""
    from suffice.simulate.catalogue import algorithm, options_of
    from suffice.simulate.kernels import general_refusal

    tried = TRIED | {"epsilon": (epsilon,)}  # of fixed weights
    options = {option: values for option, values in tried.items() if option in options_of(name)}
    for values in product(*options.values()):
        setting = dict(zip(options, values))
        if general_refusal(problem, algorithm(name, problem, eta=scale, **setting)):
            raise InputError("method", name, "not compared, as there are no compiled paths of it on this problem")
        yield setting, lambda eta, setting=setting: algorithm(name, problem, eta=eta, **setting)


def _curve(
    problem: Problem, rule: Algorithm, eta: float, iterations: int, seeds: range, root: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """The mean excess over clients at t = 0, 1, ..., its standard error over the seeds, and the paths."""
    from suffice.simulate import run

    work = float(len(seeds)) * iterations * problem.clients**2 * problem.gradient_cost
    if work > WORK:
        raise InputError("paths", f"{work:.0e} multiplications", "not measured, as that would take too long")
    with np.errstate(all="ignore"):  # steps at which paths leave
        trace = run(problem, rule, iterations=iterations, eta=eta, seeds=seeds, root=root, grid=range(iterations + 1))
        excess = trace.excess.astype(float).mean(2)
        mean, error = excess.mean(0), excess.std(0, ddof=1) / np.sqrt(len(excess))
    return np.where(np.isfinite(mean), mean, np.inf), np.nan_to_num(error, nan=0.0, posinf=0.0), trace
