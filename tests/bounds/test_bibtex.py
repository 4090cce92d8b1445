"""BibTeX of papers, statements and errata, and the papers that CITATION.cff names beside the software."""

from __future__ import annotations

import re

import pytest
from blocks import ROOT

from suffice.bounds import PAPERS
from suffice.bounds.bibtex import paper_entry


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_the_entry_of_a_paper_names_its_authors_and_year(paper):
    text = paper_entry(paper, "Theorem 1")
    assert re.match(r"@\w+\{" + paper.key + ",\n", text)
    assert text.count("{") == text.count("}")
    assert "annote = {Theorem 1}" in text
    if paper.citation != "suffice":
        first = paper.citation.split(",")[0].split(" ")[0]
        assert first in text
        assert re.search(r"year = \{(19|20)\d\d\}", text)


def test_a_statement_and_an_erratum_are_cited_with_their_paper(command, refused):
    cited = command("theorem", "cobo/lemma-4", "--bibtex").stdout
    assert re.findall(r"^@\w+\{(.*),$", cited, re.MULTILINE) == ["cobo", "suffice:cobo/lemma-4"]
    own = command("theorem", "worst-case/one-step", "--bibtex").stdout
    assert re.findall(r"^@\w+\{(.*),$", own, re.MULTILINE) == ["suffice:worst-case/one-step"]
    cited = command("errata", "adaptive-theorem-2-expectation", "--bibtex").stdout
    assert re.findall(r"^@\w+\{(.*),$", cited, re.MULTILINE) == ["adaptive", "suffice:adaptive-theorem-2-expectation"]
    assert "name one to cite" in refused("errata", "cobo", "--bibtex")


def test_the_citation_file_has_the_papers_of_the_library():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    titles = {title.lower() for title in re.findall(r'^ +title: "?(.*?)"?$', text, re.MULTILINE)}
    for key in ("adaptive", "sample-optimal", "cobo", "scafflix"):
        text = paper_entry(next(paper for paper in PAPERS if paper.key == key))
        title = re.search(r"title = \{(.*)\},\n", text)
        assert title[1].replace("{", "").replace("}", "").lower() in titles
