"""Saved verdicts and proofs are those that were kept last, so that listing theorems checks and proves nothing.

`suffice verify --effort full --write suffice/bounds/verdicts.json` renews it in a checkout (each row says its effort);
a test fails when a statement has changed since. Nothing else writes there. `python docs/generate.py proofs` renews what
`proofs.json` says from the certificates.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from suffice.support.errors import InputError
from suffice.support.files import check_regular, write_whole
from suffice.support.tables import ratio_text, times_text

from .symbolic import as_expression, expression, on_symbols
from .theorem import Theorem
from .theorems import find

FILE = Path(__file__).with_name("verdicts.json")
PROOFS = Path(__file__).with_name("proofs.json")


@cache
def known() -> dict[tuple[str, str], dict[str, Any]]:
    """(key, edition) -> verdict, instances, worst_ratio and the fingerprint of what was checked."""
    return _rows(FILE)


def write_verdicts(path: Path, verdicts: Sequence[Any], effort: str) -> None:
    """Add or replace in the file at `path` the rows of `verdicts`, each a `suffice.verification.Verdict`, found at some
    effort; the others stay."""
    rows = _rows(path)
    for verdict in verdicts:
        theorem = verdict.theorem
        rows[theorem.key, theorem.edition] = {
            "key": theorem.key,
            "edition": theorem.edition,
            "verdict": verdict.outcome.value,
            "effort": effort,
            "instances": verdict.instances,
            "worst_ratio": _ratio(verdict),
            "attained": list(verdict.sharpness.attained),
            "regime": verdict.sharpness.to_dict(),
            "fingerprint": fingerprint(find(theorem.key, theorem.edition)),  # a claim may turn a lower bound round
        }
    text = json.dumps([rows[key] for key in sorted(rows)], indent=1, allow_nan=False) + "\n"
    write_whole(path, text.encode(), "write")


def _rows(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of a file; none where there is no file; `InputError` for a file of something else."""
    if not path.exists():
        return {}
    check_regular(path, "write")
    try:
        return {(row["key"], row["edition"]): row for row in json.loads(path.read_text(encoding="utf-8"))}
    except (ValueError, TypeError, KeyError):
        raise InputError("write", str(path), "holds something else than verdicts; give another file") from None


def saved_verdict(theorem: Theorem, rows: Mapping[tuple[str, str], dict[str, Any]] | None = None) -> str:
    """The kept verdict in words, with what it rests on; `rows` is `known()` where many are asked for."""
    row = (known() if rows is None else rows).get((theorem.key, theorem.edition))
    if row is None:
        return f"none: it cannot be evaluated. {theorem.order_only}" if theorem.order_only else "none kept"
    ratio = "" if row["worst_ratio"] is None else f", worst ratio {times_text(row['worst_ratio'])}{attained(row)}"
    return f"{extent(row)}{ratio} (most recent saved verification, {row['effort']})"


@cache
def _proofs() -> dict[str, str]:
    return json.loads(PROOFS.read_text(encoding="utf-8"))


def saved_proof(theorem: Theorem) -> str:
    """Proof steps, closed form, end to end, or what is missing; "" for a theorem without a kept line."""
    return _proofs().get(theorem.key, "") if theorem.guarantee else ""


def extent(row: dict[str, Any]) -> str:
    """The verdict of a kept row with the number of instances; how many of them violated it is not kept."""
    if not row["instances"]:
        return f"{row['verdict']}: no instance meets the hypotheses"
    counted = f"{row['instances']:,} instances"
    return f"violated, {counted} tried" if row["verdict"] == "violated" else f"{row['verdict']} on {counted}"


def attained(row: dict[str, Any]) -> str:
    """The simple cases in which alone the worst ratio of a kept row is reached; "" where it is reached elsewhere."""
    return f" (only at {' or '.join(cases)})" if (cases := row.get("attained")) else ""


def sharpness_of(row: dict[str, Any] | None) -> str:
    """The regime in words, from a kept row: which parts of it concern the record, and measured/bound; or ""."""
    regime = None if row is None else row.get("regime")
    if regime is None:
        return ""
    lacks = f"; {', '.join(regime['lacks'])} in this statement" if regime["lacks"] else ""
    if not regime["parts"]:
        return f"the regime does not concern it{lacks}"
    where = f"at {', '.join(regime['parts'])}{lacks}"
    if regime["ratio"] is None:
        return f"not known {where}: no instance found there"
    at = ", ".join(f"{name} = {value:.4g}" for name, value in regime["at"].items())
    return f"measured/bound reaches {ratio_text(regime['ratio'], 3)} {where} (found: {at})"


def _ratio(verdict) -> float | None:
    """Six digits; None where nothing met the hypotheses, or where a printed bound of 0 was passed (JSON has no inf)."""
    if not verdict.instances or not math.isfinite(verdict.worst_ratio):
        return None
    return float(ratio_text(verdict.worst_ratio, 6))


def fingerprint(theorem: Theorem) -> str:
    """Changes with the bound, with either side or the name of a condition, and with the statement."""
    formula = _formula(theorem.bound) if theorem.bound is not None else str(theorem.order_only)
    sides = (
        f"{name}: {_evaluated(as_expression(left))} <= {_evaluated(as_expression(right))}"
        for name, (left, right) in on_symbols(theorem.conditions).items()
    )
    text = "\n".join((formula, *sides, theorem.statement, theorem.hypotheses))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _formula(bound: Callable[..., Any]) -> str:
    """Evaluated: the order of an unevaluated expression can depend on what else this process has computed."""
    return _evaluated(expression(bound))


@lru_cache(maxsize=None, typed=True)
def _evaluated(formula) -> str:
    return str(formula.doit())
