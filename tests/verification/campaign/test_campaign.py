"""Campaigns: every cell lands in one table, failures are recorded, definitions are strict and never mixed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from campaign_files import CHEAP, HEAD, SMALL, written

from suffice.bounds import InputError
from suffice.verification.campaign import conduct, read_campaign, summary, table
from suffice.verification.campaign.cells import compute, identity
from suffice.verification.campaign.run import result


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    campaign = read_campaign(written(tmp_path_factory.mktemp("small"), SMALL))
    return campaign, conduct(campaign), table(campaign)


def test_every_cell_lands_in_the_table(finished):
    campaign, session, text = finished
    assert (session.computed, session.failed) == (len(campaign.cells), [])
    lines = text.splitlines()
    assert len(lines) == 1 + len(campaign.cells)
    assert lines[0].startswith("kind,key,edition,effort,root,")
    again = conduct(campaign)
    assert (again.computed, again.found) == (0, len(campaign.cells))
    assert table(campaign) == text
    kinds = [cell["kind"] for cell in campaign.cells]
    assert (kinds.count("verify"), kinds.count("sharpness")) == (2, 6)


@pytest.mark.slow
def test_two_processes_give_the_same_table_byte_for_byte(finished, tmp_path):
    campaign, _, text = finished
    other = read_campaign(written(tmp_path, SMALL))
    reported = []
    conduct(other, jobs=2, progress=lambda done, total: reported.append((done, total)))
    assert table(other) == text
    assert reported == [(done, len(campaign.cells)) for done in range(1, len(campaign.cells) + 1)]


def test_summary_keeps_the_worst_cell_of_each_claim(finished):
    campaign, _, _ = finished
    rows = summary(campaign)
    assert len(rows) == 3
    for row in rows:
        cells = [c for c in campaign.cells if (c.get("key"), c.get("edition")) == (row["key"], row["edition"])]
        results = [result(campaign.out, cell) or {} for cell in cells]
        ratios = [result["worst_ratio"] for result in results if result["worst_ratio"] is not None]
        assert row["worst_ratio"] == (max(ratios) if ratios else None)
        assert row["instances"] == sum(result["instances"] for result in results)
        assert row["instance"] in [result["instance"] for result in results]
        medians = [result["median_ratio"] for result in results if "median_ratio" in result]
        assert row["median_ratio"] == (np.median(medians) if medians else None)
        assert row["median_ratio"] is None or row["median_ratio"] <= row["worst_ratio"]


def test_a_claim_that_no_instance_meets_has_no_ratio(tmp_path):
    vacuous = HEAD + '[[verify]]\nkeys = ["adaptive/corollary-1"]\neditions = ["printed"]\n'
    campaign = read_campaign(written(tmp_path, vacuous))
    assert conduct(campaign).computed == 1
    (row,) = summary(campaign)
    assert (row["instances"], row["worst_ratio"], row["instance"]) == (0, None, {})
    (cell,) = (campaign.out / "cells").iterdir()
    json.loads(cell.read_text(), parse_constant=pytest.fail)  # no Infinity, which strict readers refuse


def test_a_folder_that_holds_other_files_keeps_them(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP), out=tmp_path)
    cell, end = f"{identity(campaign.cells[0])}.json", "0123456789abcdef.partial"
    own = [f"cells/.{cell}.{end}"]
    mine = [
        ".gitignore", ".env", ".my_prefs.json", ".abcd_12z.json", "cells/.b0abel_1.json", "notes.partial",
        f".notes.json.{end}", f"cells/.notes.json.{end}", f".{cell}.{end}", f"cells/.{cell}.{end[1:]}",
        f"cells/.{cell}.{end}.bak", f"cells/.{'0' * 24}.json.{end}", "cells/notes.txt",
    ]  # fmt: skip
    for part in (".git", "cells"):
        (tmp_path / part).mkdir()
    for name in (*own, *mine):
        (tmp_path / name).write_text("{")
    assert not conduct(campaign).failed
    assert [name for name in mine if not (tmp_path / name).exists()] == []
    assert [name for name in own if (tmp_path / name).exists()] == []
    assert (tmp_path / ".git").exists()


def test_a_changed_definition_keeps_the_cells_that_it_still_has(finished, tmp_path):
    campaign, _, text = finished
    longer = SMALL.replace('-1"]\ninst', '-1", "cobo/alignment"]\ninst')
    changed = read_campaign(written(tmp_path, longer), out=campaign.out)
    session = conduct(changed)
    assert (session.found, session.computed) == (len(campaign.cells), 3)
    assert table(campaign) == text


def test_a_failed_cell_is_named_the_rest_goes_on_and_the_next_call_computes_it(tmp_path, monkeypatch, command):
    path = written(tmp_path, CHEAP)

    def planted(cell):
        if cell["key"].startswith("adaptive/"):
            raise RuntimeError("planted\nin two lines")
        return compute(cell)

    broken = lambda *given, **more: conduct(*given, **more, compute=planted)  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr("suffice.verification.campaign.conduct", broken)
        done = command("campaign", path, "--jobs", 1)
    assert done.returncode == 1
    assert "16 cells: 8 computed, 0 found done, 8 failed" in done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 8
    for line in lines:
        assert line.startswith("suffice: failed: kind = sharpness, key = adaptive/")
        assert line.endswith(": RuntimeError: planted in two lines")
    campaign = read_campaign(path)
    assert len(list((campaign.out / "cells").glob("*.json"))) == 8
    again = conduct(campaign)
    assert (again.found, again.computed, again.failed) == (8, 8, [])
    assert len(table(campaign).splitlines()) == 17


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name = "small"', "name = 3"), "Expected str"),
        (('out = "results"', ""), "missing required field"),
        (("root = 3", "root = -1"), "Expected int >= 0"),
        (("root = 3", "colour = 1"), "colour"),
        (("instances = 50", "instances = 0"), "Expected int >= 1"),
        (("block = 20", "block = 10001"), "Expected int <= 10000"),
        (('keys = ["adaptive/property-1"]', 'keys = ["nothing/*"]'), "keys = 'nothing/"),
        (('keys = ["adaptive/property-1"]', "keys = []"), "Expected array of length >= 1"),
        (('editions = ["printed", "corrected"]', 'effort = "much"'), "much"),
        (('"printed", "corrected"', '"published"'), "Invalid enum value 'published'"),
        (("instances = 50", "instances = 1000000000"), "over 100000"),
        (('editions = ["printed", "corrected"]', "roots = 1000000000"), "over 100000"),
        (("[[sharpness]]", "[[simulate]]"), "simulate"),
        (('keys = ["adaptive/property-1"]', "keys = [[1]]"), "Expected str"),
        (("[[verify]]", "[[verify"), "not valid TOML"),
    ],
)
def test_wrong_files_are_refused_in_one_line_before_anything_is_written(tmp_path, change, message):
    assert change[0] in SMALL
    with pytest.raises(InputError) as caught:
        read_campaign(written(tmp_path, SMALL.replace(*change)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "results").exists()


def test_the_files_among_the_examples_are_right():
    examples = Path(__file__).parents[3] / "examples"
    sharpness, first = (read_campaign(examples / name) for name in ("sharpness.toml", "campaign.toml"))
    assert {cell["kind"] for cell in sharpness.cells} == {"sharpness"}
    assert len(sharpness.cells) % 20 == 0  # 10,000 instances in blocks of 500
    assert {cell["kind"] for cell in first.cells} == {"verify", "sharpness"}


def test_the_command_reports_and_collects(tmp_path, command):
    path = written(tmp_path, CHEAP)
    assert not sys.stderr.isatty()
    done = command("campaign", path, "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")  # quiet when nobody watches
    assert "16 cells: 16 computed, 0 found done, 0 failed" in done.stdout
    done = command("campaign", path, "--collect")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", table(read_campaign(path)))
    assert json.loads(command("campaign", path, "--collect", "--json").stdout) == summary(read_campaign(path))
    about = json.loads(command("campaign", path, "--json").stdout)
    assert (about["found"], about["failed"], about["failures"]) == (16, 0, [])
