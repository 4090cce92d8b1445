"""The same results from one, two and four processes and from a Dask cluster, whoever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from campaign_files import MANY, SMALL, start, written

from suffice.bounds import InputError
from suffice.verification.campaign import conduct, read_campaign, table, workers

CHEAP = SMALL[: SMALL.index("[[verify]]")] + SMALL[SMALL.index("[[simulate]]") :]


def deadly(victims):
    """`attempt`, but it takes its process down on some cells; sent to the workers by value."""
    attempt, leave = workers.attempt, os._exit

    def fatal(cell):
        if any(all(cell[name] == value for name, value in victim.items()) for victim in victims):
            leave(9)
        return attempt(cell)

    return fatal


@pytest.mark.slow
def test_one_two_and_four_processes_agree_byte_for_byte(tmp_path):
    tables = set()
    for jobs in (1, 2, 4):
        campaign = read_campaign(written(tmp_path / str(jobs), SMALL))
        assert conduct(campaign, jobs=jobs).failed == 0
        tables.add(table(campaign))
    assert len(tables) == 1


@pytest.mark.slow
def test_a_cell_that_kills_its_process_is_recorded_and_the_rest_goes_on(tmp_path, monkeypatch):
    campaign = read_campaign(written(tmp_path, CHEAP))
    victim = {"clients": 4.0, "separation": 0.5, "algorithm": "local"}
    with monkeypatch.context() as patch:
        patch.setattr(workers, "attempt", deadly([victim]))
        session = conduct(campaign, jobs=2)
    assert (session.computed, session.failed) == (14, 2)
    assert "worker died" in session.example
    assert conduct(campaign, jobs=1, retry=True).computed == 2


def test_an_empty_or_silent_scheduler_is_refused_in_one_line(tmp_path):
    pytest.importorskip("distributed")
    campaign = read_campaign(written(tmp_path, CHEAP))
    with pytest.raises(InputError, match="scheduler = '': give an address"):
        conduct(campaign, scheduler="")
    with pytest.raises(InputError, match="no scheduler answers") as caught:
        conduct(campaign, scheduler="colour://127.0.0.1:1")
    assert "\n" not in str(caught.value)


def test_without_dask_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dask.distributed", None)
    with pytest.raises(InputError, match=r"pip install '\.\[cluster\]'"):
        conduct(read_campaign(written(tmp_path, CHEAP)), scheduler="tcp://127.0.0.1:8786")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any free port: other tests may have clusters of their own
        local_directory=str(tmp_path_factory.mktemp("workers")),
    ) as found:
        yield found


pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_table_byte_for_byte(tmp_path, cluster):
    alone = read_campaign(written(tmp_path / "alone", SMALL))
    conduct(alone)
    spread = read_campaign(written(tmp_path / "spread", SMALL))
    reported = []
    session = conduct(spread, scheduler=cluster.scheduler_address, progress=lambda *seen: reported.append(seen))
    assert (session.computed, session.failed) == (len(spread.cells), 0)
    assert reported[-1] == (len(spread.cells), len(spread.cells))
    assert table(spread) == table(alone)


@pytest.mark.slow
def test_dask_as_the_backend_of_joblib_gives_the_same_table_byte_for_byte(tmp_path, cluster):
    from distributed import Client
    from joblib import parallel_config

    alone = read_campaign(written(tmp_path / "alone", CHEAP))
    conduct(alone)
    spread = read_campaign(written(tmp_path / "spread", CHEAP))
    with Client(cluster.scheduler_address), parallel_config(backend="dask"):
        assert conduct(spread, jobs=None).failed == 0
    assert table(spread) == table(alone)


@pytest.mark.slow
def test_a_killed_dask_worker_costs_nothing(tmp_path, cluster):
    from distributed import Client

    alone = read_campaign(written(tmp_path / "alone", MANY))
    conduct(alone)
    spread = read_campaign(written(tmp_path / "spread", MANY))
    killed = []

    def kill_both() -> None:
        for pid in pids:
            while len(list((spread.out / "cells").glob("*.json"))) < 20 * (1 + len(killed)):
                time.sleep(0.005)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        pids = list(client.run(os.getpid).values())
    killer = threading.Thread(target=kill_both)
    killer.start()
    session = conduct(spread, scheduler=cluster.scheduler_address)
    killer.join()
    assert len(killed) == 2
    assert (session.computed, session.failed) == (200, 0)
    assert table(spread) == table(alone)


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

        with pytest.raises(
            InputError, match=r"^scheduler = .* the connection is lost; .* run again to resume$"
        ) as caught:
            conduct(spread, scheduler=where, progress=kill)
    assert "\n" not in str(caught.value)
    done = len(list((spread.out / "cells").glob("*.json")))
    assert 20 <= done < 200
    again = conduct(spread)
    assert (again.found, again.computed, again.failed) == (done, 200 - done, 0)
    assert table(spread) == table(alone)


OTHER = """
import distributed.versions as module
module.get_system_info = lambda real=module.get_system_info: real() | {"python": "3.99.1.final.0"}
"""
WITHOUT = """
import distributed.versions as module
module.get_package_info = lambda names, real=module.get_package_info: real(names) | {"suffice": None}
"""
JOINED_LATER = """
from suffice.verification.campaign import workers
workers.versions = lambda real=workers.versions: real() | {"numpy": "0.1"}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preload", "message"),
    [
        (OTHER, r"its worker tcp://\S+ has python 3.99, this process \d.\d+; give both the same$"),
        (JOINED_LATER, r"its worker \S+ has numpy 0.1, this process \S+; give both the same$"),
        (WITHOUT, r"its worker tcp://\S+ has suffice None, this process \S+; give both the same$"),
    ],
    ids=["python", "numpy", "nothing"],
)  # fmt: skip
def test_a_worker_of_other_versions_is_refused_in_one_line(tmp_path, monkeypatch, preload, message):
    """Python is asked of those there at the start; packages come with the answers, also of those that join later."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "PATIENCE", 120)
    (tmp_path / "preload.py").write_text(preload)
    campaign = read_campaign(written(tmp_path, CHEAP))
    with processes(tmp_path) as begin:
        begin(*SCHEDULER)
        where = address(tmp_path)
        begin(*WORKER, "--preload", str(tmp_path / "preload.py"))
        with pytest.raises(InputError, match=message) as caught:
            conduct(campaign, scheduler=where)
    assert "\n" not in str(caught.value)
    assert not list((campaign.out / "cells").iterdir())
    assert not list((campaign.out / "failed").iterdir())
    assert conduct(campaign).computed == 16


@pytest.mark.slow
def test_a_worker_on_another_python_is_refused_in_one_line(tmp_path):
    """SUFFICE_OTHER_PYTHON names an interpreter of another version that has the same Dask; it needs nothing else."""
    pytest.importorskip("distributed")
    other = os.environ.get("SUFFICE_OTHER_PYTHON")
    if not other:
        pytest.skip("SUFFICE_OTHER_PYTHON is not set")
    found = subprocess.run(
        [other, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
    )
    campaign = read_campaign(written(tmp_path, CHEAP))
    with processes(tmp_path) as begin:
        begin(*SCHEDULER)
        where = address(tmp_path)
        begin(*WORKER, python=other, PYTHONPATH="")
        process = start(tmp_path / "campaign.toml", "--scheduler", where)
        out, err = process.communicate(timeout=300)
    here = workers.versions()["python"]
    assert process.returncode == 2
    assert len(err.splitlines()) == 1
    assert f"has python {found.stdout.strip()}, this process {here}; give both the same" in err
    assert not out
    assert not list((campaign.out / "cells").iterdir())


@pytest.mark.slow
def test_a_cell_that_kills_every_dask_worker_is_recorded_and_the_rest_goes_on(tmp_path, monkeypatch, cluster):
    campaign = read_campaign(written(tmp_path, CHEAP))
    victim = {"clients": 4.0, "separation": 0.5, "algorithm": "local", "root": 3}
    with monkeypatch.context() as patch:
        patch.setattr(workers, "attempt", deadly([victim]))
        session = conduct(campaign, scheduler=cluster.scheduler_address)
    assert session.failed >= 1  # Dask blames whatever a dying worker held, so a neighbour may be suspected as well
    assert session.computed + session.failed == 16
    assert "worker died" in session.example
    assert conduct(campaign, jobs=1, retry=True).failed == 0
