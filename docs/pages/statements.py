"""docs/statements.md: every statement of the papers, and the keys that cover it."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from suffice.bounds import DEFINITIONS, PAPERS, THEOREMS, Paper
from suffice.bounds.statement import Statement
from suffice.simulate.catalogue import ALGORITHMS
from suffice.verification.errata import ERRATA

from .mathematics import typeset
from .theorems import address

_INTRODUCTION = """# Statements of the papers

Every numbered statement, named display, definition, assumption and algorithm, in the order of each paper, with the keys
of the records and definitions that cover it, the algorithms that implement it (in italics), and its errata. If there is
no key, the last column says why.
"""


def names() -> Mapping[str, tuple[str, ...]]:
    """What a key of a statement may name: records and definitions, algorithms, errata."""
    entries = tuple(dict.fromkeys(entry.key for entry in (*THEOREMS, *DEFINITIONS)))
    return {"entry": entries, "algorithm": ALGORITHMS, "erratum": tuple(entry.id for entry in ERRATA)}


def found(paper: Paper, key: str) -> list[tuple[str, str]]:
    """(kind, name) of all that a key of a statement names, `*` standing for any text; [] where it names nothing."""
    wanted = {"entry": key if "/" in key else f"{paper.key}/{key}", "algorithm": key, "erratum": key}
    return [(kind, name) for kind, known in names().items() for name in known if fnmatchcase(name, wanted[kind])]


def covered(paper: Paper, statement: Statement, kind: str) -> list[str]:
    """The names of one kind that cover a statement, once each."""
    hits = (hit for key in statement.keys for hit in found(paper, key))
    return list(dict.fromkeys(name for of, name in hits if of == kind))


def wrong(paper: Paper, statement: Statement) -> list[str]:
    """Errata of a statement: those that it names, and those of the records that it names."""
    entries = covered(paper, statement, "entry")
    named = covered(paper, statement, "erratum")
    return [entry.id for entry in ERRATA if entry.id in named or entry.key in entries]


def text() -> str:
    """The whole page."""
    lines = [_INTRODUCTION]
    for paper in PAPERS:
        statements = paper.part("records", "STATEMENTS")
        if statements:
            lines += [f"## {paper.citation}", "", "| place | statement | covered by | errata | otherwise |"]
            lines += ["|---|---|---|---|---|", *(_row(paper, each) for each in statements), ""]
    return "\n".join(lines).rstrip() + "\n"


def _row(paper: Paper, statement: Statement) -> str:
    entries = [f"[{key}]({address(key)})" for key in covered(paper, statement, "entry")]
    algorithms = [f"*{name}*" for name in covered(paper, statement, "algorithm")]
    kinds = {entry.id: entry.kind for entry in ERRATA}
    errata = [
        f"[{name.removeprefix(f'{paper.key}-')}](errata/{kinds[name]}.md#{name})"
        f"{' (true, but)' * (kinds[name] == 'loose')}"
        for name in wrong(paper, statement)
    ]
    cells = (
        typeset(statement.place),
        typeset(statement.says),
        ", ".join((*entries, *algorithms)),
        ", ".join(errata),
        _sentence(typeset(statement.reason)),
    )
    return f"| {' | '.join(cells)} |"


def _sentence(text: str) -> str:
    """With a capital and a full stop; what begins with a formula or code keeps its first letter."""
    return text and text[0].upper() + text[1:] + "." * (not text.endswith("."))
