"""Ctrl-C while the command is still importing: exit code 130, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HOOK = """\
import importlib.abc, signal, sys

class Pressed(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background shell has its processes ignore
sys.meta_path.insert(0, Pressed())
"""
STARTS = {
    "script": ["-c", "import sys; from suffice.cli import main; sys.exit(main())"],  # what an installer writes
    "module": ["-m", "suffice"],
}


LATE = ("suffice.cli.fit", "numpy", "suffice.fitting.fit")
"""Imported by `main` itself, however it was started."""


@pytest.mark.parametrize(
    ("name", "start"),
    [
        *((name, start) for name in ("typer", "suffice.cli.app") for start in STARTS),
        *((name, "module") for name in LATE),
    ],
)
def test_no_traceback(name, start, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(HOOK.format(name=name))
    (tmp_path / "t.csv").write_text("client,x,target\na,1,2\na,2,3\nb,3,1\nb,1,1.5\n")
    places = [str(tmp_path), *filter(None, (os.environ.get("PYTHONPATH"),))]
    done = subprocess.run(
        [sys.executable, *STARTS[start], "fit", str(tmp_path / "t.csv")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
