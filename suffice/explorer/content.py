"""What the page is told: records, errata and instances, as plain data and as formulas of JavaScript."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from suffice.bounds import THEOREMS, Theorem
from suffice.bounds.evaluate import EVALUATED
from suffice.bounds.papers import PAPERS
from suffice.bounds.saved_verdicts import known, saved_verdict
from suffice.support.errors import InputError
from suffice.support.html import text
from suffice.verification.errata import ERRATA, Erratum
from suffice.verification.evidence import met

from . import javascript
from .mathml import letters, mathml
from .truth import Truth, truths

_ROWS = 20_000


def content(progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Everything that is shown."""
    truth = truths(progress)
    errata = [_erratum(entry) for entry in ERRATA]
    shown = {(entry["key"], entry["edition"]): entry["at"] for entry in reversed(errata) if entry["at"]}
    return {
        "papers": [{"key": paper.key, "citation": paper.citation, "title": paper.title} for paper in PAPERS],
        "records": [_record(record, truth.get((record.key, record.edition)), shown) for record in THEOREMS],
        "errata": errata,
    }


@cache
def formulas() -> str:
    """An array of JavaScript in the order of the records: what bounds and conditions are as functions of the values."""
    return "\n".join(["const FORMULAS = [", *(f"  {javascript.formula(record)}," for record in THEOREMS), "];"])


def typical_points(theorem: Theorem, count: int, *, seed: int = 0, unmet: bool = False) -> dict[str, np.ndarray]:
    """Up to `count` points of the typical ranges, log-uniform, that meet the conditions, or with `unmet` do not."""
    rng, values = np.random.default_rng((11, seed)), {}
    for parameter in theorem.parameters:
        x = np.exp(rng.uniform(*np.log(parameter.typical), _ROWS))
        values[parameter.name] = np.floor(x) if parameter.integer else x
    good = np.flatnonzero(met(theorem, values, (_ROWS,)) != unmet)[:count]
    return {name: value[good] for name, value in values.items()}


def _record(record: Theorem, truth: Truth | None, errata: Mapping[tuple[str, str], dict[str, float]]) -> dict[str, Any]:
    row = known().get((record.key, record.edition), {})
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
        "trueAsPrinted": record.true_as_printed,
        "reason": record.order_only or "",
        "superseded": record.superseded_by.key if record.superseded_by else "",
        "verdict": "superseded" if record.superseded_by else row.get("verdict", "not checked"),
        "verdictWords": saved_verdict(record),
        "latex": record.latex(),
        "math": _math(record.latex(), display=True) if record.bound else "",
        "parameters": [_parameter(record, parameter.name) for parameter in record.parameters],
        "conditions": record.condition_names(),
        "at": _start(record, truth, errata.get((record.key, record.edition))),
        "truth": truth
        and {
            "at": {name: _short(value) for name, value in truth.at.items()},
            "value": truth.value,
            "words": truth.words,
            "curves": truth.curves,
        },
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
        "careful": parameter.upper if careful else _rounded(math.sqrt(low * high), parameter.integer),
        "remedy": parameter.refusal(0).remedy,
    }


def _math(latex: str, *, display: bool = False) -> str:
    """MathML; another package's paper may use commands that the converter does not know."""
    try:
        return mathml(latex, display=display)
    except InputError:
        return f"<code>{text(latex)}</code>"


def _start(record: Theorem, truth: Truth | None, erratum: dict[str, float] | None) -> dict[str, float]:
    """Where the sliders stand first: at the counterexample, at the tight instance, or at typical values."""
    if erratum is not None or truth is not None:
        return erratum or {name: _short(value) for name, value in (truth.at if truth is not None else {}).items()}
    middle = {p.name: math.sqrt(p.typical[0] * p.typical[1]) for p in record.parameters}
    points = typical_points(record, _ROWS)
    far = sum((np.log(value / middle[name]) ** 2 for name, value in points.items()), np.zeros(1))
    if len(far) and all(len(value) for value in points.values()):
        middle = {name: float(value[int(np.argmin(far))]) for name, value in points.items()}
    return {p.name: _rounded(middle[p.name], p.integer) for p in record.parameters}


def _rounded(value: float, whole: bool) -> float:
    return float(math.floor(value)) if whole else float(f"{value:.3g}")


def _erratum(entry: Erratum) -> dict[str, Any]:
    """One erratum with its numbers, and the arguments at which a record gives the printed one, where a record does."""
    asked: list[Any] = []
    token = EVALUATED.set(asked)
    try:
        found = entry.compute()
    finally:
        EVALUATED.reset(token)
    gave = (
        (theorem, values)
        for theorem, values, bound in asked
        if np.ndim(bound) == 0 and math.isclose(bound, found.printed, rel_tol=1e-12)
    )
    theorem, values = next(gave, (None, {}))
    return {
        "id": entry.id,
        "paper": next(paper.key for paper in PAPERS if entry.id.startswith(f"{paper.key}-")),
        "location": entry.location,
        "kind": entry.kind,
        "claim": entry.claim,
        "truth": entry.truth,
        "correct": entry.key or "",
        "side": entry.side,
        "inputs": [[name, _as_written(value)] for name, value in found.inputs.items()],
        "printed": found.printed,
        "measured": found.measured,
        "key": theorem.key if theorem is not None else "",
        "edition": theorem.edition if theorem is not None else "",
        "at": {name: _short(float(value)) for name, value in values.items()},
    }


def _short(value: float) -> float:
    """Without the last roundings: 0.5 * 0.2**2 is meant as 0.02. What needs all its digits keeps them."""
    short = float(f"{value:.12g}")
    return short if math.isclose(short, value, rel_tol=2.0**-51) else value


def _as_written(value: Any) -> str:
    """Twelve digits: the last ones of a computed number differ between processors."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)
