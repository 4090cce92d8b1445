"""The errata as kept in a file beside this one, so that a theorem names its own without computing them.

`python docs/generate.py errata` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from suffice.support.tables import times_text

from .theorems import ids_of

FILE = Path(__file__).with_name("errata.json")
LOOSE, WITHDRAWN = "loose", "withdrawn"
"""The kinds of true statements, and of entries that did not stand."""
KINDS = {
    "false": "the claim does not hold",
    "vacuous": "nothing meets the hypotheses",
    "hypothesis": "an assumption is missing",
    "constant": "a constant or an exponent is wrong",
    "code": "the released code does something else",
    "typo": "the text has a slip",
    LOOSE: "no error: what is printed stands, and something is to be added",
}
"""The kinds of entries and what each means, the most damaging one first."""
Row = Mapping[str, Any]


@cache
def saved_rows() -> tuple[dict[str, Any], ...]:
    """The rows of the library's own papers; the numbers of withdrawn ones are None."""
    return tuple(json.loads(FILE.read_text(encoding="utf-8")))


def by_damage(rows: Iterable[Row]) -> list[Row]:
    """The rows, the worst kind first, of one kind theorems first, then by how far the two numbers lie apart."""
    order = list(KINDS)
    theorem = lambda row: row["location"].startswith("Theorem")  # noqa: E731
    return sorted(rows, key=lambda row: (order.index(row["kind"]), not theorem(row), -_factor(row)))


def errata_of(part: str, keys: Iterable[str]) -> list[Row]:
    """The errata of these statements, or with the results that a part of a key names."""
    counted = [row for row in saved_rows() if row["kind"] in KINDS and row["kind"] != LOOSE]
    keys, named = set(keys), ids_of(part, [row["id"] for row in counted]) if part else []
    return by_damage(row for row in counted if row["key"] in keys or row["id"] in named)


def said(row: Row) -> str:
    """The error in words: by how much, where the print is a bound."""
    much = f" by a factor of {times_text(_factor(row))}" if _factor(row) >= 1.1 else ""
    if row["kind"] == LOOSE:
        return "true, with a remark"
    if row["kind"] == "vacuous":
        return "nothing satisfies the hypotheses"
    if row["direction"] == "upper" and row["measured"] > row["printed"]:
        return f"the bound is exceeded{much}"
    if row["direction"] == "lower" and row["measured"] < row["printed"]:
        return f"the lower bound is missed{much}"
    return f"printed {row['printed']:.4g}, true {row['measured']:.4g}"


def wrong_in_print(part: str, keys: Iterable[str]) -> str:
    """One line about these statements: the worst erratum, and the ids of others; "" where none is known."""
    if not (found := errata_of(part, keys)):
        return ""
    first, *others = found
    more = f"; also {', '.join(row['id'] for row in others)}" if 0 < len(others) < 4 else ""
    more = f", and {len(others)} more" if len(others) > 3 else more
    return f"{first['location']}: {said(first)} (`suffice errata {first['id']}`{more})"


def _factor(row: Row) -> float:
    """The larger over the smaller number; 0 where they have no ratio. Six digits: others differ between processors."""
    least, most = sorted((abs(row["printed"]), abs(row["measured"])))
    return float(f"{most / least:.6g}") if row["printed"] * row["measured"] > 0 else 0.0
