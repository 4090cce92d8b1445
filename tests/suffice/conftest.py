"""The command as a stranger types it, run inside this process: an import of torch in each would be most of the time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from suffice.cli import main

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command(monkeypatch, capsys) -> Command:
    """`command("plan", file, "--json")`: exit code and both streams. A traceback is an error of the test itself."""

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
