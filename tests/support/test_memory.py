"""Memory that a process keeps."""

from __future__ import annotations

import subprocess
import sys

import pytest

_FAULTS = """
import resource, sys
import numpy as np
from suffice.support.memory import keep_freed
if sys.argv[1] == "keep":
    keep_freed()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
kept = [np.ones(10**5) for _ in range(40)]
del kept
before = faults()
for _ in range(20):
    kept = [np.ones(10**5) for _ in range(40)]
    del kept
print(faults() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone is told")
def test_arrays_take_the_memory_of_those_before_them():
    def faults(how: str) -> int:
        done = subprocess.run([sys.executable, "-c", _FAULTS, how], capture_output=True, text=True, check=True)
        return int(done.stdout)

    # 20 times 32 MB: 156,000 pages of 4 kB where each is handed out anew
    assert faults("keep") < 0.1 * faults("give back")
