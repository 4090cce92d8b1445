"""The Markdown pages under docs/ and CONTRIBUTING: what they show runs. `make docs` says which page is not listed."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from blocks import ROOT, blocks, commands, unlike

import suffice
from suffice.cli import main

DOCS = ROOT / "docs"
LONG = ("check", "families", "plan", "redraw", "criterion", "algorithm", "networks")
LONG += ("ci", "deploy", "pepit", "prove", "theorist", "from_scratch")
"""Pages whose Python takes seconds."""
PAGES = [page for folder in ("tutorials", "howto", "explanation") for page in sorted((DOCS / folder).glob("*.md"))]
PYTHON = [page for page in (*PAGES, DOCS / "quantities.md", DOCS / "campaigns.md") if blocks(page, "python")]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
TYPED = [(page, *entry) for page in (*PAGES, DOCS / "command.md", DOCS / "questions.md") for entry in commands(page)]


def marked(page):
    return pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in LONG else [])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder beside the examples, to work in."""
    os.symlink(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_in_order(page):
    names = {"__name__": "__main__"}
    sources = blocks(page, "python")
    assert sources
    for source in sources:  # their own assertions are the test
        exec(source, names)
    for name, test in names.items():  # those that pytest would run: a page may have called some
        if name.startswith("test_") and f"\n{name}()" not in "\n".join(sources):
            test()


@pytest.mark.parametrize("page", [marked(page) for page in PYTHON])
def test_the_python_of_a_page_runs_in_order(page, folder, capsys):
    run_in_order(page)


@pytest.mark.parametrize("place", range(3), ids=["theorem", "algorithm", "problem"])
def test_the_examples_of_contributing_run_and_are_short(place):
    found = blocks(CONTRIBUTING, "python")
    assert len(found) == 3
    assert len(found[place].splitlines()) < 60
    exec(found[place], {"__name__": "__main__"})


@pytest.mark.parametrize(("page", "line", "shown"), TYPED, ids=[f"{page.stem}: {line}" for page, line, _ in TYPED])
def test_commands_of_a_page_print_what_is_shown(page, line, shown, folder, monkeypatch, capsys):
    name, *arguments = shlex.split(line)
    assert name == "suffice"
    if "figure" in arguments:
        arguments += ["--help"]  # drawing is tested in tests/figures
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    out, err = capsys.readouterr()
    refused = [text for text in shown if text.startswith("suffice: ")]
    assert stop.value.code == (2 if refused else 0), err
    assert not (shown and unlike(shown, out + err)), out + err  # what is left out is marked by `...`


def test_the_setup_files_that_are_shown_are_read(folder):
    n, d = 3, 2
    np.savez("problem.npz", A=np.tile(np.eye(d), (n, 1, 1)), xi=np.zeros((n, d)), sigma=np.ones(n), theta0=np.ones(d))
    lines = [f"{site},{x},{x * x - i}" for i, site in enumerate(("Lyon", "Oslo")) for x in range(5)]
    Path("sites.csv").write_text("\n".join(("site,x,y", *lines)))
    shown = blocks(DOCS / "howto" / "setup.md", "toml")
    assert len(shown) == 3
    Path("constants.toml").write_text(shown[0])
    setup, names = suffice.read_setup("constants.toml"), {}
    exec(blocks(DOCS / "howto" / "setup.md", "python")[0], names)
    asked = {"criterion": setup.criterion, "horizon": setup.horizon, "confidence": setup.confidence}
    assert suffice.plan(setup.source, setup.epsilon, **asked).to_dict() == names["plan"].to_dict()
    for text in shown:
        Path("setup.toml").write_text(text)
        assert suffice.read_setup("setup.toml").source.clients >= 2


def test_the_public_names_are_listed():
    text = (DOCS / "api" / "suffice.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2] for line in text.splitlines() if line.startswith("| ") and "`" in line.split("|")[2]]
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row) if name != "sf"]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(suffice.__all__), "docs/api/suffice.md lists the public interface: say so on purpose"
