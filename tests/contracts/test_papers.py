"""Every paper holds its own entries, once each; tests/contracts/test_plugin.py adds one from elsewhere."""

from __future__ import annotations

import pytest

from suffice.bounds import PAPERS
from suffice.bounds.papers import OWN

PARTS = (
    ("records", "THEOREMS"),
    ("records", "DEFINITIONS"),
    ("claims", "claims"),
    ("errata", "ERRATA"),
    ("identities", "IDENTITIES"),
)


@pytest.mark.parametrize("paper", OWN.values(), ids=lambda paper: paper.key)
def test_entries_are_the_paper_s_own_and_there_once(paper):
    for part, attribute in PARTS:
        paper.check(part, attribute)
        assert bool(paper.part(part, attribute)) or attribute == "DEFINITIONS" or not getattr(paper, part)
    assert PAPERS[list(OWN).index(paper.key)] is paper
    assert {theorem.source.paper for theorem in paper.part("records", "THEOREMS")} == {paper.citation}
