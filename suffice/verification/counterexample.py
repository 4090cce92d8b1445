"""A violation that `check` found, shrunk to a simple instance, with both sides at 50 digits.

Violations are found by `violation_search`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.bounds import Theorem

from .evidence import AGREEMENT
from .family import Values
from .problem_measure import M, Measure
from .rounding_violations import at_digits
from .verdict import Verdict, unused
from .violation_search import shrink


def with_counterexample(verdict: Verdict, theorem: Theorem, measured: Sequence[Measure]) -> Verdict:
    if "values" not in verdict.evidence.worst_instance:
        return verdict
    found = _counterexample(theorem, *at_worst(verdict, measured))
    if found["bound"] != found["bound"]:  # not a number
        seen = replace(verdict.evidence, undefined_at=found["arguments"])
        return replace(verdict, counterexample=found, evidence=seen)
    most = max(abs(found["measured"]), abs(found["bound"]))
    if found["margin"] <= max(AGREEMENT / 2, 10.0 ** -found["digits"]) * most:
        ratio, digits = f"1 + {verdict.worst_ratio - 1:.2g}", found["digits"]
        reason = f"measured/bound = {ratio} in float64 is not confirmed by {digits} digits: rounding decides"
        return Verdict.inconclusive(theorem, reason)
    return replace(verdict, counterexample=found)


def at_worst(verdict: Verdict, measured: Sequence[M]) -> tuple[M, Values]:
    """The measure and the values of the worst instance."""
    measure = next(each for each in measured if each.problems.name == verdict.evidence.worst_instance["label"])
    return measure, {name: np.asarray(value)[None] for name, value in verdict.evidence.worst_instance["values"].items()}


def _counterexample(theorem: Theorem, measure: Measure, worst: Values) -> dict[str, Any]:
    """The simplest violating instance found, both sides at 50 digits, or as many as are good."""
    try:
        simple = shrink(theorem, measure.family(theorem), worst, margin=10 * AGREEMENT)
    except ValueError:  # it is violated by less
        simple = worst
    setting = measure.settings(theorem, simple)[0]
    scalars, clients = setting.arguments, setting.problem.clients
    measured, good = measure.exactly(setting)
    value, exact = at_digits(theorem, {entry.name: scalars[entry.name] for entry in theorem.parameters})
    given = {name: entry[0].tolist() for name, entry in simple.items()}
    return described(theorem, given, scalars, measured, value, clients, digits=min(good, exact))


def described(
    theorem: Theorem, values: dict[str, Any], scalars: Mapping[str, float], measured: Any, bound: Any, clients: int,
    *, digits: int,
) -> dict[str, Any]:  # fmt: skip
    """The entries of `Verdict.counterexample`, of an instance by its values and scalars."""
    arguments = {entry.name: scalars[entry.name] for entry in theorem.parameters if entry.name in scalars}
    return {
        "values": values, "arguments": arguments, "instance": unused(scalars, arguments), "measured": measured,
        "bound": bound, "margin": measured - bound if theorem.direction == "upper" else bound - measured,
        "clients": clients, "digits": digits,
    }  # fmt: skip
