"""docs/proofs.md says what its commands and its Python do."""

from __future__ import annotations

import runpy
import shlex
import shutil
import subprocess
import sys

import pytest
from blocks import ROOT, blocks, commands

from suffice.verification import recheck

PAGE = ROOT / "docs" / "proofs.md"


@pytest.fixture
def module(monkeypatch, tmp_path):
    """`python -m MODULE ARGUMENTS` in an empty folder, in this process, which has loaded what takes seconds."""

    def run(name, *arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        monkeypatch.delitem(sys.modules, name, raising=False)
        runpy.run_module(name, run_name="__main__")

    return run


def test_its_commands_write_the_certificates_and_re_check_them(module, tmp_path, capsys):
    shutil.copy(recheck.__file__, tmp_path)
    typed = [shlex.split(line) for line, _ in commands(PAGE)]
    (_, option, *write), (python, *check) = typed
    assert (typed[0][0], option, python) == ("python", "-m", "python")
    module(*write)
    count = int(capsys.readouterr().out.split()[0])
    command = [sys.executable, *check]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    assert count >= 130
    assert [line.partition(":")[0] for line in checked.stdout.splitlines()] == ["proved"] * count


def test_a_file_that_cannot_be_written_gives_one_line(module, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(SystemExit, match=r"^.*name another.*$"):  # the text of an exit of code 1: no line break
        module("suffice.verification.all_certificates", tmp_path / "taken" / "file.json")


def test_its_python_runs():
    (source,) = blocks(PAGE, "python")
    exec(source, {"__name__": "__main__"})
