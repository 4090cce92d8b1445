"""The generated pages are what the records, errata and kept verdicts give today."""

from __future__ import annotations

import re

import generate
import pytest
from blocks import ROOT
from pages import notation, routes, theorems, verdicts
from whole_pages import paper_pages

from suffice.bounds import DEFINITIONS, PARAMETERS, THEOREMS, Quantity
from suffice.simulate.catalogue import ALGORITHMS
from suffice.verification.errata import ERRATA


@pytest.mark.parametrize("name", generate.PAGES)
def test_pages_on_disk_are_up_to_date(name, monkeypatch):
    monkeypatch.setattr(theorems, "pages", paper_pages)
    assert generate.stale(name) == [], "run `make pages` and commit them"


def test_every_record_definition_erratum_keyword_and_quantity_is_on_its_page():
    pages = paper_pages()
    assert {path.name for path in (ROOT / "docs" / "theorems").glob("*.md")} == set(pages)
    text = "\n".join(pages.values())
    for entry in (*THEOREMS, *DEFINITIONS):
        assert f"\n### {entry.key}\n" in text or f"\n### {entry.key} (" in text, entry.key
    entries = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "errata").glob("*.md"))
    assert entries.count("\n### ") == len(ERRATA)
    for path in [*(ROOT / "docs" / "errata").glob("*.md"), *(ROOT / "docs" / "theorems").glob("[!i]*.md")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) < 1_000, path  # a page, not a book
    words = notation.text()
    assert words.count("\n| `") == len(PARAMETERS)
    assert words.count("\n| $") == len(Quantity)


def test_every_algorithm_has_a_route_or_a_reason():
    found = routes.routes()
    assert set(found) == set(ALGORITHMS)
    for name, cells in found.items():
        assert all(cell == "yes" or len(cell) > 8 for cell in cells), name
        assert cells[2] == "yes" or cells[0] == "yes", name
    assert found["local"][0] == found["local"][3] == "yes"
    assert found["ifca"][0].startswith("no: ")


def test_the_notation_page_has_the_papers_own_letters():
    assert notation.letters("cobo", "beta")[0] == "L"
    for theorem in THEOREMS:
        paper = theorem.key.partition("/")[0]
        for parameter in theorem.parameters:
            assert theorem.symbol(parameter.name) in notation.letters(paper, parameter.name)


def test_the_table_of_verdicts_counts_every_record_once(monkeypatch):
    kept = [{"key": t.key, "edition": t.edition, "verdict": "holds"} for t in THEOREMS if t.bound is not None]
    monkeypatch.setattr(verdicts, "known", lambda: {(row["key"], row["edition"]): row for row in kept})
    made = verdicts.table()
    sharper = sum(t.superseded_by is not None for t in THEOREMS)
    assert sum(map(int, re.findall(r"(\d+) superseded", made))) == sharper > 0
    assert sum(int(count) for count in re.findall(r"(\d+) holds", made)) == len(kept) - sharper
    assert sum(map(int, re.findall(r"(\d+) cannot be evaluated", made))) == len(THEOREMS) - len(kept)
    monkeypatch.setattr(verdicts, "known", dict)
    assert "holds" not in verdicts.table()
