"""Campaigns lose nothing: killed at random moments, on a full disk, in a read-only folder, or started twice."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from campaign_files import BRISK, CHEAP, HEAD, start, written

from suffice.bounds import InputError
from suffice.support.files import write_whole
from suffice.verification.campaign import Campaign, conduct, read_campaign, table
from suffice.verification.campaign.run import _held, result


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
    """As `timeout -s INT` does it: twice, to the whole group, while cells that take a minute are under way."""
    entry = '[[sharpness]]\nkeys = ["{}"]\ninstances = {}\nblock = {}\n'
    brief, long = entry.format("cobo/alignment", 2, 1), entry.format("adaptive/theorem-2-constant", 20_000, 10_000)
    campaign = read_campaign(written(tmp_path, HEAD + brief + long))
    process = start(tmp_path / "campaign.toml", "--jobs", "2")
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


def test_a_second_campaign_on_a_folder_is_refused_while_the_first_runs(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP))
    with _held(campaign), pytest.raises(InputError, match="another campaign is running there"):
        conduct(campaign)
    assert not conduct(campaign).failed  # free again
