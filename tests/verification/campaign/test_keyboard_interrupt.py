"""Campaigns lose nothing: killed at random moments, on a full disk, in a read-only folder, or started twice."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from campaign_files import BRISK, MANY, SMALL, start, written

from suffice.bounds import InputError
from suffice.support.files import write_whole
from suffice.verification.campaign import Campaign, conduct, read_campaign, summary, table
from suffice.verification.campaign.run import _held, result

CHEAP = SMALL[: SMALL.index("[[verify]]")] + SMALL[SMALL.index("[[simulate]]") :]
SOAK_SECONDS = float(os.environ.get("SUFFICE_SOAK_SECONDS", "60"))


def finished_cells(campaign: Campaign) -> int:
    return len(list((campaign.out / "cells").glob("[!.]*.json"))) if campaign.out.exists() else 0


def leftovers(campaign: Campaign) -> list[Path]:
    return list(campaign.out.rglob(".*"))


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
    assert not leftovers(campaign)


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler on this machine")
def test_killed_a_hundred_times_as_a_command_the_table_is_that_of_an_uninterrupted_run(tmp_path, monkeypatch):
    """25 kills fall anywhere in a life, 25 soon after it has finished a cell, 25 while it writes one, and 25 while a
    compiler builds the kernel in an empty cache, as it does before a simulation. What is there is not written again.
    """
    text = MANY.replace("roots = 25", "roots = 50")  # a hundred lives must not suffice for all cells
    alone, campaign = (read_campaign(written(tmp_path / name, text)) for name in ("alone", "killed"))
    assert conduct(alone).computed == 400
    path, cells, cache, scratch = (
        tmp_path / name for name in ("killed/campaign.toml", "killed/results/cells", "cache", "scratch")
    )
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    build = "import torch; from suffice.simulate.kernels import library; library(torch.float64)"
    rng, live, writing, building, spread, orphans = random.Random(2), 0, 0, 0, [0], []
    there: dict[str, tuple[int, int]] = {}
    seconds = 2.5  # from the start of a process to its first cell; all cells take a few more
    for kill in range(100):
        way = ("cell", "anywhere", "writing", "building")[kill % 4]
        if way == "building":
            shutil.rmtree(cache, ignore_errors=True)
        # what the way waits for: finished cells, half-written ones, the compiler's own files
        folder, names, latest = {
            "cell": (cells, "[!.]*.json", 0.03),
            "anywhere": (tmp_path, "*", min(seconds, 3.0)),
            "writing": (cells, ".*.partial", 0.0),
            "building": (scratch, "*.s", 1.0),
        }[way]
        known = set() if way == "anywhere" else set(folder.glob(names))
        process = start(path, "--jobs", "1" if kill % 5 else "2", quiet=True, first=build if way == "building" else "")
        began = time.monotonic()
        while not set(folder.glob(names)) - known and process.poll() is None and time.monotonic() - began < 120:
            time.sleep(0.0005)
        seconds = time.monotonic() - began if way == "cell" else seconds
        time.sleep(rng.uniform(0, latest))
        live += process.poll() is None
        if kill % 15:
            with suppress(ProcessLookupError):  # it may just have ended
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()  # its own workers live on for a while, and must not matter
            orphans.append(process.pid)
        process.wait(timeout=60)
        writing += way == "writing" and bool(set(cells.glob(names)) - known)
        building += way == "building" and not any(cache.rglob("*.so"))
        now = {at.name: (at.stat().st_ino, at.stat().st_mtime_ns) for at in cells.glob("[!.]*.json")}
        assert there.items() <= now.items()
        there = now
        spread.append(len(there))
    print(f"{live} of 100 kills hit a living process, {writing} one that wrote a cell, {building} one that built the "
          f"kernel; cells after each: {spread[1:]}")  # fmt: skip
    process = start(path, "--jobs", "2", quiet=True, first=build)
    assert process.wait(timeout=250) == 0
    for group in orphans:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    assert live >= 90
    assert min(writing, building) >= 10
    assert len({count for count in spread if count < 400}) > 20
    kernels = sorted(path.name.partition("-")[0] for path in cache.rglob("*.so"))
    assert kernels == ["general"]
    assert not leftovers(campaign)
    assert table(campaign) == table(alone)


@pytest.fixture
def sigint() -> Iterator[None]:
    """Python's own answer to SIGINT, which a background shell has its processes ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("sigint")
def test_ctrl_c_says_how_far_the_campaign_came_and_what_was_done_is_kept(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP))

    def stop(done: int, _: int) -> None:
        if done == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(
        KeyboardInterrupt, match="interrupted: 3 of 16 cells done; run the same command again to resume"
    ):
        conduct(campaign, progress=stop)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    again = conduct(campaign)
    assert (again.found, again.computed) == (3, 13)


@pytest.mark.slow
def test_ctrl_c_ends_processes_and_all_at_once_with_one_line(tmp_path):
    """As `timeout -s INT` does it: twice, to the whole group, while cells that take minutes are under way."""
    brief = MANY.replace("[2, 4]", "[2]").replace("[0.5, 2.0]", "[0.5]").replace("roots = 25", "roots = 1")
    long = brief[brief.index("[[simulate]]") :].replace("iterations = 1", "iterations = 1000000")
    campaign = read_campaign(written(tmp_path, brief + long))
    process = start(tmp_path / "campaign.toml", "--jobs", "2")
    began = time.monotonic()
    while finished_cells(campaign) < 2 and time.monotonic() - began < 120:
        time.sleep(0.05)
    time.sleep(0.2)
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)  # a second or less where nothing else runs; the cells take minutes
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


def test_a_disk_that_fills_while_a_file_is_written_leaves_no_part_of_it(tmp_path, monkeypatch):
    campaign = read_campaign(written(tmp_path, CHEAP))

    def short(path, mode):
        stream = open(path, mode)  # noqa: SIM115
        if finished_cells(campaign) < 5:
            return stream

        class Full:
            def __enter__(self):
                return self

            def write(self, content):
                stream.write(content[: len(content) // 2])
                raise OSError(28, "No space left on device")

            def __exit__(self, *about):
                stream.close()

        return Full()

    with monkeypatch.context() as patch:
        patch.setattr("suffice.support.files.open", short, raising=False)
        with pytest.raises(InputError, match="no space left"):
            conduct(campaign)
    assert finished_cells(campaign) == 5
    assert not leftovers(campaign)


@contextmanager
def nobody() -> Iterator[None]:
    """Without root's right to write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


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


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    campaign = read_campaign(written(tmp_path, CHEAP), out=tmp_path / "file" / "inside")
    with pytest.raises(InputError, match=r"^out = .*not a directory; .*give another"):
        conduct(campaign)


def test_a_second_campaign_on_a_folder_is_refused_while_the_first_runs(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP))
    with _held(campaign), pytest.raises(InputError, match="another campaign is running there"):
        conduct(campaign)
    assert not conduct(campaign).failed  # free again


@pytest.mark.slow
def test_of_two_commands_started_together_on_a_folder_one_runs_and_one_is_refused(tmp_path):
    campaign = read_campaign(written(tmp_path, MANY.replace("iterations = 1", "iterations = 40").replace("25", "10")))
    pair = [start(tmp_path / "campaign.toml", "--jobs", "1") for _ in range(2)]
    ends = [(*process.communicate(timeout=250), process.returncode) for process in pair]
    assert sorted(code for *_, code in ends) == [0, 2]
    refused = next(err for _, err, code in ends if code == 2)
    assert "another campaign is running there" in refused
    assert len(refused.splitlines()) == 1
    assert len(table(campaign).splitlines()) == 81


def resident(pid: int) -> int:
    """Bytes in memory of a process and its descendants."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = [p for task in Path(f"/proc/{pid}/task").iterdir() for p in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(resident(int(child)) for child in children)


@pytest.mark.slow
def test_a_long_run_keeps_its_memory(tmp_path):
    """SUFFICE_SOAK_SECONDS (60) of campaigns without a pause on two processes, every claim and every kind of cell.

    A third of the cells is deleted after each campaign and computed again.
    """
    text = """
name = "soak"
out = "results"
root = {root}
[[sharpness]]
keys = ["*"]
instances = 20
[[verify]]
keys = ["adaptive/property-1", "adaptive/theorem-2-constant", "scafflix/corollary-1"]
[[simulate]]
problem = "clustered"
algorithms = ["local", "fedavg", "all-for-one", "cobo", "scaffnew", "ifca"]
iterations = 20
[simulate.grid]
clients = [4, 12, 40]
"""
    began, cells, memory, during, over = time.monotonic(), 0, [], [], threading.Event()

    def sample() -> None:
        while not over.wait(min(60.0, SOAK_SECONDS / 20)):
            during.append(resident(os.getpid()))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        while time.monotonic() - began < SOAK_SECONDS or len(memory) < 4:
            root = len(memory)
            campaign = read_campaign(written(tmp_path / str(root), text.format(root=1000 * root)))
            session = conduct(campaign, jobs=2)
            assert not session.failed
            whole, lost = table(campaign), sorted((campaign.out / "cells").iterdir())[root % 3 :: 3]
            for path in lost:
                path.unlink()
            assert conduct(campaign, jobs=2).computed == len(lost)
            assert table(campaign) == whole
            assert len(whole.splitlines()) == 1 + len(campaign.cells)
            assert summary(campaign)
            cells += session.computed + len(lost)
            memory.append(resident(os.getpid()))
            shutil.rmtree(tmp_path / str(root))
    finally:
        over.set()
        sampler.join()
    settled, end = memory[len(memory) // 4], memory[-1]
    print(f"{cells} cells, {len(memory)} rounds in {time.monotonic() - began:.0f} s; MiB: first {memory[0] >> 20}, "
          f"after a quarter {settled >> 20}, largest {max(memory) >> 20}, end {end >> 20}; {len(during)} samples while "
          f"it ran: {' '.join(str(size >> 20) for size in during)}")  # fmt: skip
    assert end < settled * 1.05 + 2**24
    assert max(during) < max(memory) * 1.05 + 2**26  # a few arrays of the cells under way
