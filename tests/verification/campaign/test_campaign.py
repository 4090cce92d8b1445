"""Campaigns: cells land in one table, nothing is lost or mixed, and a stored result is that of its cell."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.support.files import write_whole
from suffice.verification.campaign import Campaign, conduct, read_campaign, summary, table
from suffice.verification.campaign.cells import compute, identity
from suffice.verification.campaign.run import _held, result

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")
HEAD = """
name = "small"
out = "results"
root = 3
"""
SMALL = f"""{HEAD}
[[verify]]
keys = ["adaptive/property-1"]
editions = ["printed", "corrected"]
[[sharpness]]
keys = ["worst-case/quadratic-norms", "adaptive/property-1"]
instances = 50
block = 20
"""
BRISK = """
name = "brisk"
out = "results"
[[sharpness]]
keys = ["adaptive/definition-1-weights", "adaptive/remark-3-binary", "cobo/alignment", "worst-case/sharp-step"]
instances = 100
block = 4
"""
"""100 cells of a few milliseconds."""
CHEAP = BRISK.replace("100", "8").replace("4", "2")
"""16 of them."""


def written(folder: Path, text: str) -> Path:
    """A campaign file in `folder`, made if absent."""
    folder.mkdir(exist_ok=True)
    path = folder / "campaign.toml"
    path.write_text(text)
    return path


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


def stored(campaign: Campaign) -> dict[Path, bytes]:
    paths = [campaign.out / "cells" / f"{identity(cell)}.json" for cell in campaign.cells]
    return {path: path.read_bytes() for path in paths}


def bit_flips(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    broken = bytearray(content)
    for at in rng.sample(range(len(content)), rng.choice((1, 1, 2, 9))):
        broken[at] ^= 1 << rng.randrange(8)
    return bytes(broken)


def another_file(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    return rng.choice(others)


def spliced(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """One cell's description with another's result, under either checksum."""
    mine, other = json.loads(content), json.loads(rng.choice(others))
    kept = rng.choice((("cell",), ("cell", "sha256")))
    return json.dumps(other | {name: mine[name] for name in kept}, sort_keys=True).encode() + b"\n"


def nested(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    deep, (opened, closed) = rng.choice((200, 1500, 100_000)), rng.choice(((b"[", b"]"), (b'{"result":', b"}")))
    return opened * deep + content.strip() + closed * deep


def foreign_json(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    digits = b'{"result": ' + b"9" * 5000 + b"}"
    return rng.choice(
        (b"", b"[]\n", b"5", b"null", b'{"result": 5}', b'{"result": {}}', b'{"cell": {', b"\xff\xfe", digits)
    )


DAMAGES = (bit_flips, another_file, spliced, nested, foreign_json)


@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_no_damaged_result_is_accepted_and_those_cells_are_computed_again(finished, count):
    campaign, _, text = finished
    files, rng = stored(campaign), random.Random(count)
    cells = dict(zip(files, campaign.cells))
    accepted = []
    for at in range(count):
        damage, path = DAMAGES[at % len(DAMAGES)], rng.choice(list(files))
        others = [content for other, content in files.items() if other != path]
        broken = damage(files[path], rng, others)
        assert broken != files[path]
        path.write_bytes(broken)
        if result(campaign.out, cells[path]) is not None:
            accepted.append((damage.__name__, broken))
        path.write_bytes(files[path])
    print(f"{count} corruptions, {len(accepted)} accepted")
    assert accepted == []
    broken = dict.fromkeys(rng.choice(list(files)) for _ in range(4))
    for path, damage in zip(broken, (another_file, spliced, nested, bit_flips)):
        path.write_bytes(damage(files[path], rng, [files[next(other for other in files if other != path)]]))
    assert len(table(campaign).splitlines()) == len(text.splitlines()) - len(broken)
    assert summary(campaign) is not None
    assert conduct(campaign).computed == len(broken)
    assert table(campaign) == text


def test_what_is_no_file_counts_as_absent(finished):
    campaign, _, _ = finished
    path, content = next(iter(stored(campaign).items()))
    path.unlink()
    path.mkdir()
    assert result(campaign.out, campaign.cells[0]) is None
    path.rmdir()
    path.write_bytes(content)


def finished_cells(campaign: Campaign) -> int:
    return len(list((campaign.out / "cells").glob("[!.]*.json"))) if campaign.out.exists() else 0


def test_killed_in_the_middle_of_its_cells_nothing_is_lost(tmp_path):
    alone = read_campaign(written(tmp_path / "alone", BRISK))
    assert len(alone.cells) == 100
    pace, text = conduct(alone).seconds / 100, table(alone)
    campaign = read_campaign(written(tmp_path / "killed", BRISK))
    rng, codes = random.Random(1), []
    for _ in range(6):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork dies here by SIGKILL: its locks do not matter
            process = multiprocessing.get_context("fork").Process(target=conduct, args=(campaign,))
            process.start()
        enough = finished_cells(campaign) + rng.randint(0, 8)  # waiting for cells, not for time: a busy machine is slow
        while finished_cells(campaign) < enough and process.is_alive():
            time.sleep(pace / 10)
        time.sleep(rng.uniform(0, pace))
        process.kill()
        process.join()
        codes.append(process.exitcode)
    assert codes.count(-signal.SIGKILL) >= 3
    assert 0 < finished_cells(campaign) < 100
    assert not conduct(campaign).failed
    assert table(campaign) == text
    assert not list(campaign.out.rglob(".*"))


def test_ctrl_c_says_how_far_the_campaign_came_and_what_was_done_is_kept(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP))

    def stop(done: int, _: int) -> None:
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has its processes ignore it
    message = "interrupted: 3 of 16 cells done; run the same command again to resume"
    try:
        with pytest.raises(KeyboardInterrupt, match=message):
            conduct(campaign, progress=stop)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    again = conduct(campaign)
    assert (again.found, again.computed) == (3, 13)


@pytest.mark.slow
def test_ctrl_c_ends_processes_and_all_at_once_with_one_line(tmp_path):
    """As `timeout -s INT` does it: twice, to the whole group, while cells that take a minute are under way."""
    entry = '[[sharpness]]\nkeys = ["{}"]\ninstances = {}\nblock = {}\n'
    brief, long = entry.format("cobo/alignment", 2, 1), entry.format("adaptive/theorem-2-constant", 20_000, 10_000)
    campaign = read_campaign(written(tmp_path, HEAD + brief + long))
    # a shell that runs in the background starts its processes with SIGINT ignored
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import suffice.cli as c; c.main()"
    call = [sys.executable, "-c", code, "campaign", str(tmp_path / "campaign.toml"), "--jobs", "2"]
    process = subprocess.Popen(call, stderr=subprocess.PIPE, text=True, start_new_session=True)
    began = time.monotonic()
    while finished_cells(campaign) < 2 and time.monotonic() - began < 120:
        time.sleep(0.05)
    time.sleep(0.2)
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)  # a second or less where nothing else runs; the cells take a minute
    line = "suffice: interrupted: 2 of 4 cells done; run the same command again to resume\n"
    assert (process.returncode, err) == (130, line)
    ended = time.monotonic()
    with suppress(ProcessLookupError):
        while time.monotonic() - ended < 60:  # joblib's watchers of shared memory leave after it
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        pytest.fail("a process of the campaign lives on")


def test_a_full_disk_loses_nothing_that_was_written(tmp_path, monkeypatch):
    campaign = read_campaign(written(tmp_path, CHEAP))
    kept = []

    def full(path, content):
        if len(kept) >= 5 and Path(path).parent.name == "cells":
            raise OSError(28, "No space left on device")
        kept.append(path)
        return write_whole(path, content)

    with monkeypatch.context() as patch:
        patch.setattr("suffice.verification.campaign.run.write_whole", full)
        with pytest.raises(InputError, match=r"no space left on device; .*results so far are kept"):
            conduct(campaign)
    assert 0 < sum(result(campaign.out, cell) is not None for cell in campaign.cells) < len(campaign.cells)
    assert not conduct(campaign).failed
    assert len(table(campaign).splitlines()) == 1 + len(campaign.cells)


@contextmanager
def nobody() -> Iterator[None]:
    """Without root's right to write anywhere."""
    own = os.geteuid()
    os.seteuid(own or 65534)
    try:
        yield
    finally:
        os.seteuid(own)


def test_a_read_only_folder_is_named_and_its_results_can_be_read(monkeypatch):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        campaign = read_campaign(written(folder, CHEAP))
        conduct(campaign)
        text = table(campaign)
        parts = [campaign.out, campaign.out / "cells"]
        for part in parts:
            part.chmod(0o555)
        (campaign.out / "lock").chmod(0o444)
        with nobody():
            with pytest.raises(InputError, match=r"^out = '.*results': permission denied; .*give another"):
                conduct(campaign)
            assert table(campaign) == text
            with pytest.raises(InputError, match="permission denied"):
                conduct(read_campaign(folder / "campaign.toml", out=campaign.out / "below"))
        for part in parts:
            part.chmod(0o755)


def test_a_second_campaign_on_a_folder_is_refused_while_the_first_runs(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP))
    with _held(campaign), pytest.raises(InputError, match="another campaign is running there"):
        conduct(campaign)
    assert not conduct(campaign).failed  # free again


def deadly(victim):
    """`compute`, but it takes its process down on some cells; sent to the workers by value."""
    alive, leave = compute, os._exit

    def fatal(cell):
        if all(cell[name] == value for name, value in victim.items()):
            leave(9)
        return alive(cell)

    return fatal


@pytest.mark.slow
def test_a_cell_that_kills_one_of_two_processes_is_named_and_the_rest_goes_on_to_the_same_table(tmp_path):
    campaign, alone = (read_campaign(written(tmp_path / name, CHEAP)) for name in ("two", "one"))
    victim, reported = {"key": "cobo/alignment"}, []
    session = conduct(campaign, jobs=2, compute=deadly(victim), progress=lambda *given: reported.append(given))
    assert reported == [(done, 16) for done in range(1, 17)]
    assert session.computed == 12
    assert [cell["root"] for cell, error in session.failed if "process died" in error] == [0, 2, 4, 6]
    assert conduct(campaign, jobs=1).computed == 4
    conduct(alone)
    assert table(campaign) == table(alone)


def test_an_empty_or_silent_scheduler_is_refused_in_one_line(tmp_path):
    pytest.importorskip("distributed")
    campaign = read_campaign(written(tmp_path, CHEAP))
    with pytest.raises(InputError, match="scheduler = '': no answer"):
        conduct(campaign, scheduler="")
    with pytest.raises(InputError, match="no answer") as caught:
        conduct(campaign, scheduler="colour://127.0.0.1:1")
    assert "\n" not in str(caught.value)


def test_without_dask_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dask.distributed", None)
    with pytest.raises(InputError, match=r"pip install '\.\[cluster\]'"):
        conduct(read_campaign(written(tmp_path, CHEAP)), scheduler="tcp://127.0.0.1:8786")


@pytest.mark.slow
def test_a_cell_that_kills_every_dask_worker_is_named_and_the_run_ends(tmp_path):
    distributed = pytest.importorskip("distributed")
    campaign = read_campaign(written(tmp_path, CHEAP))
    victim = {"key": "cobo/alignment", "root": 0}
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as two:
        session = conduct(campaign, scheduler=two.scheduler_address, compute=deadly(victim))
    killers = [error for cell, error in session.failed if victim.items() <= cell.items()]
    assert len(killers) == 1
    assert killers[0].startswith("KilledWorker: ")
    # cells that Dask had handed to the same worker may be given up with it
    assert session.computed == 16 - len(session.failed) >= 12
    assert conduct(campaign).computed == len(session.failed)


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of Dask, as a user starts it: the scheduler writes its address into `folder`/scheduler.json."""
    call = [sys.executable, "-m", "dask", words[0], "--scheduler-file", "scheduler.json", *words[1:], "--no-dashboard"]
    with open(folder / f"{words[0]}.log", "wb") as log:
        process = subprocess.Popen(call, stdout=log, stderr=log, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_killed_scheduler_ends_the_campaign_with_one_line_and_nothing_is_lost(tmp_path):
    pytest.importorskip("distributed")
    alone, spread = (read_campaign(written(tmp_path / name, BRISK)) for name in ("alone", "spread"))
    conduct(alone)
    with (
        started(tmp_path, "scheduler", "--port", "0") as scheduler,
        started(tmp_path, "worker", "--no-nanny", "--nthreads", "1"),
    ):
        began, where = time.monotonic(), None
        while where is None and time.monotonic() - began < 120:
            with suppress(FileNotFoundError, ValueError):
                where = json.loads((tmp_path / "scheduler.json").read_text())["address"]
            time.sleep(0.05)

        def kill(done: int, _: int) -> None:
            if done == 20:
                scheduler.kill()

        with pytest.raises(InputError, match=r"^scheduler = .* no answer .* run again to resume$") as caught:
            conduct(spread, scheduler=where, progress=kill)
    assert "\n" not in str(caught.value)
    done = len(list((spread.out / "cells").glob("*.json")))
    assert 20 <= done < 100
    again = conduct(spread)
    assert (again.found, again.computed, again.failed) == (done, 100 - done, [])
    assert table(spread) == table(alone)
