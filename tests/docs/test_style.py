"""What a machine can see of docs/style.md: help and public docstrings are sentences, and parameters are explained."""

from __future__ import annotations

import inspect
import re
import runpy

import pytest
import typer
from blocks import ROOT

import suffice as sf
from suffice.cli import COMMANDS, load
from suffice.cli.app import app

FUNCTIONS = {name: value for name in sf.__all__ if inspect.isfunction(value := getattr(sf, name))}


def helps() -> dict[str, str]:
    load()
    commands = vars(typer.main.get_command(app))["commands"]
    assert set(commands) == set(COMMANDS)
    found = {name: command.help for name, command in commands.items()}
    for name, command in commands.items():
        found |= {f"{name} {one.name}": one.help for one in command.params if one.name != "help" and not one.hidden}
    return found


def test_help_begins_with_a_capital_and_ends_with_a_full_stop():
    found = helps()
    assert len(found) > 100
    assert [at for at, text in found.items() if not re.fullmatch(r"[A-Z0-9].*\.", text or "", re.DOTALL)] == []
    assert [at for at, text in found.items() if re.search(r"; (repeat|without|an unknown)\b", text)] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_explains_its_parameters(name):
    """`hitting_times` refers to `run`."""
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    known = [one for one in inspect.signature(FUNCTIONS[name]).parameters if one != "progress"]
    if "The other arguments are those of `run`" not in text:
        assert [one for one in known if not re.search(rf"\b{one}\b", text)] == []


def test_the_api_pages_have_sections():
    shown = runpy.run_path(str(ROOT / "docs" / "conf.py"))["_literal_docstring"]

    def page(name: str) -> str:
        lines = (inspect.getdoc(getattr(sf, name)) or "").splitlines()
        shown(None, "function", name, getattr(sf, name), None, lines)
        return "\n".join(lines)

    run = page("run")
    assert ":Parameters:\n    ``problem``\n        one for all seeds" in run
    assert ":Returns: ``Trace``" in run
    assert re.search(r":Raises: \\ ``InputError``\\ , of which", run)
    for name in FUNCTIONS:
        assert not re.search(r"^\| ", page(name), re.MULTILINE), name  # no column is left that is no section


CODE = re.compile(r"^```(?!\{)\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WIDEST = 96
"""Characters of a line of code that a page shows whole."""


@pytest.mark.parametrize(
    "page", [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=str
)
def test_code_fits_its_page_and_pictures_have_words(page):
    text = page.read_text(encoding="utf-8")
    wide = [line for block in CODE.findall(text) for line in block.splitlines() if len(line) > WIDEST]
    assert wide == []
    assert [words for words in re.findall(r"!\[(.*?)\]\(", text, re.DOTALL) if len(words.split()) < 3] == []
