"""BibTeX of the papers, of a statement and of an erratum: `references.bib` has the library's own papers."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

from .papers import Paper

_FILE = Path(__file__).with_name("references.bib")


def paper_entry(paper: Paper, note: str = "") -> str:
    """A paper's entry, with a note on the place cited; a paper that the file lacks is cited by its own reference."""
    found = re.search(rf"@\w+\{{{re.escape(paper.key)},.*?\n\}}", _FILE.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = found[0] if found else _entry("misc", paper.key, title=paper.title, howpublished=paper.reference)
    return text.replace("\n}", f",\n  annote = {{{note}}}\n}}") if note else text


def _entry(kind: str, key: str, **fields: str) -> str:
    lines = ",\n".join(f"  {name} = {{{text}}}" for name, text in fields.items() if text)
    return f"@{kind}{{{key},\n{lines}\n}}"


def cited(paper: Paper, identifier: str, title: str, place: str) -> str:
    """How to cite a record or an erratum: by paper and place, unless it is the library's own, and by this software."""
    own = _entry("software", f"suffice:{identifier}", title=title, author="{The contributors of suffice}", year="2026",
                 version=version("suffice"), note=f"{paper.citation}, {place}")  # fmt: skip
    return own if paper.citation == "suffice" else f"{paper_entry(paper, place)}\n{own}"
