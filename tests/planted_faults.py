"""Faults planted one by one in a copy of the library, and what the nearest tests say: `python tests/planted_faults.py`.

A fault that survives is a guard that nothing tests. Arguments are parts of names of the faults to plant.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Fault(NamedTuple):
    name: str
    file: str
    before: str
    after: str
    tests: str


_JUMPS, _JUDGE = "tests/verification/test_check_guards_jumps.py", "suffice/verification/"
FAULTS = (
    Fault(
        "allowance of floats x 4000",
        f"{_JUDGE}suspects.py",
        "return 4 * max(found",
        "return 16000 * max(found",
        f"{_JUMPS} -k no_more_is_left",
    ),
    Fault(
        "allowance of wide floats x 4000",
        f"{_JUDGE}problem_measure.py",
        "_WIDE = 4.0",
        "_WIDE = 16000.0",
        "tests/verification/test_check_guards_rounding.py -k no_more_is_allowed",
    ),
    Fault(
        "margin of the confirmation off",
        f"{_JUDGE}counterexample.py",
        'if found["margin"] <=',
        'if False and found["margin"] <=',
        f"{_JUMPS} -k more_digits",
    ),
    Fault(
        "mutant T - 1 gone", f"{_JUDGE}mutants.py", "for by in (1, -1):", "for by in (1,):", f"{_JUMPS} -k both_shifts"
    ),
    Fault(
        "jumps count as rounding",
        f"{_JUDGE}suspects.py",
        "for k in range(1, 6)]",
        "for k in range(5)]",
        f"{_JUMPS} -k 'limits or thousand'",
    ),
    Fault(
        "dropped instances are not counted",
        f"{_JUDGE}suspects.py",
        "found is None\n",
        "False\n",
        f"{_JUMPS} -k 'counted or concluded'",
    ),
)


def survives(fault: Fault) -> bool:
    """Whether the nearest tests pass with the fault; `ValueError` where its text is not in the file."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("suffice", "tests"):
            shutil.copytree(ROOT / part, Path(folder) / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        path = Path(folder) / fault.file
        text = path.read_text()
        if fault.before not in text:
            raise ValueError(f"{fault.name}: {fault.file} has no {fault.before!r}")
        path.write_text(text.replace(fault.before, fault.after))
        command = f"{sys.executable} -m pytest -q -x -n0 -p no:cacheprovider {fault.tests}"
        run = subprocess.run(
            command, shell=True, cwd=folder, env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True
        )
        if run.returncode not in (0, 1):  # no test ran
            raise ValueError(f"{fault.name}: {run.stdout[-300:]}{run.stderr[-300:]}")
        return run.returncode == 0


if __name__ == "__main__":
    chosen = [fault for fault in FAULTS if all(word in fault.name for word in sys.argv[1:])]
    left = 0
    for fault in chosen:
        alive = survives(fault)
        left += alive
        print(f"{'SURVIVES' if alive else 'caught'}: {fault.name}", flush=True)
    sys.exit(bool(left))
