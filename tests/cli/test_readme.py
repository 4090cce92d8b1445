"""Every code block of the README runs and gives what it shows; its links are up to date."""

from __future__ import annotations

import contextlib
import io
import shlex

import pytest
from blocks import ROOT, blocks, commands, unlike

PAGE = ROOT / "README.md"
README = PAGE.read_text(encoding="utf-8")


def test_the_readme_shows_python_with_its_output_and_commands():
    assert len(blocks(PAGE, "python")) == len(blocks(PAGE, "text")) == 1
    assert len(commands(PAGE)) >= 2


def test_it_is_short_and_shows_what_the_library_does_before_the_first_table_of_links():
    assert len(README.splitlines()) <= 80
    assert README.index("```python") < README.index("\n|")


def test_the_python_block_prints_what_stands_below_it(monkeypatch):
    monkeypatch.setenv("COLUMNS", "79")
    (source,), (shown,) = blocks(PAGE, "python"), blocks(PAGE, "text")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {"__name__": "readme"})
    assert printed.getvalue() == shown


@pytest.mark.parametrize(("line", "shown"), commands(PAGE), ids=[line for line, _ in commands(PAGE)])
def test_commands_print_what_is_shown_and_nothing_else_but_at_an_ellipsis(line, shown, command, monkeypatch):
    monkeypatch.chdir(ROOT)
    name, *arguments = shlex.split(line)
    assert name == "suffice"
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert shown
    assert not unlike(shown, done.stdout), done.stdout


@pytest.mark.parametrize(
    ("shown", "printed", "wrong"),
    [
        (["a"], "a\nb\n", ["a"]),  # cut at the end
        (["a", "c"], "a\nb\nc\n", ["a", "c"]),
        (["a", "...", "c"], "a\nb\nc\nd\n", ["c"]),
        (["...", "b", "...", "a"], "a\nb\na\n", []),
        (["...", "c", "...", "a"], "a\nb\na\n", ["c"]),
    ],
)
def test_an_output_is_shown_whole_or_with_an_ellipsis(shown, printed, wrong):
    assert unlike(shown, printed) == wrong
