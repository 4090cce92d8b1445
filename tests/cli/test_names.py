"""Clients may be called anything: names reach terminals escaped, and spreadsheets as text."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import suffice as sf
from suffice.cli import COMMANDS
from suffice.figures import Figure
from suffice.planning.tables.columns import write_csv
from suffice.support.text import csv_text, printable, unguarded

ESCAPE = "a\x1b[31m\x07\x9b2J\x7f\u202e"
FORGED = "b\nsuffice: all is well\t\x85\u2028c"
FORMULA = "=cmd|' /C calc'!A0"
NAMES = (ESCAPE, FORGED, FORMULA, "-0.5")
FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|^suffice: all", re.M)


@pytest.fixture
def table(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 12))
    y = 2 * x + [[0.0], [0.01], [0.02], [0.03]] + 0.3 * rng.normal(size=(4, 12))
    with open(tmp_path / "t.csv", "w", newline="", encoding="utf-8") as file:
        rows = [(NAMES[i], x[i, row], y[i, row]) for i in range(4) for row in range(12)]
        csv.writer(file).writerows([("client", "x", "target"), *rows])
    return tmp_path / "t.csv"


def plan_of(names=NAMES) -> sf.Plan:
    n = len(names)
    pairs = sf.GradientDissimilarity(b2=1e-4 * (1 - np.eye(n)), c=np.zeros((n, n)))
    constants = sf.Constants(mu=1.0, beta=2.0, sigma2=1.0, heterogeneity=pairs, excess=1.0, names=names)
    return sf.plan(constants, [0.1])


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "--epsilon", "0.1", "--horizon", "50", "--confidence", "0.1"),
        ("plan", "--epsilon", "0.1", "--simulate", "--seeds", "8"),
        ("plan", "--numbers"),
        ("plan", "--epsilon", "0.1", "--json"),
        ("simulate", "--algorithm", "local", "--iterations", "2", "--seeds", "2"),
    ],
)
def test_the_command_shows_names_escaped(command, table, words):
    done = command(words[0], table, *words[1:])
    assert done.returncode == 0, done.stderr
    assert FORBIDDEN.findall(done.stdout + done.stderr) == []
    if "--json" in words:
        assert {row["name"] for row in json.loads(done.stdout)["clients"]} == set(NAMES)
    else:
        for name in NAMES:
            assert printable(name)[:5] in done.stdout  # the middle of a long name is left out


@pytest.mark.parametrize(
    "words",
    [
        ("plan", ESCAPE, "--epsilon", "0.1"),
        ("plan", "TABLE", "--epsilon", ESCAPE),
        ("plan", "TABLE", "--epsilon", "0.1", f"--{ESCAPE}"),
        ("plan", "TABLE", "--epsilon", "0.1", "--csv", f"{FORGED}/../missing/\0x"),
        ("simulate", "TABLE", "--algorithm", FORGED),
        ("theorem", "adaptive/theorem-2-constant", f"{ESCAPE}=1"),
        ("errata", FORGED),
        ("figure", ESCAPE),
        (FORGED,),
    ],
)
def test_a_refusal_quotes_escaped(command, table, words, monkeypatch):
    monkeypatch.chdir(table.parent)
    done = command(*(str(table) if word == "TABLE" else word for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert FORBIDDEN.findall(done.stderr) == []


def test_paths_that_were_written_are_shown_escaped(command, table, tmp_path):
    out = tmp_path / ESCAPE
    done = command("plan", table, "--epsilon", "0.1", "--csv", out / "plan.csv", "--plot", out / "plan.png")
    assert done.returncode == 0
    assert (out / "plan.csv").exists()
    assert FORBIDDEN.findall(done.stdout + done.stderr) == []


def test_the_table_of_a_plan_has_no_formula(tmp_path):
    plan = plan_of()
    with open(write_csv(tmp_path / "plan.csv", plan.rows), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [row["client"] for row in rows if row["method"] == "local"]
    assert names == [ESCAPE, FORGED, "'" + FORMULA, "-0.5"]
    peers = {row["collaborators"] for row in rows if row["client"] == "-0.5"}
    assert peers == {"; ".join((ESCAPE, FORGED, FORMULA)), ""}
    cells = [cell for row in rows for cell in row.values() if cell[:1] in tuple("=+-@\t\r")]
    assert set(cells) <= {"-0.5"}


def test_a_figure_with_such_names_is_read_again_from_its_files(tmp_path):
    plan = plan_of((*NAMES, "'=1", "line\rend"))
    drawn = plan.plot()
    text = csv_text(drawn._rows())
    (tmp_path / "plan.csv").write_text(text, encoding="utf-8")
    (tmp_path / "plan.json").write_text(drawn._json(), encoding="utf-8")
    again = Figure.load(tmp_path, "plan", drawn.draw)
    assert list(again.data) == list(drawn.data)
    assert csv_text(again._rows()) == text
    assert f"'{FORMULA}" in text
    assert unguarded(f"'{FORMULA}") == FORMULA


def test_help_speaks_of_clients_alone_and_fits_a_terminal(command, monkeypatch):
    """The one word of options and papers; `list[str]` is Python's."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in COMMANDS:
        text = command(name, "--help").stdout
        assert max(map(len, text.splitlines())) <= 80
        assert "list[" not in text
        assert text.count("<bool>") == 1  # of --help itself
        words = re.findall(r"[^-\w](sites?)\b", text, re.IGNORECASE)
        assert len(words) == (name == "fit"), (name, words)  # a client is a site, it says there
