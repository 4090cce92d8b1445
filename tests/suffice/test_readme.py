"""Every code block of the README runs and gives what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands() -> list[tuple[str, list[str]]]:
    """Each `$ command` with the lines shown below it."""
    found = []
    for block in blocks("console"):
        for part in block.split("$ ")[1:]:
            first, *shown = part.strip().splitlines()
            found.append((first, shown))
    return found


def test_the_readme_shows_python_and_commands():
    assert len(blocks("python")) >= 1
    assert len(commands()) >= 4


@pytest.mark.parametrize("source", blocks("python"), ids=str.__len__)
def test_python_blocks_run(source):
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("line", "shown"), commands(), ids=[line for line, _ in commands()])
def test_commands_print_every_line_that_is_shown(line, shown):
    arguments = shlex.split(line)
    assert arguments[0] == "suffice"
    done = subprocess.run(
        [sys.executable, "-c", "from suffice.cli import main; main()", *arguments[1:]],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    printed = [" ".join(text.split()) for text in done.stdout.splitlines()]
    for text in shown:
        wanted = " ".join(text.split())
        assert any(entry.startswith(wanted) for entry in printed), f"{wanted!r} not in {done.stdout}"


def test_the_two_commands_are_make_targets():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"make {target}" in README
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
