"""docs/errata.md and a page for each kind of damage, and the rows that the command lists, computed from the entries."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from textwrap import wrap
from typing import Any

from suffice.bounds.bibtex import paper_entry
from suffice.bounds.papers import PAPERS
from suffice.bounds.saved_errata import by_damage, said
from suffice.verification.errata import ERRATA, WITHDRAWN, Erratum, Withdrawn

from .mathematics import tex, typeset
from .theorems import address

_INTRODUCTION = """# Errata

A direct computation contradicts {count} printed statements and lines of released code; the worst stand first, on
a page for each kind. Each has a counterexample on which both numbers were computed when these pages were made.
`suffice errata ID` recomputes them, and `suffice errata ID --bibtex` cites the erratum with its paper. What is true but
needs an addition, and what was withdrawn, is not counted and [stands apart](errata/loose.md).

| damage | {papers} |
|---|{rule}
{rows}
"""
_KINDS = {
    "false": ("False", "The claim does not hold, and adding a hypothesis of the paper's kind does not save it."),
    "vacuous": ("Nothing to apply it to", "Nothing satisfies the hypotheses."),
    "hypothesis": ("A hypothesis is missing", "The claim holds once the hypothesis named is added."),
    "constant": ("A constant is wrong", "The claim holds with another constant or exponent."),
    "code": ("Released code", "The code differs from the text, or from what is needed."),
    "typo": ("Slips", "The meaning can be recovered."),
    "loose": ("True, but", "No error, not counted: the print stands, with an addition."),
}
"""The kinds of entries by the damage that they do: a heading and what it says."""
_EXCEEDED = "The printed bound, which is exceeded, and the corrected one"
_PICTURES = {"adaptive-theorem-2-expectation": f"![{_EXCEEDED}](../pictures/theorem-2-truth.svg)"}
_WITHDRAWN = """## Withdrawn

What earlier versions listed and what did not stand. The ids go on answering, with the reason.
"""


def pages() -> dict[str, str]:
    """File name -> text: what is counted and cited, and the entries, of each kind of damage a page."""
    parts = {kind: f"---\ntocdepth: 2\n---\n\n# Errata\n\n{section(kind, ERRATA)}" for kind in _KINDS}
    gone = [
        f"- `{entry.id}` (*{typeset(entry.location)}*; it said: {typeset(entry.claim)}): {typeset(entry.truth)}"
        for entry in WITHDRAWN
    ]
    parts["loose"] = "\n".join([parts["loose"], _WITHDRAWN, *gone])
    found = {"errata.md": _index()} | {f"errata/{kind}.md": text for kind, text in parts.items()}
    return {name: text.rstrip() + "\n" for name, text in found.items()}


def _index() -> str:
    counted = [entry for entry in ERRATA if entry.counts]
    papers = [paper for paper in PAPERS if any(entry.paper == paper.title for entry in counted)]
    table = []
    for kind, (heading, _) in _KINDS.items():
        numbers = [sum(entry.kind == kind and entry.paper == paper.title for entry in counted) for paper in papers]
        table += [f"| [{heading}](errata/{kind}.md) | {' | '.join(map(str, numbers))} |"] if any(numbers) else []
    names, rule = " | ".join(paper.key for paper in papers), "---|" * len(papers)
    head = _INTRODUCTION.format(count=len(counted), papers=names, rule=rule, rows="\n".join(table))
    read = [f"- {paper.key}: {paper.reference} Read: {paper.read}." for paper in papers if paper.read]
    cited = ["", "## What was read", "", *read]
    cited += ["", "## How to cite", "", "`suffice errata ID --bibtex` adds the entry of an erratum to its paper's."]
    cited += ["", "```bibtex", *(line for paper in papers for line in _narrow(paper_entry(paper))), "```"]
    return "\n".join([head, *cited])


def _narrow(entry: str) -> list[str]:
    """Lines that a page shows whole."""
    return [part for line in entry.splitlines() for part in wrap(line, 96, subsequent_indent="    ")]


def rows() -> str:
    """What `suffice errata` lists, and the withdrawn entries, by their kind; six digits of the numbers."""
    names = ("id", "location", "kind", "truth", "key", "direction", "printed", "measured")
    short = lambda value: float(f"{value:.6g}") if isinstance(value, float) else value  # noqa: E731
    kept = [{name: short(row_of(entry)[name]) for name in names} for entry in (*ERRATA, *WITHDRAWN)]
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in kept) + "\n]\n"


@cache
def row_of(entry: Erratum | Withdrawn) -> dict[str, Any]:
    """All that is known of an entry, computed now."""
    return entry.to_dict()


def section(kind: str, entries: Sequence[Erratum]) -> str:
    """The entries of a kind with their numbers computed now, by damage."""
    chosen = by_damage(row_of(entry) for entry in entries if entry.kind == kind)
    heading, words = _KINDS[kind]
    lines = [f"## {heading}", "", words, ""] if chosen else []
    return "\n".join([*lines, *(line for row in chosen for line in _entry(row))])


def headline(row: Mapping[str, Any]) -> str:
    """What is wrong, in words: where, and by how much."""
    words = re.sub(r"(?<=factor of )\S*e\S+", lambda found: f"${tex(found[0])}$", said(row))
    return f"{typeset(row['location'][0].upper() + row['location'][1:])}: {words}"


def _entry(row: Mapping[str, Any]) -> list[str]:
    # 12 digits: the last ones of a computed number differ between processors
    given = {name: f"{value:.12g}" if isinstance(value, float) else value for name, value in row["inputs"].items()}
    of = f"{typeset(str(given.pop('quantity')))}: " if "quantity" in given else ""
    inputs = typeset("; ".join(f"{name} = {value}" for name, value in given.items()))
    return [
        f"### {headline(row)}",
        "",
        f"#### {row['id']}",
        "",
        f"*{row['paper']}.*",
        "",
        f"- In print: {typeset(row['claim'])}",
        *([f"- Counterexample: {inputs}"] if inputs else []),
        f"- Numbers: {of}printed {row['printed']:.4g}, true {row['measured']:.4g}",
        f"- What holds: {typeset(row['truth'])}"
        + (f" ([{row['key']}](../{address(row['key'])}))" if row["key"] else ""),
        *(("", _PICTURES[row["id"]]) if row["id"] in _PICTURES else ()),
        "",
    ]
