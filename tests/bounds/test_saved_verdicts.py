"""Kept verdicts belong to today's statements, and are written only where asked."""

from __future__ import annotations

import inspect
import json
import math
from dataclasses import replace

import pytest

from suffice.bounds import THEOREMS, find
from suffice.bounds import saved_verdicts as verdicts
from suffice.verification import verify

CONDITIONED = [theorem for theorem in THEOREMS if inspect.signature(theorem.conditions).parameters]


def test_kept_verdicts_are_about_the_statements_as_they_stand():
    known = verdicts.known()
    assert len(known) > 100
    for (key, edition), row in known.items():
        assert row["fingerprint"] == verdicts.fingerprint(find(key, edition)), (
            f"run suffice verify {key} --effort full --write suffice/bounds/verdicts.json"
        )


def changed(theorem, condition, side, change):
    """The record with one side of one condition changed."""

    def conditions(**values):
        sides = dict(theorem.conditions(**values))
        both = list(sides[condition])
        both[side] = change(both[side])
        return sides | {condition: tuple(both)}

    conditions.__dict__["__signature__"] = inspect.signature(theorem.conditions)
    return replace(theorem, conditions=conditions)


@pytest.mark.share(4)
@pytest.mark.parametrize("theorem", CONDITIONED, ids=lambda theorem: f"{theorem.key}-{theorem.edition}")
def test_a_change_of_either_side_of_a_condition_changes_the_fingerprint(theorem):
    before = verdicts.fingerprint(theorem)
    assert verdicts.fingerprint(replace(theorem)) == before
    for condition in theorem.condition_names():
        for side in (0, 1):
            other = changed(theorem, condition, side, lambda value: 4 * value + 1)
            assert verdicts.fingerprint(other) != before, (condition, side)


@pytest.mark.parametrize("field", ["statement", "hypotheses"])
def test_changed_words_change_the_fingerprint(field):
    theorem = find("adaptive/lemma-2")
    other = replace(theorem, **{field: getattr(theorem, field) + " always"})
    assert verdicts.fingerprint(other) != verdicts.fingerprint(theorem)


def test_writing_verdicts_replaces_their_rows_and_leaves_the_others(command, tmp_path):
    path, packaged = tmp_path / "verdicts.json", verdicts.FILE.read_bytes()
    assert command("verify", "adaptive/property-1", "--write", path).returncode == 0
    first = json.loads(path.read_text())
    assert command("verify", "adaptive/remark-3-binary", "--write", path).returncode == 0
    both = json.loads(path.read_text())
    assert [row for row in both if row in first] == first
    assert {row["key"] for row in both} == {"adaptive/property-1", "adaptive/remark-3-binary"}
    assert [(row["edition"], row["verdict"]) for row in first] == [("corrected", "holds"), ("printed", "violated")]
    assert {row["effort"] for row in both} == {"quick"}
    path.write_text(json.dumps([row | {"instances": 0} for row in both]))
    assert command("verify", "adaptive/property-1", "--write", path).returncode == 0
    renewed = json.loads(path.read_text())
    assert {row["key"] for row in renewed if row["instances"]} == {"adaptive/property-1"}
    assert len(renewed) == len(both)
    assert [entry.name for entry in tmp_path.iterdir()] == ["verdicts.json"]
    assert verdicts.FILE.read_bytes() == packaged


@pytest.mark.parametrize("content", ["[1]", "{", '[{"name": "x"}]', None])
def test_a_place_that_cannot_take_verdicts_is_refused_before_anything_is_checked(
    refused, monkeypatch, tmp_path, content
):
    monkeypatch.setattr("suffice.verification.verify", lambda *_, **__: pytest.fail("claims were checked"))
    path = tmp_path / "verdicts.json"
    if content is None:
        for place, why in (
            (tmp_path, "not a regular file"),
            (tmp_path / "nowhere" / "v.json", "no such file or directory"),
        ):
            assert why in refused("verify", "--effort", "full", "--write", place)
        return
    path.write_text(content)
    line = refused("verify", "--effort", "full", "--write", path)
    assert "holds something else than verdicts" in line
    assert path.read_text() == content


def test_a_passed_bound_of_zero_is_kept_without_a_ratio(tmp_path):
    (found,) = verify(["adaptive/property-1"], edition="printed")
    passed = replace(found, evidence=replace(found.evidence, worst_ratio=math.inf))
    verdicts.write_verdicts(tmp_path / "v.json", [passed], "quick")
    (row,) = json.loads((tmp_path / "v.json").read_text())
    assert row["worst_ratio"] is None
    assert row["verdict"] == "violated"
