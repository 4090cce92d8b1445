"""The same results from one, two and four processes and from a Dask cluster, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from campaign_files import MANY, SMALL, written

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
    with pytest.raises(InputError, match=r"pip install 'suffice\[cluster\]'"):
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
