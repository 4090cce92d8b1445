"""What the command prints: whole keys, folded lines, warnings of one line."""

from __future__ import annotations

import warnings

from suffice.bounds import PAPERS, THEOREMS
from suffice.cli.console import wrapped


def test_lists_fit_eighty_columns_with_whole_keys(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.rstrip() for paper in PAPERS for line in command("theorem", paper.key).stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    assert len(command("theorem").stdout.splitlines()) <= 40
    keys = [line.split()[0] for line in lines if "/" in line.split(" ")[0]]
    assert sorted(keys) == sorted(entry.key for entry in THEOREMS)


def test_a_page_is_folded_at_spaces_on_a_terminal_alone(monkeypatch):
    text = "tight       " + "adaptive/corollary-1-multiplicative-decreasing-confidence-sharp " * 3
    assert wrapped(text) == text
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = wrapped(text).splitlines()
    assert len(lines) == 3
    assert all(line.endswith("confidence-sharp") and len(line) <= 80 for line in lines)


def test_a_warning_is_one_line_without_file_and_line(command, monkeypatch):
    command("errata", "cobo")
    text = warnings.formatwarning("two\nlines", UserWarning, "library.py", 7)
    assert text == "suffice: note: two lines\n"
