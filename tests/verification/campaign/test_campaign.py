"""Campaigns: every cell lands in one table, failures are recorded, definitions are strict and never mixed."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from campaign_files import MANY, SMALL, written

from suffice.bounds import InputError
from suffice.simulate.kernel_choice import here
from suffice.verification.campaign import conduct, markdown, read_campaign, report, simulations, summary, table, workers
from suffice.verification.campaign.cells import compute
from suffice.verification.campaign.definition import identity
from suffice.verification.campaign.folder import Folder
from suffice.verification.campaign.limits import ARRAYS, bounded, footprint

CHEAP = SMALL[: SMALL.index("[[verify]]")] + SMALL[SMALL.index("[[simulate]]") :]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    campaign = read_campaign(written(tmp_path_factory.mktemp("small"), SMALL))
    return campaign, conduct(campaign), table(campaign)


def run_command(monkeypatch, capsys, *words: str) -> tuple[object, str, str]:
    from suffice.cli import main

    monkeypatch.setattr(sys, "argv", ["suffice", "campaign", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_every_cell_lands_in_the_table(finished):
    campaign, session, text = finished
    assert (session.computed, session.failed, session.skipped) == (len(campaign.cells), 0, 0)
    lines = text.splitlines()
    assert len(lines) == 1 + len(campaign.cells)
    assert lines[0].startswith("kind,key,edition,effort,root")
    kinds = [cell["kind"] for cell in campaign.cells]
    assert (kinds.count("verify"), kinds.count("simulate"), kinds.count("sharpness")) == (2, 16, 6)


def test_cells_hold_no_time_and_the_manifest_does(finished):
    campaign, _, text = finished
    paths = list((campaign.out / "cells").iterdir())
    assert len(paths) == len(campaign.cells)
    for path in paths:
        assert "second" not in path.read_text()
    manifest = json.loads((campaign.out / "manifest.json").read_text())
    assert manifest["campaign"] == campaign.digest
    assert manifest["sessions"][0]["seconds"] > 0
    assert manifest["sessions"][0]["computed"] == len(campaign.cells)
    assert manifest["sessions"][0]["versions"]["numpy"] == np.__version__
    assert "second" not in text


def test_simulations_name_their_kernel_and_one_campaign_has_one(finished, monkeypatch):
    campaign, _, _ = finished
    cells = [json.loads(path.read_text()) for path in (campaign.out / "cells").iterdir()]
    ran = {cell["result"]["kernel"] for cell in cells if cell["cell"]["kind"] == "simulate"}
    assert ran <= {"reference", here(), f"{here()} general"}
    assert json.loads((campaign.out / "manifest.json").read_text())["kernel"] == here()
    monkeypatch.setattr("suffice.verification.campaign.folder.here", lambda: "c of another machine")
    with pytest.raises(InputError, match="this machine has c of another machine; give a new --out"):
        conduct(campaign)


def test_running_again_computes_nothing(finished):
    campaign, _, text = finished
    again = conduct(campaign)
    assert (again.computed, again.found) == (0, len(campaign.cells))
    assert table(campaign) == text
    assert len(json.loads((campaign.out / "manifest.json").read_text())["sessions"]) == 1


def test_two_processes_give_the_same_table_byte_for_byte(finished, tmp_path):
    campaign, _, text = finished
    other = read_campaign(written(tmp_path, SMALL))
    assert other.digest == campaign.digest
    reported = []
    conduct(other, jobs=2, progress=lambda done, total: reported.append((done, total)))
    assert table(other) == text
    assert reported == [(done, len(campaign.cells)) for done in range(len(campaign.cells) + 1)]


def test_summary_keeps_the_worst_cell_of_each_claim(finished):
    campaign, _, _ = finished
    folder = Folder(path=campaign.out)
    rows = summary(campaign)
    assert len(rows) == 3
    for row in rows:
        cells = [c for c in campaign.cells if (c.get("key"), c.get("edition")) == (row["key"], row["edition"])]
        results = [folder.result(cell) or {} for cell in cells]
        ratios = [result["worst_ratio"] for result in results if result["worst_ratio"] is not None]
        assert row["worst_ratio"] == (max(ratios) if ratios else None)
        assert row["instances"] == sum(result["instances"] for result in results)
        assert row["instance"] in [result["instance"] for result in results]
        medians = [result["median_ratio"] for result in results if "median_ratio" in result]
        assert row["median_ratio"] == (np.median(medians) if medians else None)
        assert row["median_ratio"] is None or row["median_ratio"] <= row["worst_ratio"]


def test_the_summary_as_a_markdown_table_has_a_line_per_claim(finished):
    campaign, _, _ = finished
    lines = markdown(summary(campaign)).splitlines()
    assert len(lines) == 2 + 3
    printed = next(line for line in lines if "(printed)" in line)
    worst = next(row["worst_ratio"] for row in summary(campaign) if row["edition"] == "printed")
    assert f"| {worst:.6g} | - |" in printed
    assert {line.count("|") for line in lines} == {6}


def test_the_summary_of_simulations_says_where_they_ended(finished, tmp_path):
    campaign, _, text = finished
    ends = [float(row["final_excess"]) for row in csv.DictReader(io.StringIO(text)) if row["algorithm"] == "fedavg"]
    row = next(row for row in simulations(campaign) if row["algorithm"] == "fedavg")
    assert (row["problem"], row["cells"], row["lowest"], row["highest"]) == ("clustered", 8, min(ends), max(ends))
    assert f"| clustered | fedavg | 8 | {min(ends):.4g} | {max(ends):.4g} |" in report(campaign).splitlines()
    assert report(read_campaign(written(tmp_path, CHEAP))) == "No cell of 16 is finished.\n"


def test_the_worst_instance_of_a_claim_gives_its_ratio_again(finished):
    from suffice.bounds import evaluate, find

    campaign, _, _ = finished
    row = next(row for row in summary(campaign) if row["key"] == "worst-case/quadratic-norms")
    theorem = find(row["key"])
    bound = evaluate(theorem, **{p.name: row["instance"][p.name] for p in theorem.parameters})
    np.testing.assert_allclose(row["instance"]["measured"] / bound, row["worst_ratio"], rtol=1e-12)  # outward rounding


def test_a_claim_that_no_instance_meets_has_no_ratio(tmp_path):
    vacuous = CHEAP[: CHEAP.index("[[simulate]]")]
    vacuous += '[[verify]]\nkeys = ["adaptive/corollary-1"]\neditions = ["printed"]\n'
    campaign = read_campaign(written(tmp_path, vacuous))
    assert conduct(campaign).computed == 1
    (row,) = summary(campaign)
    assert (row["instances"], row["worst_ratio"], row["instance"]) == (0, None, {})
    (cell,) = (campaign.out / "cells").iterdir()
    json.loads(cell.read_text(), parse_constant=pytest.fail)  # no Infinity, which strict readers refuse


def test_a_folder_that_holds_other_files_keeps_them(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP), out=tmp_path)
    cell, end = f"{identity(campaign.cells[0])}.json", "0123456789abcdef.partial"
    own = [f".manifest.json.{end}", f"cells/.{cell}.{end}", f"failed/.{cell}.{end}"]
    mine = [
        ".gitignore", ".env", ".my_prefs.json", ".abcd_12z.json", "cells/.b0abel_1.json", "notes.partial",
        f".notes.json.{end}", f"cells/.notes.json.{end}", f".{cell}.{end}", f"cells/.{cell}.{end[1:]}",
        f"cells/.{cell}.{end}.bak", f"cells/.{'0' * 24}.json.{end}", "cells/notes.txt", "failed/notes.json",
    ]  # fmt: skip
    for part in (".git", "cells", "failed"):
        (tmp_path / part).mkdir()
    for name in (*own, *mine):
        (tmp_path / name).write_text("{")
    assert conduct(campaign).failed == 0
    assert [name for name in mine if not (tmp_path / name).exists()] == []
    assert [name for name in own if (tmp_path / name).exists()] == []
    assert (tmp_path / ".git").exists()


def test_a_changed_definition_is_refused_and_a_new_folder_accepted(finished, tmp_path):
    campaign, _, text = finished
    changed = read_campaign(written(tmp_path, SMALL.replace("seeds = 8", "seeds = 9")), out=campaign.out)
    with pytest.raises(InputError, match="its definition changed"):
        conduct(changed)
    assert table(campaign) == text
    fresh = read_campaign(written(tmp_path, CHEAP.replace("seeds = 8", "seeds = 9")), out=tmp_path / "new")
    assert conduct(fresh).computed == 16


def test_the_false_alarms_of_all_cells_add_up_to_the_budget(tmp_path):
    cells = read_campaign(written(tmp_path, SMALL.replace("[[sharpness]]", "roots = 5\n[[sharpness]]"))).cells
    shares = [cell["false_alarm"] for cell in cells if cell["kind"] == "verify"]
    assert len(shares) == 10
    np.testing.assert_allclose(sum(shares), 1e-6, rtol=1e-12)  # rounding of ten additions


def failing(monkeypatch, broken):
    def planted(cell):
        if broken(cell):
            raise RuntimeError("planted\nin two lines")
        return compute(cell)

    monkeypatch.setattr(workers, "compute", planted)


def test_a_failing_cell_is_recorded_the_rest_goes_on_and_retry_mends_it(tmp_path, monkeypatch, capsys):
    path = written(tmp_path, CHEAP)
    campaign = read_campaign(path)
    with monkeypatch.context() as patch:
        failing(patch, lambda cell: cell.get("clients") == 4.0)
        code, out, err = run_command(patch, capsys, str(path), "--jobs", "1")
    assert code == 1
    assert "16 cells: 8 computed, 0 found done, 8 failed" in out
    assert "8 cells failed" in err
    assert "RuntimeError: planted in two lines" in err
    records = [json.loads(path.read_text()) for path in (campaign.out / "failed").iterdir()]
    assert {record["error"] for record in records} == {"RuntimeError: planted in two lines"}
    assert all(record["cell"]["clients"] == 4.0 for record in records)
    assert conduct(campaign).skipped == 8
    assert conduct(campaign, retry=True).computed == 8
    assert not list((campaign.out / "failed").iterdir())
    assert len(table(campaign).splitlines()) == 17


def test_a_cell_that_outgrows_its_memory_fails_alone(tmp_path, monkeypatch):
    campaign = read_campaign(written(tmp_path, CHEAP))

    def greedy(cell):
        with bounded():
            if cell["root"] == 3:
                np.ones(2**40 if cell["clients"] == 4 else 3 * 2**27)  # 8 TiB; 3 GiB would be there to have
            if cell["separation"] == 2.0:
                torch.ones(3 * 2**27, dtype=torch.float64)
        return compute(cell)

    monkeypatch.setattr(workers, "compute", greedy)
    assert conduct(campaign).failed == 12
    errors = {json.loads(path.read_text())["error"].split(":")[0] for path in (campaign.out / "failed").iterdir()}
    assert set() < errors <= {"MemoryError", "_ArrayMemoryError", "RuntimeError"}


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
        (('name = "small"', 'name = "../up"'), "name = '../up'"),
        (('out = "results"', ""), "missing required field"),
        (("root = 3", "root = -1"), "root = -1"),
        (("root = 3", "colour = 1"), "colour"),
        (("instances = 50", "instances = 0"), "instances = 0"),
        (("instances = 50", "instances = 100000000000"), "instances = 100000000000"),
        (("block = 20", "block = 20000"), "block = 20000"),
        (('keys = ["adaptive/property-1"]', 'keys = ["nothing/*"]'), "keys = 'nothing/"),
        (('problem = "clustered"', 'problem = "unknown"'), "unknown"),
        (('"fedavg"', '"fedagv"'), "algorithm = 'fedagv'"),
        (("clients = [4, 6]", "clients = [10000000]"), "clients = 10000000"),
        (("clients = [4, 6]", "clients = [9000]"), "cell = '23.0 GiB for local'"),
        (("clients = [4, 6]", "clients = [nan]"), "clients = nan"),
        (("clients = [4, 6]", "clients = []"), "clients = 0"),
        (("clients = [4, 6]", "colour = [4, 6]"), "grid = 'colour'"),
        (("separation = [0.5, 2.0]", "length = [0.5]"), "grid = 'length'"),
        (("separation = [0.5, 2.0]", "separation = [1e999]"), "separation = inf"),
        (("roots = 2", "roots = 10000000"), "roots = 10000000"),
        (("seeds = 8", "seeds = 1.5"), "Expected `int`"),
        (("seeds = 8", "seeds = 9000000"), "GiB for local"),
        (("iterations = 3", "iterations = 0"), "iterations = 0"),
        (("[[verify]]", "[[verify"), "not valid TOML"),
    ],
)
def test_wrong_files_are_refused_in_one_line_before_anything_is_written(tmp_path, change, message):
    assert change[0] in SMALL
    with pytest.raises(InputError) as caught:
        read_campaign(written(tmp_path, SMALL.replace(*change)))
    assert message.replace("`", "") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "results").exists()


def test_the_files_among_the_examples_are_right():
    examples = Path(__file__).parents[3] / "examples"
    sharpness, first = (read_campaign(examples / name) for name in ("sharpness.toml", "campaign.toml"))
    assert {cell["kind"] for cell in sharpness.cells} == {"sharpness"}
    assert len(sharpness.cells) % 20 == 0  # 10,000 instances in blocks of 500
    assert {cell["kind"] for cell in first.cells} == {"verify", "simulate"}


def test_what_a_file_may_ask_for_is_what_the_estimate_allows():
    largest = {"kind": "simulate", "algorithm": "local", "clients": 1800.0, "seeds": 8}
    assert footprint(largest) < ARRAYS < footprint(largest | {"clients": 2000.0})
    assert footprint(largest | {"algorithm": "all-for-all"}) > ARRAYS / 2 > footprint(largest | {"clients": 900.0})


def test_the_command_reports_and_collects(tmp_path, monkeypatch, capsys):
    path = written(tmp_path, CHEAP.replace("[[simulate]]", '[[sharpness]]\nkeys = ["adaptive/remark-3-*"]\n'
                                           "instances = 5\n[[simulate]]"))  # fmt: skip
    assert not sys.stderr.isatty()
    code, out, err = run_command(monkeypatch, capsys, str(path), "--jobs", "1")
    assert (code, err) == (0, "")  # quiet when nobody watches
    assert "19 cells: 19 computed, 0 found done" in out
    code, out, err = run_command(monkeypatch, capsys, str(path), "--collect")
    assert (code, err) == (0, "")
    assert out == table(read_campaign(path))
    code, out, err = run_command(monkeypatch, capsys, str(path), "--summary")
    assert (code, out, err) == (0, report(read_campaign(path)), "")
    assert out.startswith(markdown(summary(read_campaign(path))))
    code, out, err = run_command(monkeypatch, capsys, str(path), "--plot", str(tmp_path))
    assert code == 2
    assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_the_command_draws_what_the_summary_says(finished, tmp_path, monkeypatch, capsys):
    campaign, _, _ = finished
    path = campaign.out.parent / "campaign.toml"
    code, out, err = run_command(monkeypatch, capsys, str(path), "--summary", "--plot", str(tmp_path / "pictures"))
    assert (code, out) == (0, report(campaign))
    drawn = tmp_path / "pictures" / "small-sharpness.csv"
    assert str(drawn) in err
    rows = list(csv.DictReader(io.StringIO(drawn.read_text())))
    assert [float(row["worst_ratio [1]"]) for row in rows] == [row["worst_ratio"] for row in summary(campaign)]


def test_a_terminal_sees_a_bar_with_the_remaining_time(tmp_path, monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    path = written(tmp_path, CHEAP)
    with monkeypatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.setattr(sys, "stderr", screen)
        run_command(patch, capsys, str(path), "--jobs", "1")
    shown = screen.getvalue()
    assert "16/16" in shown
    assert "0:00:0" in shown
