"""Tables: aligned, with styles on a terminal alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.support.tables import SHORTEST, WIDE, Table, gathered, number, ratio_text, shortened

TABLE = Table(
    title="A title that is longer than its table",
    columns=("client", "eps"),
    numeric=("eps",),
    rows=[("Lyon", "0.5"), (("Nice", "red"), "12")],
    lines=["E[tau] is [bold]not[/bold] markup", ("in red", "red")],
)


@pytest.mark.parametrize("away", [1e-2, 1e-3, 1e-4, -1e-4, 1e-6, 1e-8, 2e-9, -3e-7])
@pytest.mark.parametrize("digits", [3, 4, 6])
def test_a_ratio_that_is_not_1_does_not_read_1(away, digits):
    assert 0.4 < (float(ratio_text(1 + away, digits)) - 1) / away < 1.6


def test_a_ratio_takes_no_more_digits_than_that():
    assert [ratio_text(x) for x in (1.0, 1 + 1e-12, 0.5, 2 / 3, 1.0001, 1e9, float("inf"))] == [
        "1", "1", "0.5", "0.6667", "1.0001", "1e+09", "inf",
    ]  # fmt: skip


def test_a_table_is_its_title_its_cells_and_its_lines():
    assert TABLE.text().splitlines() == [
        "A title that is longer than its table",
        "client  eps",
        "Lyon    0.5",
        "Nice     12",
        "E[tau] is [bold]not[/bold] markup",
        "in red",
    ]


def test_styles_are_seen_on_a_terminal_alone(capsys, monkeypatch):
    for variable in ("FORCE_COLOR", "TTY_COMPATIBLE", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    TABLE.show()
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert [line.rstrip() for line in plain.splitlines()] == TABLE.text().splitlines()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    TABLE.show()
    assert "\x1b[31mNice" in capsys.readouterr().out
    assert "\x1b" not in TABLE.text()


def test_long_cells_and_lines_are_folded_to_the_width_and_nothing_is_cut():
    words = " ".join(f"word{i}" for i in range(60))
    table = Table(columns=("name", "text"), rows=[("a", words)], lines=[words])
    assert max(map(len, table.text().splitlines())) <= WIDE
    assert table.text().split() == ["name", "text", "a", *words.split(), *words.split()]


def test_columns_that_are_optional_go_first_and_the_last_of_them_before_the_others():
    table = Table(columns=("key", "a", "b"), optional=("a", "b"), rows=[("k" * 40, "a" * 20, "b" * 30)])
    assert table.text().splitlines()[0].split() == ["key", "a"]


def test_what_explains_a_column_is_left_out_with_it():
    rows, lines = [("k" * 40, "a" * 20, "b" * 30)], ["a: the first.", "b: the second.", "bad is no column"]
    table = Table(columns=("key", "a", "b"), optional=("a", "b"), rows=rows, lines=lines)
    assert table.text().splitlines()[-2:] == ["a: the first.", "bad is no column"]
    assert all(line in replace(table, rows=[("k", "a", "b")]).text().splitlines() for line in lines)


def test_long_names_lose_their_middles_and_stay_apart():
    names = [f"hospital of the {saint} {'district ' * 9}{number}" for saint in ("North", "South") for number in (1, 2)]
    names.append(names[0].replace("district", "quarter "))
    short = shortened(names, SHORTEST)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= SHORTEST
    assert all(text.startswith("hosp") for text in short)
    assert shortened(["Lyon", "Nice", "Lyon"], SHORTEST) == ["Lyon", "Nice", "Lyon"]
    rows = Table(columns=("client", "value"), rows=[(name, "1") for name in names]).text().splitlines()
    assert len(rows) == 1 + len(names)
    assert max(map(len, rows)) <= WIDE


def test_notes_that_begin_alike_stand_in_one_line():
    notes = ["Changed: a: dropped.", "Changed: b: kept.", "Note: c.", "units: d", "units: e"]
    assert gathered(notes) == ["Changed: a: dropped. b: kept.", "Note: c.", "units: d", "units: e"]


def test_without_rows_only_the_lines_are_left():
    assert Table(title="Title", columns=("a",), rows=[], lines=["nothing yet"]).text() == "nothing yet"


def test_numbers_are_short_and_what_is_absent_is_a_dash():
    assert [number(value) for value in (1234.5678, 0.5, None, np.inf, np.nan)] == ["1.23e+03", "0.5", "-", "-", "-"]
    assert number(1234.5678, 6) == "1234.57"
