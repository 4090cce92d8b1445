"""How many statements of each numbered result have which verdict, and how sharp they are, from the kept verdicts."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from suffice.bounds import THEOREMS, Theorem
from suffice.bounds.saved_verdicts import attained, known
from suffice.support.tables import ratio_text, times_text
from suffice.verification.regime import AHEAD, FACTOR, FORGOTTEN, KAPPA, LONG, NEAR, REST, STEP, TELLING, USED

from .markdown import cell
from .mathematics import typeset
from .theorems import address

HEAD = """# Verdicts

The verdicts of each numbered result in the last full verification, by number of records. *Violated* and *vacuous* (no
instance satisfies the hypotheses) are findings about the printed text; *weak* means that a deliberately wrong variant
passed the same test; *superseded* records are true, and a sharper one replaces them. Each record has its own row in
[theorems](theorems/index.md), each fault an entry in [errata](errata.md).
"""
_REGIME = f"""## Sharpness where it matters

A worst ratio of 1 says that a bound is attained somewhere. This table says how much of it is reached in one regime, the
same for all:

* kappa is {KAPPA:g}, to a factor of {NEAR:g};
* noise makes up {1 - REST:.0%} of the bound or more; of a number of steps of a given size, it takes up {USED:.0%} or
  more of what limits the size;
* the step is at most {STEP:g}/beta, and decreasing steps C/(mu (t + gamma)) have C = {FACTOR:g};
* T is {LONG:,} or more, the start at least {AHEAD:g} times the bound (or the precision), and forgotten: twice the start
  and the bias add {FORGOTTEN:.1%} at most;
* a bound of a probability is {TELLING:g} at most.

*Parts* are those that the record's parameters have; records with one or none are left out. The ratio is the largest
measured/bound that a short search finds among the instances of the claim: the true one may be larger. "-": none of them
reaches the regime; 0: of a probability nothing but 0 is known from below. A number of rounds is compared with what the
algorithm needs at the step that the record prescribes (a better step may need fewer); where the record prescribes the
number too, as in two stages, with that number. The loosest come first.
"""
_RESULT = re.compile(r"(theorem|corollary|lemma|property|definition|remark|equation|assumption|example)-\d+")


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
        lines.append(f"| [{paper}](theorems/{paper}.md) | {result} | {words[0]} | {words[1]} |")
    return "\n".join(lines) + "\n"


def text() -> str:
    """The whole page: both tables."""
    return f"{HEAD}\n{table()}\n{typeset(_REGIME)}\n{sharpness()}"


def sharpness() -> str:
    """Markdown: measured/bound in the regime, the loosest record first."""
    verdicts = known()
    rows = [(theorem, verdicts.get((theorem.key, theorem.edition), {})) for theorem in THEOREMS]
    kept = [(theorem, row) for theorem, row in rows if len((row.get("regime") or {}).get("parts", ())) >= 2]
    kept.sort(key=lambda entry: (entry[1]["regime"]["ratio"] is None, entry[1]["regime"]["ratio"] or 0.0))
    lines = ["| record | bounds | measured/bound | parts | worst ratio |", "|---|---|---|---|---|"]
    for theorem, row in kept:
        regime = row["regime"]
        ratio = "-" if regime["ratio"] is None else ratio_text(regime["ratio"], 3)
        worst = "-" if row["worst_ratio"] is None else f"{times_text(row['worst_ratio'])}{attained(row)}"
        link = f"[{theorem.key}]({address(theorem.key)})"
        parts = "all" if not regime["lacks"] else f"all but {', '.join(regime['lacks'])}".replace(" no ", " ")
        lines.append(f"| {link} | ${cell(theorem.quantity.latex)}$ | {ratio} | {typeset(parts)} | {typeset(worst)} |")
    return "\n".join(lines) + "\n"


def _verdict(theorem: Theorem, verdicts: dict[tuple[str, str], dict[str, Any]]) -> str:
    if theorem.bound is None:
        return "cannot be evaluated"
    if theorem.superseded_by is not None:
        return "superseded"  # true, and by a sharper record not needed: `verify` of a whole paper leaves it out
    row = verdicts.get((theorem.key, theorem.edition))
    return "not checked" if row is None else str(row["verdict"])


def _place(entry: tuple[str, str]) -> tuple[int, int]:
    """Papers and results in the order of the records, what has no number last."""
    first = [result_of(theorem) for theorem in THEOREMS]
    papers = list(dict.fromkeys(paper for paper, _ in first))
    return papers.index(entry[0]), len(first) if entry[1] == "other" else first.index(entry)
