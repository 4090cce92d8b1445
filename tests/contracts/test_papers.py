"""Every paper of the library holds entries of its own, each of them once."""

from __future__ import annotations

import re

import pytest

from suffice.bounds.papers import OWN, PAPERS


def identity(entry):
    """What may be there once: an id, or a key with its edition."""
    entry = getattr(entry, "theorem", entry)  # a claim is about one
    return entry.id if hasattr(entry, "id") else f"{entry.key} {getattr(entry, 'edition', '')}"


def test_the_library_s_papers_are_the_first_ones():
    assert [paper.key for paper in PAPERS][: len(OWN)] == list(OWN)


@pytest.mark.parametrize("paper", OWN.values(), ids=lambda paper: paper.key)
def test_entries_are_the_paper_s_own_and_there_once(paper):
    parts = {"claims": "claims", "errata": "ERRATA", "identities": "IDENTITIES"}
    for part, attribute in [("records", "THEOREMS"), ("records", "DEFINITIONS"), *parts.items()]:
        keys = [identity(entry) for entry in paper.part(part, attribute)]
        assert all(re.match(rf"{paper.key}[/-]", key) for key in keys)
        assert len(keys) == len(set(keys)) or part == "identities"  # a proof has several steps
