"""The lists of what papers say: keys exist, every record and erratum stands at its place, no number is missing."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import pytest
from pages import statements

from suffice.bounds import PAPERS
from suffice.bounds.statement import Statement

LISTED = [paper for paper in PAPERS if paper.part("records", "STATEMENTS")]
every = pytest.mark.parametrize("paper", LISTED, ids=lambda paper: paper.key)
KINDS = "Theorem|Lemma|Corollary|Assumption|Definition|Property|Proposition|Remark|Example|Algorithm"


def test_four_papers_say_something():
    assert len(LISTED) == 4
    assert sum(len(paper.part("records", "STATEMENTS")) for paper in LISTED) >= 130


@every
def test_each_key_names_something_and_each_statement_is_covered_or_says_why_not(paper):
    for each in paper.part("records", "STATEMENTS"):
        assert isinstance(each, Statement)
        assert each.keys or len(each.reason.split()) >= 4, each.place
        for key in each.keys:
            assert statements.found(paper, key), (each.place, key)


@every
def test_each_record_and_definition_stands_at_a_place_that_its_source_names(paper):
    listed = [(each.place, statements.covered(paper, each, "entry")) for each in paper.part("records", "STATEMENTS")]
    for entry in (*paper.part("records", "THEOREMS"), *paper.part("records", "DEFINITIONS")):
        at = [place for place, keys in listed if entry.key in keys]
        assert any(place in entry.source.locator for place in at), (entry.key, entry.source.locator, at)


@every
def test_each_erratum_is_at_a_statement(paper):
    at = {name for each in paper.part("records", "STATEMENTS") for name in statements.wrong(paper, each)}
    assert {entry.id for entry in paper.part("errata", "ERRATA")} - at == set()


@every
def test_numbers_have_no_gap(paper):
    places = " ".join(each.place for each in paper.part("records", "STATEMENTS"))
    counted = {kind: {int(number) for number in re.findall(rf"\b{kind} (\d+)", places)} for kind in KINDS.split("|")}
    for kind, numbers in counted.items():
        alike = ("Remark", "Example", "Lemma")  # may be numbered in one row
        row = set().union(*(counted[other] for other in alike)) if kind in alike else numbers
        assert all(number - 1 in row for number in numbers if number > 1), kind


def text_of(paper):
    """The paper's text beside the test data, its authors found near its beginning; None where it is not there."""
    folder = Path(os.environ.get("SUFFICE_DATA", "../shared/data")).parent / "seeds"
    authors = re.findall(r"[A-Z]\w+(?: [A-Z]\w+)*", paper.citation)
    for path in sorted(folder.glob("*.txt")):
        text = unicodedata.normalize("NFKD", path.read_text(encoding="utf-8")).encode("ascii", "ignore").decode()
        if all(author in text[:500] for author in authors):
            return text
    return None


@every
def test_what_the_paper_numbers_is_in_the_list(paper):
    text = text_of(paper)
    if text is None:
        pytest.skip("the paper's text is not there: set SUFFICE_DATA to a folder beside the papers' texts")
    heads = set(re.findall(rf"^[#*\s]*({KINDS}) (S?\d+|[IVX]+)\b(?!\.\d)", text, re.MULTILINE))
    displays = set(re.findall(r"\((\d+)\)\s*\$*\s*$|\\tag\{(\w+)\}", text, re.MULTILINE))
    labels = {f"{kind} {number}" for kind, number in heads} | {f"({a or b})" for a, b in displays}
    assert len(labels) >= 12
    places = " | ".join(each.place for each in paper.part("records", "STATEMENTS"))
    assert {label for label in labels if not re.search(rf"{re.escape(label)}(?!\w)", places)} == set()


@every
def test_the_page_of_figures_has_a_row_for_every_caption_with_its_status(paper):
    page = (Path(__file__).parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    rows = [row for row in table if len(row) == 5 and row[0] == paper.key]
    for _, what, status, here, reason in rows:
        assert status.startswith(("reproduced", "by proxy", "other data", "not available")), what
        assert bool(here) != (status == "not available"), what
        assert reason or status == "reproduced", what
    text = text_of(paper)
    if text is None:
        pytest.skip("the paper's text is not there: set SUFFICE_DATA to a folder beside the papers' texts")
    captions = set(re.findall(r"^\**((?:Figure|Table) S?\d+)\**\s?[:.]", text, flags=re.MULTILINE))
    assert captions <= {row[1] for row in rows}
    assert rows
