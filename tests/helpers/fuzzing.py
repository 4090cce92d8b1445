"""Inputs of the right structure with a few wrong parts, made from seeds: odd values, and what becomes of the inputs.

Each way in makes its inputs from a seed. `Seen.read` says that the reader let an input through, so that what comes
behind it was exercised too: at least a third do. Every input has 2 GiB of further memory and thirty seconds.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from suffice.bounds import SufficeError
from suffice.cli import main
from suffice.simulate.threads import one_thread

SECONDS = 30
MEMORY = 2 * 2**30
"""What an input may allocate beyond what the process holds already."""
ODD: list[Any] = [
    0, -1, 1, 2, 1e-320, 1e-170, 1e61, 1e300, float("nan"), float("inf"), -float("inf"), "x", "1", "", b"1", None, True,
    10**30, 10**5000, [], [1, 2], [[1], [1, 2]], {}, (), 1j, np.ones(2), np.ones((2, 3)), np.float32(0.5), np.int8(3),
    np.array([]), np.array(["a"]), np.array([None]), object, len, "__import__('os').getcwd()", "a\x1b[2Jb", "\ud800",
]  # fmt: skip
WORDS = [
    "0",
    "-1",
    "1e-320",
    "1e-170",
    "1e300",
    "nan",
    "inf",
    "x",
    "",
    "10" * 20,
    "9" * 5000,
    "1_0",
    "٤",
    "0x1",
    "true",
]


@contextlib.contextmanager
def bounded() -> Generator[None]:
    """One thread of torch and, on Linux, at most `MEMORY` more: what fails is a MemoryError or torch's RuntimeError."""
    held = Path("/proc/self/statm")
    if not held.exists():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = int(held.read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE") + MEMORY
    allowed = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(wanted, *allowed) if allowed else wanted, hard))
    try:
        with one_thread(), threadpool_limits(1):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@dataclass
class Seen:
    read: bool = False


def often(rng: random.Random, good: Any, odd: list[Any] = ODD, share: float = 0.06) -> Any:
    """`good`, now and then something odd."""
    return rng.choice(odd) if rng.random() < share else good


def typed(*words: str) -> str | None:
    """What a command prints; None where it is refused, in one line."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["suffice", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stop:
            main()
    finally:
        sys.argv = before
    assert stop.value.code in (0, 2), (words, err.getvalue())
    assert "Traceback" not in err.getvalue()
    if stop.value.code == 0:
        return out.getvalue()
    assert len(err.getvalue().strip().splitlines()) == 1, (words, err.getvalue())
    return None


Way = Callable[[random.Random, Path, Seen], None]


def tried(name: str, way: Way, folder: Path, seeds: range) -> str:
    """Tries all seeds; what came of it in one line, which names the seed of whatever fails."""
    through = refused = 0
    slowest, failures = 0.0, []
    for seed in seeds:
        rng, seen, began = random.Random(f"{name} {seed}"), Seen(), time.process_time()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"), bounded():
                warnings.simplefilter("ignore")
                way(rng, folder, seen)
        except SufficeError as error:
            refused += 1
            if "\n" in str(error) or len(str(error)) > 2000:
                failures.append(f"{seed}: {error!r}")
        except Exception as error:
            failures.append(f"{seed}: {type(error).__name__}: {error}"[:300])
        through += seen.read
        slowest = max(slowest, time.process_time() - began)
    print(f"{name}: {len(seeds)} tried, {through} past the reader, {refused} refused by an exception, {len(failures)} "
          f"failures, the slowest {slowest:.1f} s")  # fmt: skip
    assert not failures, failures[:20]
    assert slowest < SECONDS
    # a third is asked of hundreds; 25 inputs whose true share is a third scatter by .1
    assert through >= len(seeds) / (3 if len(seeds) >= 300 else 5)
    return name
