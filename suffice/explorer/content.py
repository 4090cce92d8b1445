"""The page's content: records, errata and instances, as plain data and as formulas of JavaScript."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from suffice.bounds import THEOREMS, Theorem
from suffice.bounds.papers import PAPERS
from suffice.bounds.saved_errata import by_damage, said
from suffice.bounds.saved_verdicts import known, saved_verdict
from suffice.bounds.units import Unit
from suffice.support.errors import InputError
from suffice.support.html import text

from . import javascript
from .exact_values import exact_values, rounded
from .mathml import letters, mathml

TYPESET = Path(__file__).with_name("typeset.json")
"""Texts of records and errata whose mathematics the documentation typesets, with TeX between dollars;
`python docs/generate.py typeset` writes it."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TOLD = ("key", "edition", "title", "statement", "direction", "hypotheses", "tight", "fault")
_NO_ROW: Mapping[str, Any] = {"at": {}, "instances": []}
_ALSO = {
    "step size": "learning rate",
    "heterogene|distortion|dissimilarity|bias": "heterogeneity non-iid",
    "scafflix": "scaffold scaffnew proxskip",
    "local step": "local sgd fedavg",
    "sufficient variance": "effective sample size",
    "collaborativ|similar|who trains": "who whom should learn train together",
}
"""Other words, on the right, that people search for where a text has the pattern on the left."""
_TOUR = """
adaptive-theorem-2-expectation T=1
Drag T from 1 to 2. After one step most of the thirty paths are below ε, where no peer is similar enough: client 0
goes on alone, with the noise of one client in place of the mean of a hundred, and the exact mean leaves the printed
bound.

cobo-example-2-constant own_curvature=1
Drag own_curvature down from 1 to 0.5. The printed lower bound rises above the truth: the square in its denominator
should not be there, which shows wherever the squared curvatures add up to less than 1.

adaptive-theorem-3-minimum s2=0.01
Drag s2 down, or type 1e-8. The printed bound goes to 0 with the noise, as if descent without noise had no start to
forget; the exact mean of five steps, the dot, is far above it.

cobo-theorem-1-small-step eta=0.001
Drag eta down, or type 1e-9. The print promises the same for every small step, but such steps do not arrive anywhere
within T of them: the gradient, the dot, is that of the start.

scafflix-assumption-3-convexity beta=10
Drag L_i up: the printed bound passes the dot only when the losses are called nine times less smooth than they are. The
print asks smoothness alone, but one sample of two is concave, so that their mean is flat where each gradient is large.
"""
"""The stops of the page's opening: an erratum, the argument drawn along and where its slider starts, and what to do."""


def content() -> dict[str, Any]:
    """Everything that is shown."""
    exact, verdicts = exact_values(), known()
    ranked = [entry["id"] for entry in by_damage(exact["errata"])]
    data = {
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
        "errata": [
            entry
            | {
                "said": said(entry),
                "given": list(_given(entry)),
                "worst": round(1 - ranked.index(entry["id"]) / len(ranked), 3),
            }
            for entry in exact["errata"]
        ],
        "paths": exact["paths"],
        "tour": list(map(_stop, _TOUR.strip().split("\n\n"))),
    }
    tex = json.loads(TYPESET.read_text(encoding="utf-8"))
    return data | {"typeset": {one: _html(tex[one]) for _, one in texts(data) if one in tex}}


def _stop(paragraph: str) -> dict[str, Any]:
    head, _, words = paragraph.partition("\n")
    erratum, along, value = re.split("[ =]", head)
    return {"erratum": erratum, "along": along, "start": {along: float(value)}, "words": words.replace("\n", " ")}


def _given(entry: Mapping[str, Any]) -> Iterator[str]:
    """The inputs of an erratum: what is described in words is told behind a colon."""
    for name, value in entry["inputs"]:
        yield f"{name}{':' if re.match('(an?|with|every) ', value) or name == 'quantity' else ' ='} {value}"


def texts(data: Mapping[str, Any]) -> Iterator[tuple[int | None, str]]:
    """Texts that people read of `content()`, with the number of the record whose symbols it has."""
    for number, record in enumerate(data["records"]):
        own = ("title", "place", "statement", "fault", "hypotheses", "tight", "reason", "verdictWords")
        yield from ((number, record[name]) for name in own)
        yield from ((number, name) for name in record["conditions"])
        yield from ((number, parameter["meaning"]) for parameter in record["parameters"])
        yield from ((number, instance["words"]) for instance in record["instances"])
    for entry in data["errata"]:
        yield from ((None, one) for one in (entry["location"], entry["claim"], entry["truth"], *entry["given"]))
    at = {entry["id"]: (entry["key"], entry["edition"]) for entry in data["errata"]}
    keys = [(record["key"], record["edition"]) for record in data["records"]]
    yield from ((keys.index(at[stop["erratum"]]), stop["words"]) for stop in data["tour"])


def _html(tex: str) -> str:
    """Formulas between dollars and code between backquotes; the rest is text."""
    parts = re.split(r"([$`])(.*?)\1", tex)
    shown = (text(part) for part in parts[::3])
    marked = [
        _math(what) if sign == "$" else f"<code>{text(what)}</code>" for sign, what in zip(parts[1::3], parts[2::3])
    ]
    return "".join(word + mark for word, mark in zip(shown, [*marked, ""]))


@cache
def formulas() -> str:
    """An array of JavaScript in the order of the records: what bounds and conditions are as functions of the values."""
    return "\n".join(["const FORMULAS = [", *(f"  {javascript.formula(record)}," for record in THEOREMS), "];"])


def _record(record: Theorem, exact: Mapping[str, Any], verdicts: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    row = verdicts.get((record.key, record.edition), {})
    latex = record.latex()
    about = f"{record.key} {record.title} {record.statement} {record.hypotheses}".lower()
    return {
        **{name: getattr(record, name) or "" for name in _TOLD},
        "also": " ".join(more for word, more in _ALSO.items() if re.search(word, about)),
        "place": record.source.locator,
        "quantity": record.quantity.expression,
        "quantityMath": _math(record.quantity.latex),
        "unit": _unit(record.quantity.unit),
        "faultLabel": record.fault_label,
        "most": 1 if record.direction == "upper" and record.quantity.is_probability else None,
        "reason": record.order_only or "",
        "superseded": record.superseded_by.key if record.superseded_by else "",
        "verdict": "superseded" if record.superseded_by else row.get("verdict", "not checked"),
        "verdictWords": _checked(saved_verdict(record, verdicts)),
        "latex": latex,
        "math": _math(latex, display=True) if record.bound else "",
        "parameters": [_parameter(record, parameter.name) for parameter in record.parameters],
        "conditions": record.condition_names(),
        "at": exact["at"] if "at" in exact else exact["instances"][0]["at"],
        "instances": exact["instances"],
    }


def _checked(words: str) -> str:
    """The words of a saved verdict for a reader who has not seen another verdict."""
    words = re.sub("^none kept$", "no verification of it is saved", words).replace("worst ratio", "worst ratio found")
    return words.replace("vacuous on 0 instances", "vacuous: no instance meets the hypotheses")


def _parameter(record: Theorem, name: str) -> dict[str, Any]:
    parameter, symbol = record.parameter(name), record.symbol(name)
    low, high = parameter.typical
    careful = record.monotone.get(name) == 1 and math.isfinite(parameter.upper)
    return {
        **{told: getattr(parameter, told) for told in ("name", "meaning", "lower", "integer")},
        "symbol": _math(symbol),
        "letters": letters(symbol),
        "unit": _unit(parameter.unit),
        "upper": parameter.upper if math.isfinite(parameter.upper) else None,
        "open": parameter.open_lower,
        "typical": [low, high],
        "careful": parameter.upper if careful else rounded(math.sqrt(low * high), parameter.integer),
        "remedy": parameter.refusal(0).remedy,
    }


def _unit(unit: Unit) -> str:
    """Powers as they are written, and theta as its letter."""
    raised = re.sub(r"\^(-?\d+)", lambda found: found[1].translate(_RAISED), str(unit))
    return raised.replace("theta", "θ")


def _math(latex: str, *, display: bool = False) -> str:
    """MathML; another package's paper may use commands that the converter does not know."""
    try:
        return mathml(latex, display=display)
    except InputError:
        return f"<code>{text(latex)}</code>"
