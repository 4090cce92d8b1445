"""The same results from one, two and four processes and from a Dask cluster, whoever dies on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from campaign_files import CHEAP, MANY, written

from suffice.bounds import InputError
from suffice.verification.campaign import conduct, read_campaign, table
from suffice.verification.campaign.cells import compute


def deadly(victim):
    """`compute`, but it takes its process down on some cells; sent to the workers by value."""
    alive, leave = compute, os._exit

    def fatal(cell):
        if all(cell[name] == value for name, value in victim.items()):
            leave(9)
        return alive(cell)

    return fatal


@pytest.mark.slow
def test_a_cell_that_kills_its_process_is_named_and_the_rest_goes_on(tmp_path):
    campaign = read_campaign(written(tmp_path, CHEAP))
    victim = {"key": "cobo/alignment"}
    session = conduct(campaign, jobs=2, compute=deadly(victim))
    assert session.computed == 12
    assert [cell["root"] for cell, error in session.failed if "process died" in error] == [0, 2, 4, 6]
    assert conduct(campaign, jobs=1).computed == 4


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


pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")


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
def processes(tmp_path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts Dask's commands, as a user does: the scheduler writes its address into `tmp_path`/scheduler.json."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*words: str, python: str = sys.executable, **environment: str) -> subprocess.Popen[bytes]:
        call = [python, "-m", "dask", words[0], "--scheduler-file", str(tmp_path / "scheduler.json"), *words[1:]]
        with open(tmp_path / f"{words[0]}-{len(started)}.log", "wb") as log:
            process = subprocess.Popen(call, stdout=log, stderr=log, cwd=tmp_path, env=dict(os.environ) | environment)
        started.append(process)
        return process

    try:
        yield begin
    finally:
        for process in started:
            process.kill()
            process.wait()


SCHEDULER = ("scheduler", "--port", "0", "--no-dashboard")
WORKER = ("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard")


def address(tmp_path) -> str:
    """Of the scheduler once it listens."""
    began = time.monotonic()
    while time.monotonic() - began < 120:
        with suppress(FileNotFoundError, ValueError):
            return json.loads((tmp_path / "scheduler.json").read_text())["address"]
        time.sleep(0.05)
    raise TimeoutError


@pytest.mark.slow
def test_a_killed_scheduler_ends_the_campaign_with_one_line_and_nothing_is_lost(tmp_path):
    pytest.importorskip("distributed")
    alone, spread = (read_campaign(written(tmp_path / name, MANY)) for name in ("alone", "spread"))
    conduct(alone)
    with processes(tmp_path) as begin:
        scheduler = begin(*SCHEDULER)
        where = address(tmp_path)
        begin(*WORKER)

        def kill(done: int, _: int) -> None:
            if done == 20:
                scheduler.kill()

        with pytest.raises(InputError, match=r"^scheduler = .* no answer .* run again to resume$") as caught:
            conduct(spread, scheduler=where, progress=kill)
    assert "\n" not in str(caught.value)
    done = len(list((spread.out / "cells").glob("*.json")))
    assert 20 <= done < 200
    again = conduct(spread)
    assert (again.found, again.computed, again.failed) == (done, 200 - done, [])
    assert table(spread) == table(alone)
