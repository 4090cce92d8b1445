"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE, `ci` unless given; one thread per process of tests; commands."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import settings

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # the matrices are small: more threads wait for each other

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50, database=None)
settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is marked `share(n)` the first case and about one in n of the others are run each time, whatever
    the periods of its parameters; the rest are `slow`."""
    seen: Counter[str] = Counter()
    for item in items:
        share = item.get_closest_marker("share")
        if share is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] * 0.6180339887498949 % 1 >= 1 / share.args[0]:
                item.add_marker("slow")
            seen[test] += 1


def pytest_collection_finish() -> None:
    """What has been imported and collected stays: the collector need not walk through a million objects again."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


@pytest.fixture
def few(monkeypatch):
    """Few random instances beside the sharp ones, where these decide the verdict of `check` or its words are the
    point, and violations as they were found, not simplified; the tests of what a search finds have the effort of the
    users."""
    from suffice.verification import counterexample
    from suffice.verification.claim import EFFORTS

    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], instances=4, restarts=1, ascents=1))
    monkeypatch.setattr(counterexample, "shrink", lambda theorem, family, values, margin: values)


@pytest.fixture
def brief(few, monkeypatch):
    """Few of them, of few clients and features, fewer paths, and digits of long runs as floats keep them."""
    from suffice.verification import dimension_sweep, high_precision, problem_measure, sampled_check

    monkeypatch.setitem(problem_measure.SHAPES, "quick", ((1, 2), (3, 2), (8, 1)))
    monkeypatch.setattr(dimension_sweep, "PAIRS", ((1, 1), (1, 2), (2, 2), (3, 2), (8, 8)))
    monkeypatch.setattr(sampled_check, "_CERTIFIED", (2**11, 2**13))
    monkeypatch.setattr(high_precision, "_MOST_EXACT", 1e4)


Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command(monkeypatch, capsys) -> Command:
    """`command("plan", file, "--json")` as a stranger types it, in this process (importing torch in each would be most
    of the time): exit code and both streams. A traceback is an error of the test itself."""

    from suffice.cli import main

    def typed(*arguments: object) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["suffice", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        assert isinstance(stop.value.code, int)
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(sys.argv, stop.value.code, out, err)

    return typed


@pytest.fixture
def refused(command) -> Callable[..., str]:
    """The one line of a refusal."""

    def line(*arguments: object) -> str:
        done = command(*arguments)
        assert done.returncode == 2, done.stdout + done.stderr
        assert done.stdout == ""
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1, done.stderr
        return lines[0]

    return line
