"""docs/theorems is what the records generate today; kept verdicts belong to today's statements."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from bounds import DEFINITIONS, THEOREMS, find
from suffice import pages as generator
from suffice import verdicts
from suffice.errata_page import errata_text
from verify.errata import ERRATA

FOLDER = Path(__file__).parents[2] / "docs" / "theorems"


def test_pages_on_disk_are_up_to_date():
    made = generator.pages()
    assert {path.name for path in FOLDER.glob("*.md")} == set(made)
    stale = [name for name, text in made.items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert not stale, f"run `make theorem-pages` and commit {stale}"


def test_errata_page_on_disk_is_up_to_date():
    text = (FOLDER.parent / "errata.md").read_text(encoding="utf-8")
    assert text == errata_text(), "run `make errata-page` and commit docs/errata.md"
    assert text.count("\n### ") == len(ERRATA)


def test_every_record_and_definition_has_its_heading():
    text = "\n".join(generator.pages().values())
    for entry in (*THEOREMS, *DEFINITIONS):
        assert f"\n## {entry.key}" in text


def test_a_changed_statement_changes_its_page_and_its_fingerprint(monkeypatch):
    from dataclasses import replace

    theorem = find("adaptive/lemma-2")
    other = replace(theorem, statement=theorem.statement + " always")
    assert verdicts.fingerprint(other) != verdicts.fingerprint(theorem)
    before = generator.pages()
    changed = tuple(other if entry is theorem else entry for entry in THEOREMS)
    monkeypatch.setattr(generator, "THEOREMS", changed)
    assert generator.pages()["adaptive.md"] != before["adaptive.md"]
    assert generator.pages()["cobo.md"] == before["cobo.md"]


def test_kept_verdicts_are_about_the_statements_as_they_stand():
    if not verdicts.FILE.exists():
        pytest.skip("no full verification has been kept")
    for (key, edition), row in verdicts.known().items():
        assert row["fingerprint"] == verdicts.fingerprint(find(key, edition)), f"run suffice verify {key} --effort full"


def test_keeping_verdicts_replaces_their_rows_and_leaves_the_others(tmp_path, monkeypatch):
    from verify import verify

    monkeypatch.setattr(verdicts, "FILE", tmp_path / "verdicts.json")
    verdicts.keep(verify(["adaptive/property-1"]))
    verdicts.keep(verify(["adaptive/remark-3-binary"]))
    rows = verdicts.known()
    assert {key for key, _ in rows} == {"adaptive/property-1", "adaptive/remark-3-binary"}
    assert rows["adaptive/property-1", "printed"]["verdict"] == "violated"
    assert rows["adaptive/property-1", "corrected"]["verdict"] == "holds"


def test_a_passed_bound_of_zero_is_kept_without_a_ratio(tmp_path, monkeypatch):
    from verify import verify

    monkeypatch.setattr(verdicts, "FILE", tmp_path / "verdicts.json")
    (found,) = verify(["adaptive/property-1"], edition="printed")
    verdicts.keep([replace(found, worst_ratio=math.inf)])
    row = verdicts.known()["adaptive/property-1", "printed"]
    assert row["worst_ratio"] is None
    assert row["verdict"] == "violated"
