"""What a user called something moves no cursor, forges no line and runs in no spreadsheet."""

from __future__ import annotations

import csv
import io
import itertools
import sys
import unicodedata

import pytest

from suffice.bounds import ConditionError, InputError
from suffice.support.text import csv_text, printable, unguarded

REORDERS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "B", "S"}


def test_every_control_character_is_escaped_and_no_other():
    for code in (*range(0xD800), *range(0xE000, sys.maxunicode + 1)):
        letter = chr(code)
        marks = letter in "\u061c\u200e\u200f\u2028\u2029"
        control = unicodedata.category(letter) == "Cc" or unicodedata.bidirectional(letter) in REORDERS or marks
        assert (printable(letter) != letter) == control, hex(code)
        assert not control or printable(letter).isascii()


def test_escapes_are_those_of_python():
    assert printable("a\x1b[31m\x9b\x7f\n\u202eb é漢") == r"a\x1b[31m\x9b\x7f\n\u202eb é漢"


def test_errors_are_one_line_whatever_they_quote():
    name = "a\x1b]0;owned\x07\r\nsuffice: all is well\u202e"
    for error in (InputError(name, name, f"use {name}"), ConditionError(name, name, 2.0, 1.0, name)):
        assert str(error) == printable(str(error))
        assert r"\x1b]0;owned\x07" in str(error)


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=cmd|' /C calc'!A0", "-", "-a", "'=1", "''=1"]
HARMLESS = ["-0.5", "+1e-3", "-inf", "1", "a=1", "a-b", "", "'s-Hertogenbosch", " =1", "'", "''"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_is_a_formula_gets_an_apostrophe(text):
    assert next(csv.reader(io.StringIO(csv_text([[text]]), newline="")))[0] == "'" + text


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_and_numbers_are_left_alone(text):
    assert next(csv.reader(io.StringIO(csv_text([["x", text]]), newline=""))) == ["x", text]


def test_numbers_are_written_as_ever():
    assert csv_text([["a"], [-0.5, -1, float("-inf"), None, True, 0.1]]) == "a\n-0.5,-1,-inf,,True,0.1\n"


def test_a_guarded_text_can_be_read_back():
    texts = ["".join(letters) for n in range(4) for letters in itertools.product("'=-\t\n1a", repeat=n)]
    rows = list(csv.reader(io.StringIO(csv_text([["x", text] for text in texts]), newline="")))
    assert [unguarded(text) for _, text in rows] == texts
