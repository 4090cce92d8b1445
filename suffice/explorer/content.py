"""What the page is told: records, errata and instances, as plain data and as formulas of JavaScript."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from suffice.bounds import THEOREMS, Theorem
from suffice.bounds.papers import PAPERS
from suffice.bounds.saved_verdicts import known, saved_verdict
from suffice.support.errors import InputError
from suffice.support.html import text

from . import javascript
from .exact_values import exact_values, rounded
from .mathml import letters, mathml

_NO_ROW: Mapping[str, Any] = {"at": {}, "instances": []}


def content() -> dict[str, Any]:
    """Everything that is shown."""
    exact, verdicts = exact_values(), known()
    return {
        "papers": [
            {
                "key": paper.key,
                "citation": paper.title if paper.citation == "suffice" else paper.citation,
                "title": paper.title,
            }
            for paper in PAPERS
        ],
        "records": [
            _record(record, exact["rows"].get(f"{record.key} {record.edition}", _NO_ROW), verdicts)
            for record in THEOREMS
        ],
        "errata": exact["errata"],
    }


@cache
def formulas() -> str:
    """An array of JavaScript in the order of the records: what bounds and conditions are as functions of the values."""
    return "\n".join(["const FORMULAS = [", *(f"  {javascript.formula(record)}," for record in THEOREMS), "];"])


def _record(record: Theorem, exact: Mapping[str, Any], verdicts: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    row = verdicts.get((record.key, record.edition), {})
    latex = record.latex()
    return {
        "key": record.key,
        "edition": record.edition,
        "title": record.title,
        "place": record.source.locator,
        "statement": record.statement,
        "quantity": record.quantity.expression,
        "quantityMath": _math(record.quantity.latex),
        "unit": str(record.quantity.unit),
        "direction": record.direction,
        "hypotheses": record.hypotheses,
        "tight": record.tight,
        "fault": record.fault or "",
        "faultLabel": record.fault_label,
        "most": 1 if record.direction == "upper" and record.quantity.is_probability else None,
        "reason": record.order_only or "",
        "superseded": record.superseded_by.key if record.superseded_by else "",
        "verdict": "superseded" if record.superseded_by else row.get("verdict", "not checked"),
        "verdictWords": saved_verdict(record, verdicts),
        "latex": latex,
        "math": _math(latex, display=True) if record.bound else "",
        "parameters": [_parameter(record, parameter.name) for parameter in record.parameters],
        "conditions": record.condition_names(),
        "at": exact["at"] if "at" in exact else exact["instances"][0]["at"],
        "instances": exact["instances"],
    }


def _parameter(record: Theorem, name: str) -> dict[str, Any]:
    parameter, symbol = record.parameter(name), record.symbol(name)
    low, high = parameter.typical
    careful = record.monotone.get(name) == 1 and math.isfinite(parameter.upper)
    return {
        "name": name,
        "symbol": _math(symbol),
        "letters": letters(symbol),
        "meaning": parameter.meaning,
        "unit": str(parameter.unit),
        "lower": parameter.lower,
        "upper": parameter.upper if math.isfinite(parameter.upper) else None,
        "open": parameter.open_lower,
        "integer": parameter.integer,
        "typical": [low, high],
        "careful": parameter.upper if careful else rounded(math.sqrt(low * high), parameter.integer),
        "remedy": parameter.refusal(0).remedy,
    }


def _math(latex: str, *, display: bool = False) -> str:
    """MathML; another package's paper may use commands that the converter does not know."""
    try:
        return mathml(latex, display=display)
    except InputError:
        return f"<code>{text(latex)}</code>"
