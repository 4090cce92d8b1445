"""The pages of docs/theorems, from the records."""

from __future__ import annotations

from typing import Any

from suffice.bounds import DEFINITIONS, PAPERS, THEOREMS, Definition, Paper, Theorem, latex
from suffice.bounds.parameters import Parameter
from suffice.bounds.saved_errata import errata_of, said
from suffice.bounds.saved_verdicts import attained, extent, known, saved_proof, sharpness_of
from suffice.bounds.units import Unit
from suffice.support.tables import times_text

from .markdown import cell
from .mathematics import tex, typeset

_INTRODUCTION = """# Theorems

Every statement of the papers below in corrected form and, where the paper differs, as printed. Rely on the corrected
statements; the printed ones are kept for comparison. `suffice theorem KEY` shows the same in a terminal and
`suffice theorem KEY mu=0.5 ...` evaluates it. The symbols of a paper are explained once, at the end of its last page.
"""
RESULTS = 30
"""So many a page; a paper with more has several pages."""


def pages() -> dict[str, str]:
    """File name -> text: the pages of each paper, and an index."""
    found = {name: text for paper in PAPERS for name, text in of_paper(paper).items()}
    return found | {"index.md": index()}


def index() -> str:
    """Every record in a line, paper by paper."""
    verdicts = known()
    lines = [_INTRODUCTION]
    for paper in PAPERS:
        lines += [
            f"## [{paper.key}]({paper.key}.md)",
            "",
            f"*{typeset(paper.title)}.*",
            "",
            "| statement | key | edition | bounds | source | verdict |",
            "|---|---|---|---|---|---|",
        ]
        for theorem in _of(paper.key):
            verdict = verdicts.get((theorem.key, theorem.edition), {}).get("verdict", "")
            link = f"[{theorem.key}]({_file(theorem.key)}#{anchor(theorem.key)})"
            cells = (typeset(theorem.title), link, theorem.edition, f"${cell(theorem.quantity.latex)}$")
            lines.append(f"| {' | '.join((*cells, typeset(theorem.source.locator), verdict))} |")
        lines.append("")
    return "\n".join(lines)


def _of(paper: str) -> list[Theorem]:
    return [theorem for theorem in THEOREMS if theorem.key.startswith(paper + "/")]


def _parts(paper: str) -> dict[str, list[str]]:
    """The keys of a paper's results by the file where they are, in files of about the same length."""
    keys = list(dict.fromkeys(theorem.key for theorem in _of(paper)))
    many = max(-(-len(keys) // RESULTS), 1)
    ends = [len(keys) * part // many for part in range(many + 1)]
    return {f"{paper}{f'-{at + 1}' * (at > 0)}.md": keys[ends[at] : ends[at + 1]] for at in range(many)}


def _file(key: str) -> str:
    """Where a result, or a definition, of a paper is."""
    parts = _parts(key.partition("/")[0])
    return next((name for name, keys in parts.items() if key in keys), list(parts)[-1])


def of_paper(paper: Paper) -> dict[str, str]:
    """File name -> text of a paper's pages: its results, on the last one its definitions and what its symbols mean."""
    parts, titles = _parts(paper.key), {theorem.key: typeset(theorem.title) for theorem in _of(paper.key)}
    found = {}
    for at, (name, keys) in enumerate(parts.items()):
        lines = ["---", "tocdepth: 2", "---", "", f"# {paper.title}", ""]
        if len(parts) > 1:
            links = [f"- [{titles[own[0]]}]({file}) and what follows" for file, own in parts.items()]
            lines += [f"Part {at + 1} of {len(parts)}:", "", *links, ""]
        lines += [*_results(keys), *(_end(paper) if at == len(parts) - 1 else ())]
        found[name] = "\n".join(lines).rstrip() + "\n"
    return found


def _results(keys: list[str]) -> list[str]:
    lines = []
    for key in keys:
        editions = [theorem for theorem in THEOREMS if theorem.key == key]
        corrected = next(theorem for theorem in editions if theorem.edition == "corrected")
        lines += [f"## {typeset(corrected.title)}", "", f"### {key}", "", f"*{typeset(corrected.source.locator)}.*", ""]
        for theorem in editions:
            lines += _edition(theorem)
    return lines


def _end(paper: Paper) -> list[str]:
    """A paper's definitions, and what its symbols mean."""
    lines: list[str] = []
    definitions = [entry for entry in DEFINITIONS if entry.key.startswith(paper.key + "/")]
    if definitions:
        lines += ["## Definitions", ""]
        for definition in definitions:
            lines += _definition(definition)
    return [*lines, *_symbols(_of(paper.key))]


def _edition(theorem: Theorem) -> list[str]:
    verdict = known().get((theorem.key, theorem.edition))
    errata = errata_of("", [theorem.key])
    symbols = {parameter.name: theorem.symbol(parameter.name) for parameter in theorem.parameters}
    lines = [f"**{theorem.edition.capitalize()}.** {typeset(theorem.statement, symbols)}", ""]
    if theorem.bound is not None:
        lines += ["$$", latex(theorem), "$$", ""]
    else:
        lines += [f"Cannot be evaluated: {typeset(theorem.order_only or '')}", ""]
    facts = [
        (theorem.fault_label, theorem.fault),
        (
            "Errata",
            "; ".join(
                f"[{typeset(row['location'])}](../errata/{row['kind']}.md#{row['id']}): {typeset(said(row))}"
                for row in errata
            ),
        ),
        ("Hypotheses", theorem.hypotheses),
        ("Conditions", "; ".join(theorem.condition_names())),
        ("Tight", theorem.tight),
        ("Reduces to", "; ".join(f"`{entry.key}` ({entry.when})" for entry in theorem.reduces_to)),
        ("Superseded by", f"`{theorem.superseded_by}`" if theorem.superseded_by else ""),
        ("Keywords", ", ".join(f"`{name}` ${symbol}$" for name, symbol in symbols.items())),
        ("Verdict", _verdict(verdict) if verdict else ""),
        ("Proof", saved_proof(theorem)),
        ("Sharpness", sharpness_of(verdict)),
    ]
    kept = [
        f"- {name}: {text if name in ('Keywords', 'Errata') else typeset(text, symbols)}"
        for name, text in facts
        if text
    ]
    return [*lines, *kept, *([""] if kept else [])]


def _verdict(row: dict[str, Any]) -> str:
    ratio = "" if row["worst_ratio"] is None else f", worst ratio {times_text(row['worst_ratio'])}{attained(row)}"
    return f"{extent(row)}{ratio}"


def unit(of: Unit) -> str:
    """A unit as a formula."""
    return "none" if not any(of) else f"${tex(str(of))}$"


def _symbols(records: list[Theorem]) -> list[str]:
    """A table of the keywords of a page, each once, with every letter that the paper has for it."""
    rows: dict[str, tuple[Parameter, dict[str, None]]] = {}
    for theorem in records:
        for parameter in theorem.parameters:
            rows.setdefault(parameter.name, (parameter, {}))[1][theorem.symbol(parameter.name)] = None
    lines = ["## Symbols", "", "| keyword | symbol | meaning | unit |", "|---|---|---|---|"] if rows else []
    for name, (parameter, letters) in rows.items():
        shown = ", ".join(f"${cell(letter)}$" for letter in letters)
        lines.append(f"| `{name}` | {shown} | {cell(typeset(parameter.meaning))} | {unit(parameter.unit)} |")
    return lines


def _definition(definition: Definition) -> list[str]:
    arrays = "; ".join(
        f"`{name}` ({', '.join(definition.shape(name)) or 'scalar'}), unit {unit(of)}"
        for name, of in definition.vectors.items()
    )
    lines = [
        f"### {definition.key} ({definition.edition})",
        "",
        f"*{typeset(definition.title)}. {typeset(definition.source.locator)}.*",
        "",
    ]
    lines += ["$$", definition.latex, "$$", "", f"- Unit: {unit(definition.unit)}", f"- Arrays: {arrays}"]
    if definition.fault:
        lines.append(f"- Fault: {typeset(definition.fault)}")
    return [*lines, ""]


def anchor(key: str) -> str:
    """Where a record is on its page."""
    return key.replace("/", "")


def address(key: str) -> str:
    """Where a record is, from the folder of the pages; definitions stand together near the end of a page."""
    at = anchor(key) if any(entry.key == key for entry in THEOREMS) else "definitions"
    return f"theorems/{_file(key)}#{at}"
