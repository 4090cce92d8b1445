"""Every paper holds its own entries, once each; tests/contracts/test_plugin.py adds one from elsewhere."""

from __future__ import annotations

import re

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


def identity(entry):
    """The name that may be there once: an id, or a key with its edition."""
    entry = getattr(entry, "theorem", entry)  # a claim is about one
    return entry.id if hasattr(entry, "id") else f"{entry.key} {getattr(entry, 'edition', '')}"


@pytest.mark.parametrize("paper", OWN.values(), ids=lambda paper: paper.key)
def test_entries_are_the_paper_s_own_and_there_once(paper):
    for part, attribute in PARTS:
        keys = list(map(identity, paper.part(part, attribute)))
        assert all(re.match(rf"{paper.key}[/-]", key) for key in keys)
        assert len(keys) == len(set(keys)) or attribute == "IDENTITIES"  # a proof has several steps
        assert bool(keys) or attribute == "DEFINITIONS" or not getattr(paper, part)
    assert PAPERS[list(OWN).index(paper.key)] is paper
    assert {theorem.source.paper for theorem in paper.part("records", "THEOREMS")} == {paper.citation}
