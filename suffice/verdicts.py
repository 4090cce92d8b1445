"""What the last kept verification concluded, in a file beside this one so that listing theorems needs no check.

`suffice verify --effort full` writes it, `--keep` writes it at any effort (each row says which); a test fails when a
statement has changed since.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds import Theorem, write_whole
from bounds.describe import condition_names, expression

if TYPE_CHECKING:
    from verify import Verdict

FILE = Path(__file__).with_name("verdicts.json")


def known() -> dict[tuple[str, str], dict[str, Any]]:
    """(key, edition) -> verdict, instances, worst_ratio and the fingerprint of what was checked."""
    if not FILE.exists():
        return {}
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return {(row["key"], row["edition"]): row for row in rows}


def keep(verdicts: Sequence[Verdict], effort: str = "full") -> None:
    """Add or replace the rows of `verdicts`, found at some effort; the others stay."""
    rows = known()
    for verdict in verdicts:
        theorem = verdict.theorem
        rows[theorem.key, theorem.edition] = {
            "key": theorem.key,
            "edition": theorem.edition,
            "verdict": verdict.outcome.value,
            "effort": effort,
            "instances": verdict.instances,
            "worst_ratio": _ratio(verdict),
            "note": verdict.note,
            "fingerprint": fingerprint(theorem),
        }
    text = json.dumps([rows[key] for key in sorted(rows)], indent=1, allow_nan=False) + "\n"
    write_whole(FILE, text.encode())


def kept(theorem: Theorem) -> str:
    """The kept verdict in words, with what it rests on."""
    row = known().get((theorem.key, theorem.edition))
    if row is None:
        return f"none: it cannot be evaluated ({theorem.order_only})" if theorem.order_only else "none kept"
    ratio = "" if row["worst_ratio"] is None else f", worst ratio {row['worst_ratio']:.4g}"
    note = f": {row['note']}" if row.get("note") else ""
    return f"{extent(row)}{ratio} (last kept verification, {row['effort']}){note}"


def extent(row: dict[str, Any]) -> str:
    """The verdict of a kept row with the number of instances; how many of them violated it is not kept."""
    counted = f"{row['instances']:,} instances"
    return f"violated, {counted} tried" if row["verdict"] == "violated" else f"{row['verdict']} on {counted}"


def _ratio(verdict: Verdict) -> float | None:
    """Six digits; None where nothing met the hypotheses, or where a printed bound of 0 was passed (JSON has no inf)."""
    if not verdict.instances or not math.isfinite(verdict.worst_ratio):
        return None
    return float(f"{verdict.worst_ratio:.6g}")


def fingerprint(theorem: Theorem) -> str:
    """Changes with the bound, the names of its conditions or its statement."""
    # Evaluated: the order of an unevaluated expression can depend on what else this process has computed.
    formula = str(expression(theorem).doit()) if theorem.bound is not None else str(theorem.order_only)
    text = "\n".join((formula, *condition_names(theorem), theorem.statement, theorem.hypotheses))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
