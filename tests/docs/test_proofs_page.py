"""docs/proofs.md says what its commands and its Python do."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

from blocks import ROOT, blocks, commands

from suffice.verification import recheck

PAGE = ROOT / "docs" / "proofs.md"


def test_its_commands_write_the_certificates_and_re_check_them(tmp_path):
    shutil.copy(recheck.__file__, tmp_path)
    typed = [shlex.split(line) for line, _ in commands(PAGE)]
    assert [words[0] for words in typed] == ["python", "python"]
    run = {"cwd": tmp_path, "capture_output": True, "text": True, "check": True, "timeout": 120}
    wrote, checked = (subprocess.run([sys.executable, *words[1:]], **run) for words in typed)
    count = int(wrote.stdout.split()[0])
    assert count >= 130
    assert [line.partition(":")[0] for line in checked.stdout.splitlines()] == ["proved"] * count


def test_a_file_that_cannot_be_written_gives_one_line(tmp_path):
    (tmp_path / "taken").write_text("")
    command = [sys.executable, "-m", "suffice.verification.certificates", str(tmp_path / "taken" / "file.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "name another" in done.stderr


def test_its_python_runs():
    (source,) = blocks(PAGE, "python")
    exec(source, {"__name__": "__main__"})
