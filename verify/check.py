"""A verdict on anybody's own bound: `check(bound, algorithm=..., family=...)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bounds import PARAMETERS, InputError, Quantity, Source, Theorem, digits
from simulate import Algorithm, Local, expected_excess

from . import precise
from .claim import EFFORTS, Claim
from .evidence import AGREEMENT, Evidence
from .families import ProblemFamily, Setting, quadratics
from .family import Family, Values
from .search import shrink
from .verdict import Outcome, Verdict


def check(
    bound: Callable[..., Any],
    *,
    conditions: Callable[..., Any] | None = None,
    quantity: str | Quantity = Quantity.EXCESS,
    algorithm: Algorithm | None = None,
    family: ProblemFamily | None = None,
    client: int = 0,
    effort: str = "quick",
    root: int = 0,
) -> Verdict:
    """Whether E[e_T] of one client stays under `bound` on every instance of `family` that meets `conditions`.

    bound       a function of keyword scalars from `PARAMETERS` (mu, beta, eta, e0, sigma2, T, ...), in plain
                arithmetic or the functions of `bounds.elementary`, so that wrong variants of it can be made and refuted
    conditions  a function of such scalars that returns {name: (lhs, rhs)} with lhs <= rhs
    algorithm   a linear one, `Local()` unless given: its expected excess is computed exactly
    family      instances, `quadratics()` unless given
    client      whose excess is measured; scalars such as e0 are the family's, those of `quadratics` seen from client 0

    A violation is shrunk to a simple instance and evaluated again at 50 digits: see `verdict.counterexample`.
    Raises `InputError`.
    """
    chosen = algorithm if algorithm is not None else Local()
    if quantity not in (Quantity.EXCESS, "excess", "EXCESS"):
        raise InputError("quantity", str(quantity), "own bounds are checked on the expected excess: use excess")
    if not chosen.linear:
        raise InputError("algorithm", chosen.name, "give a linear one: its expected excess is computed exactly")
    if effort not in EFFORTS:
        raise InputError("effort", effort, f"use {' or '.join(EFFORTS)}")
    problems = family if family is not None else quadratics()
    theorem = record(bound, conditions)
    instances = measured_family(problems, theorem, chosen, client)
    verdict = Claim(theorem=theorem, families=(instances,)).verify(effort=effort, root=root)
    if verdict.outcome is not Outcome.VIOLATED or "values" not in verdict.worst_instance:
        return verdict
    worst = {name: np.asarray(value)[None] for name, value in verdict.worst_instance["values"].items()}
    return replace(verdict, counterexample=_counterexample(theorem, instances, problems, chosen, client, worst))


def record(bound: Callable[..., Any], conditions: Callable[..., Any] | None = None) -> Theorem:
    """Somebody's own bound of E[e_T] as a theorem; its parameters must be known keywords."""
    for function in filter(None, (bound, conditions)):
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in PARAMETERS:
                raise InputError(
                    "parameter", name, f"name it as in suffice.PARAMETERS: {', '.join(list(PARAMETERS)[:9])}, ..."
                )
            if parameter.kind not in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                raise InputError("parameter", name, "take scalars by keyword")
    given: dict[str, Any] = {} if conditions is None else {"conditions": conditions}
    return Theorem(
        key="own/bound",
        edition="corrected",
        title=getattr(bound, "__name__", "own bound"),
        source=Source(paper="yours", locator=getattr(bound, "__name__", "own bound")),
        statement=inspect.getdoc(bound) or "E[e_T] is at most the bound.",
        quantity=Quantity.EXCESS,
        direction="upper",
        mode="expectation",
        bound=bound,
        **given,
    )


def measured_family(
    problems: ProblemFamily, theorem: Theorem, algorithm: Algorithm | None = None, client: int = 0
) -> Family:
    """The family with the exact expected excess of `algorithm` (`Local()` unless given) as what it measures."""
    chosen = algorithm if algorithm is not None else Local()
    return Family(
        name=problems.name,
        domains=problems.domains,
        measure=lambda values: _measure(problems, chosen, client, theorem, values),
        sharp=problems.sharp,
    )


def _measure(problems: ProblemFamily, algorithm: Algorithm, client: int, theorem: Theorem, values: Values) -> Evidence:
    measured, rows = [], []
    for index in range(len(next(iter(values.values())))):
        setting = _setting(problems, values, index)
        if not 0 <= client < setting.problem.clients:
            last = setting.problem.clients - 1
            raise InputError("client", client, f"the family {problems.name} has clients 0 to {last}")
        excess = expected_excess(setting.problem, algorithm, iterations=setting.iterations, eta=setting.eta)
        measured.append(excess[setting.iterations, client])
        rows.append(setting.arguments)
    for parameter in theorem.parameters:
        if parameter.name not in rows[0]:
            raise InputError("parameter", parameter.name, f"the family {problems.name} gives {', '.join(rows[0])}")
    return Evidence(
        engine="exact moments",
        measured=np.array(measured),
        arguments={name: np.array([row[name] for row in rows]) for name in rows[0]},
        label=problems.name,
        values=values,
    )


def _setting(problems: ProblemFamily, values: Values, index: int) -> Setting:
    return problems.build({name: value[index] for name, value in values.items()})


def _counterexample(
    theorem: Theorem, instances: Family, problems: ProblemFamily, algorithm: Algorithm, client: int, worst: Values
) -> dict[str, Any]:
    """The simplest violating instance found, both sides at 50 digits."""
    simple = shrink(theorem, instances, worst, margin=10 * AGREEMENT)
    setting = _setting(problems, simple, 0)
    measured = precise.expected_excess(
        setting.problem, algorithm, iterations=setting.iterations, eta=setting.eta, client=client
    )
    needed = {parameter.name for parameter in theorem.parameters}
    arguments: dict[str, Any] = {name: setting.arguments[name] for name in sorted(needed)}
    value = digits(theorem, **arguments)
    return {
        "values": {name: entry[0].tolist() for name, entry in simple.items()},
        "arguments": arguments,
        "measured": measured,
        "bound": value,
        "margin": measured - value,
    }
