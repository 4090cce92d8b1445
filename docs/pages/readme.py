"""The README's table of theorems, from the kept verdicts."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from suffice.bounds import THEOREMS, Theorem
from suffice.verdicts import known

START, END = "<!-- theorems: made by `make pages` -->", "<!-- end of theorems -->"
_RESULT = re.compile(r"(theorem|corollary|lemma|property|definition|remark|equation|assumption|example)-\d+")
_ORDER_ONLY = "cannot be evaluated"
_SUPERSEDED = "superseded"  # true, and by a sharper record not needed: `verify` of a whole paper leaves it out
_NOT_CHECKED = "not checked"


def result_of(theorem: Theorem) -> tuple[str, str]:
    """(paper, numbered result) that a record belongs to; "other" for what has no number."""
    paper, _, name = theorem.key.partition("/")
    numbered = _RESULT.match(name)
    return paper, numbered[0].replace("-", " ").capitalize() if numbered else "other"


def table() -> str:
    """Markdown: one row per numbered result, with how many records of each edition have which verdict."""
    verdicts = known()
    lines = ["| paper | result | as printed | as corrected |", "|---|---|---|---|"]
    for paper, result in sorted({result_of(theorem) for theorem in THEOREMS}, key=_place):
        cells = {
            edition: Counter(
                _verdict(theorem, verdicts)
                for theorem in THEOREMS
                if result_of(theorem) == (paper, result) and theorem.edition == edition
            )
            for edition in ("printed", "corrected")
        }
        words = [", ".join(f"{count} {what}" for what, count in counts.items()) for counts in cells.values()]
        lines.append(f"| [{paper}](docs/theorems/{paper}.md) | {result} | {words[0]} | {words[1]} |")
    return "\n".join(lines) + "\n"


def renewed(readme: str) -> str:
    """The README with the table between its markers; `ValueError` where a marker is missing."""
    before, start, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise ValueError("the README needs both markers of the table")
    return f"{before}{START}\n{table()}{END}{after}"


def _verdict(theorem: Theorem, verdicts: dict[tuple[str, str], dict[str, Any]]) -> str:
    if theorem.bound is None:
        return _ORDER_ONLY
    if theorem.superseded_by is not None:
        return _SUPERSEDED
    row = verdicts.get((theorem.key, theorem.edition))
    return _NOT_CHECKED if row is None else str(row["verdict"])


def _place(entry: tuple[str, str]) -> tuple[int, int]:
    """Papers and results in the order of the records, what has no number last."""
    first = [result_of(theorem) for theorem in THEOREMS]
    papers = list(dict.fromkeys(paper for paper, _ in first))
    return papers.index(entry[0]), len(first) if entry[1] == "other" else first.index(entry)
