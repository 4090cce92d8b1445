"""Campaigns lose nothing when killed, never mix definitions, and give the same table however they were run."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bounds import InputError, write_whole
from verify import campaign as room
from verify.campaign import conduct, read_campaign, summary, table
from verify.campaign import conduct as conduct_function
from verify.campaign.folder import Folder

SMALL = """
name = "small"
out = "results"
root = 3
[[verify]]
keys = ["adaptive/property-1"]
editions = ["printed", "corrected"]
[[sharpness]]
keys = ["worst-case/quadratic-norms", "adaptive/property-1"]
instances = 50
block = 20
[[simulate]]
problem = "clustered"
algorithms = ["local", "fedavg"]
iterations = 12
seeds = 8
roots = 2
[simulate.grid]
clients = [4, 6]
separation = [0.5, 2.0]
"""
MANY = """
name = "many"
out = "results"
[[simulate]]
problem = "clustered"
algorithms = ["local", "fedavg"]
iterations = 10
seeds = 4
roots = 25
[simulate.grid]
clients = [2, 4]
separation = [0.5, 2.0]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "campaign.toml"
    path.write_text(text)
    return path


def start(path: Path, *options: str) -> subprocess.Popen[str]:
    call = [
        sys.executable,
        "-c",
        "from suffice.cli import main; main()",
        "campaign",
        str(path),
        "--jobs",
        "1",
        *options,
    ]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    campaign = read_campaign(written(tmp_path_factory.mktemp("small"), SMALL))
    return campaign, conduct(campaign), table(campaign)


def test_every_cell_lands_in_the_table(finished):
    campaign, session, text = finished
    assert (session.computed, session.failed, session.skipped) == (len(campaign.cells), 0, 0)
    lines = text.splitlines()
    assert len(lines) == 1 + len(campaign.cells)
    assert lines[0].startswith("kind,key,edition,effort,root")
    kinds = [cell["kind"] for cell in campaign.cells]
    assert (kinds.count("verify"), kinds.count("simulate")) == (2, 16)
    assert kinds.count("sharpness") >= 3


def test_cells_hold_no_time_and_the_manifest_does(finished):
    campaign, _, text = finished
    for path in (campaign.out / "cells").iterdir():
        assert "second" not in path.read_text()
    manifest = json.loads((campaign.out / "manifest.json").read_text())
    assert manifest["sessions"][0]["seconds"] > 0
    assert manifest["sessions"][0]["versions"]["numpy"] == np.__version__
    assert "second" not in text


def test_running_again_computes_nothing(finished):
    campaign, _, text = finished
    again = conduct(campaign)
    assert (again.computed, again.found) == (0, len(campaign.cells))
    assert table(campaign) == text


def test_two_processes_give_the_same_table_byte_for_byte(finished, tmp_path):
    campaign, _, text = finished
    other = read_campaign(written(tmp_path, SMALL))
    assert other.digest == campaign.digest
    conduct(other, jobs=2)
    assert table(other) == text


def test_summary_keeps_the_worst_cell_of_each_claim(finished):
    campaign, _, _ = finished
    folder = Folder(path=campaign.out)
    for row in summary(campaign):
        cells = [c for c in campaign.cells if (c.get("key"), c.get("edition")) == (row["key"], row["edition"])]
        results = [folder.result(cell) for cell in cells]
        ratios = [result["worst_ratio"] for result in results if result["worst_ratio"] is not None]
        assert row["worst_ratio"] == (max(ratios) if ratios else None)
        assert row["instances"] == sum(result["instances"] for result in results)


def test_a_changed_definition_is_refused_and_a_new_folder_accepted(finished, tmp_path):
    campaign, _, text = finished
    changed = read_campaign(written(tmp_path, SMALL.replace("seeds = 8", "seeds = 9")), out=campaign.out)
    with pytest.raises(InputError, match="its definition changed"):
        conduct(changed)
    assert table(campaign) == text


def kill_and_resume(path: Path, kills: int, seed: int) -> str:
    rng = random.Random(seed)
    campaign = read_campaign(path)
    for _ in range(kills):
        process = start(path)
        time.sleep(rng.uniform(1.0, 3.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    conduct(campaign)
    return table(campaign)


def test_killed_three_times_the_table_is_that_of_an_uninterrupted_run(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = read_campaign(written(tmp_path / "a", MANY))
    assert len(whole.cells) == 200
    conduct(whole)
    assert kill_and_resume(written(tmp_path / "b", MANY), 3, seed=1) == table(whole)
    assert not list((tmp_path / "b" / "results" / "cells").glob(".*"))


@pytest.mark.slow
def test_killed_fifty_times_the_table_is_that_of_an_uninterrupted_run(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole = read_campaign(written(tmp_path / "a", MANY))
    conduct(whole)
    slower = MANY  # the same cells; most kills fall into the start of the process or the writing of cells
    assert kill_and_resume(written(tmp_path / "b", slower), 50, seed=2) == table(whole)


def failing(monkeypatch, broken):
    honest = room.conduct.__globals__["compute"]

    def compute(cell):
        if broken(cell):
            raise RuntimeError("planted")
        return honest(cell)

    monkeypatch.setitem(conduct_function.__globals__, "compute", compute)


def test_a_failing_cell_is_recorded_the_rest_goes_on_and_retry_mends_it(tmp_path, monkeypatch):
    campaign = read_campaign(written(tmp_path, SMALL))
    with monkeypatch.context() as patch:
        failing(patch, lambda cell: cell.get("clients") == 4.0)
        session = conduct(campaign)
    assert session.failed == 8
    assert session.computed == len(campaign.cells) - 8
    records = [json.loads(path.read_text()) for path in (campaign.out / "failed").iterdir()]
    assert {record["error"] for record in records} == {"RuntimeError: planted"}
    assert all(record["cell"]["clients"] == 4.0 for record in records)
    assert conduct(campaign).skipped == 8
    assert conduct(campaign, retry=True).computed == 8
    assert not list((campaign.out / "failed").iterdir())


def test_a_full_disk_loses_nothing_that_was_written(tmp_path, monkeypatch):
    campaign = read_campaign(written(tmp_path, SMALL))
    written_so_far = []

    def full(path, content):
        if len(written_so_far) >= 5 and Path(path).parent.name == "cells":
            raise OSError(28, "No space left on device")
        written_so_far.append(path)
        return write_whole(path, content)

    with monkeypatch.context() as patch:
        patch.setattr("verify.campaign.folder.write_whole", full)
        with pytest.raises(OSError, match="No space left"):
            conduct(campaign)
    assert 0 < sum(Folder(path=campaign.out).done(cell) for cell in campaign.cells) < len(campaign.cells)
    assert conduct(campaign).failed == 0
    assert len(table(campaign).splitlines()) == 1 + len(campaign.cells)


def test_a_second_campaign_on_a_folder_is_refused_while_the_first_runs(tmp_path):
    campaign = read_campaign(written(tmp_path, SMALL))
    with Folder(path=campaign.out).locked(), pytest.raises(InputError, match="another campaign is running there"):
        conduct(campaign)
    assert conduct(campaign).failed == 0  # free again


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    campaign = read_campaign(written(tmp_path, SMALL), out=tmp_path / "file" / "inside")
    with pytest.raises(InputError, match=r"^out = .*not a directory; give another"):
        conduct(campaign)


def test_random_designs_are_part_of_their_grid_and_repeatable(tmp_path):
    text = MANY.replace("roots = 25", "roots = 1\nsample = 3")
    chosen = read_campaign(written(tmp_path, text)).cells
    everything = read_campaign(written(tmp_path, MANY.replace("roots = 25", "roots = 1"))).cells
    assert len(chosen) == 6
    assert all(cell in everything for cell in chosen)
    assert read_campaign(written(tmp_path, text)).cells == chosen


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name = "small"', "name = 3"), "Expected `str`"),
        (('out = "results"', ""), "missing required field"),
        (("root = 3", "root = -1"), "root = -1"),
        (("root = 3", "colour = 1"), "colour"),
        (("instances = 50", "instances = 0"), "instances = 0"),
        (("instances = 50", "instances = 100000000000"), "instances = 100000000000"),
        (('keys = ["adaptive/property-1"]', 'keys = ["nothing/*"]'), "keys = 'nothing/"),
        (('problem = "clustered"', 'problem = "unknown"'), "unknown"),
        (('"fedavg"', '"fedagv"'), "algorithm = 'fedagv'"),
        (("clients = [4, 6]", "clients = [10000000]"), "clients = 10000000"),
        (("clients = [4, 6]", "clients = [nan]"), "clients = nan"),
        (("clients = [4, 6]", "clients = []"), "clients = 0"),
        (("separation = [0.5, 2.0]", "separation = [1e999]"), "separation = inf"),
        (("roots = 2", "roots = 10000000"), "roots = 10000000"),
        (("seeds = 8", "seeds = 1.5"), "Expected `int`"),
        (("iterations = 12", "iterations = 0"), "iterations = 0"),
        (("[[verify]]", "[[verify"), "not valid TOML"),
    ],
)
def test_wrong_files_are_refused_in_one_line_before_anything_is_written(tmp_path, change, message):
    with pytest.raises(InputError) as caught:
        read_campaign(written(tmp_path, SMALL.replace(*change)))
    assert message.replace("`", "") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "results").exists()


def test_the_command_reports_and_collects(tmp_path):
    path = written(tmp_path, MANY.replace("roots = 25", "roots = 1"))
    out, err = start(path).communicate(timeout=120)
    assert err == ""
    assert "8 cells: 8 computed, 0 found done" in out
    out, err = start(path, "--collect").communicate(timeout=120)
    assert out == table(read_campaign(path))
