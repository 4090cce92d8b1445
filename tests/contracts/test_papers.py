"""Every paper holds its own entries, once each; nothing outside a paper's folders knows which papers there are."""

from __future__ import annotations

import ast
import re

import pytest
from blocks import ROOT

from suffice.bounds import PAPERS
from suffice.bounds.papers import OWN

PARTS = (
    ("records", "THEOREMS"),
    ("records", "DEFINITIONS"),
    ("claims", "claims"),
    ("errata", "ERRATA"),
    ("identities", "IDENTITIES"),
)
NAMES = {name for key in OWN for name in (key, key.replace("-", "_"))}
PLACES = ("suffice", "docs", "tests/contracts", "tests/helpers")
OWN_FOLDERS = re.compile(
    rf"(suffice/bounds/theorems|suffice/verification/(claims|errata|identities))/({'|'.join(NAMES)})(/|\.py)"
)
METHOD = "a method of the same name"
WORD = "the adjective"
NAMED = {
    "suffice/explorer/content.py": "what people search for, and the tour",
    "suffice/simulate/algorithms/apfl.py": WORD,
    "suffice/simulate/algorithms/cobo.py": METHOD,
    "suffice/simulate/algorithms/scafflix.py": METHOD,
    "suffice/simulate/catalogue.py": METHOD,
    "suffice/simulate/experiment.py": METHOD,
    "tests/contracts/test_algorithms.py": METHOD,
    "tests/helpers/plain_algorithms.py": METHOD,
    "suffice/verification/instances/one_step.py": WORD,
    "suffice/bounds/papers.py": "the list",
    "docs/pages/published_networks.py": "places of the papers and their numbers",
    "tests/contracts/test_sentences.py": "sentences of the papers",
}


def words(tree):
    """Names that the code binds or imports, and its texts: whole ones, and the alternatives of a regular expression."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
            if re.search(r"\w\|\w", node.value) and not re.search(r"\s", node.value):
                yield from re.split(r"[^\w-]", node.value)
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name.rpartition(".")[2] for alias in node.names)


def test_nothing_outside_a_paper_s_folders_names_it():
    paths = [path for place in PLACES for path in (ROOT / place).rglob("*.py")]
    elsewhere = [path for path in paths if not OWN_FOLDERS.match(path.relative_to(ROOT).as_posix())]
    assert len(elsewhere) > 200
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in elsewhere
        if NAMES & set(words(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert naming == set(NAMED)


def test_no_page_lists_them():
    listed = re.compile("|".join(f"theorems/{key}" for key in OWN))
    for page in ("index.md", "architecture.md"):
        assert not listed.search((ROOT / "docs" / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("paper", OWN.values(), ids=lambda paper: paper.key)
def test_entries_are_the_paper_s_own_and_there_once(paper):
    for part, attribute in PARTS:
        paper.check(part, attribute)
        assert bool(paper.part(part, attribute)) or attribute == "DEFINITIONS" or not getattr(paper, part)
    assert PAPERS[list(OWN).index(paper.key)] is paper
    assert {theorem.source.paper for theorem in paper.part("records", "THEOREMS")} == {paper.citation}
