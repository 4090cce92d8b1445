"""Every code block of the README runs and gives what it shows; its links are up to date."""

from __future__ import annotations

import contextlib
import io
import re
import shlex

import pytest
from blocks import ROOT, blocks, commands, missing

PAGE = ROOT / "README.md"
README = PAGE.read_text(encoding="utf-8")


def test_the_readme_shows_python_with_its_output_and_commands():
    assert len(blocks(PAGE, "python")) == len(blocks(PAGE, "text")) == 1
    assert len(commands(PAGE)) >= 2


def test_sixty_lines_come_before_the_first_table():
    assert next(at for at, line in enumerate(README.splitlines()) if line.startswith("|")) >= 60


def test_the_python_block_prints_what_stands_below_it():
    (source,), (shown,) = blocks(PAGE, "python"), blocks(PAGE, "text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {"__name__": "readme"})
    assert printed.getvalue() == shown


@pytest.mark.parametrize(("line", "shown"), commands(PAGE), ids=[line for line, _ in commands(PAGE)])
def test_commands_print_every_line_that_is_shown(line, shown, command, monkeypatch):
    monkeypatch.chdir(ROOT)
    name, *arguments = shlex.split(line)
    assert name == "suffice"
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert shown
    assert not missing(shown, done.stdout), done.stdout


def test_the_two_commands_are_make_targets():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"make {target}" in README
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_links_lead_somewhere():
    targets = [target for target in re.findall(r"\]\(([^)#]+)", README) if "://" not in target]
    assert len(targets) >= 8
    absent = [target for target in targets if not (ROOT / target).exists()]
    assert not absent
