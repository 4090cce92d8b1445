"""Tables in text files: columns of any kind; whatever separates them and writes decimals, the same rows or refused."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest
from polars import Series

import suffice as sf
from suffice.bounds import InputError
from suffice.simulate.data.cells import column_of, numbers_or_texts
from suffice.simulate.data.text_file import INDEX, TextFile

ROWS = [["a", "0.5", "1e-1", "u, v"], ["b", "-1.25", "2", "w"], ["a", "", ".5", "w"], ["b", "NA", "4.", "u, v"]]
HEADER = ["client", "x", "target", "kind"]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", " 2.5 ", "-3e2"], [1, 2.5, -300]),
        (["1", "NA", "?"], [1, np.nan, np.nan]),
        (["", "nan"], [np.nan, np.nan]),
        (["inf", "1"], [np.inf, 1]),
    ],
)
def test_numbers(cells, numbers):
    np.testing.assert_array_equal(numbers_or_texts(Series(cells))[0], numbers)


@pytest.mark.parametrize("cells", [["1", "two"], ["1_000", "2"], ["١", "2"], ["0x1", "2"]])
def test_texts(cells):
    assert numbers_or_texts(Series(cells))[0].tolist() == cells
    assert numbers_or_texts(Series([*cells, "NA"]))[0].tolist() == [*cells, None]


def test_lists_of_python():
    np.testing.assert_array_equal(column_of("x", [1, None, 2.5])[0], [1, np.nan, 2.5])
    np.testing.assert_array_equal(column_of("x", [True, False])[0], [1, 0])
    assert column_of("x", ["a", None, float("nan"), " b "])[0].tolist() == ["a", None, None, "b"]
    for bad in ([[1], [2]], "abc", 3):
        with pytest.raises(InputError):
            column_of("x", bad)
    with pytest.raises(InputError, match="a date"):
        column_of("x", np.array(["2020-01-01"], dtype="datetime64[D]"))


def test_pieces_and_an_index(tmp_path, monkeypatch):
    monkeypatch.setattr("suffice.simulate.data.text_file.PIECE", 9)
    monkeypatch.setattr("suffice.simulate.data.text_file.CELLS", 6)
    path = tmp_path / "t.csv"
    path.write_text(',x,"a, b"\n0,1,u\n1,NA,"v, w"\n2,3,\n')
    frames = list(TextFile.of(path).frames())
    assert [frame.rows for frame in frames] == [2, 1]
    assert list(frames[0].columns) == [INDEX, "x", "a, b"]
    assert frames[0].texts("a, b").tolist() == ["u", "v, w"]
    assert frames[1].texts("x").tolist() == ["3"]
    path.write_bytes(b"x,y\n\xff,1\n")
    with pytest.raises(InputError, match="not UTF-8"):
        list(TextFile.of(path).frames())


def test_the_word_none_is_a_level_among_texts_and_a_gap_among_numbers(tmp_path, monkeypatch):
    """Read whole and in pieces, some of which hold nothing else, the word is a level of its own, and what was read as
    missing is counted; rows without a site are left out."""
    columns = {
        "client": ["a", "b"] * 9 + ["", "NA"],
        "promo": ["none"] * 8 + ["flyer", "Flyer"] * 4 + ["", "NA", "none", "none"],
        "x": ["None"] * 2 + [str(k * k) for k in range(16)] + ["", "none"],
        "target": [str(k % 7) for k in range(20)],
    }
    path = tmp_path / "t.csv"
    path.write_text("\n".join(",".join(row) for row in (columns, *zip(*columns.values()))))
    for piece in (50_000, 30):
        monkeypatch.setattr("suffice.simulate.data.text_file.PIECE", piece)
        monkeypatch.setattr("suffice.simulate.data.text_file.CELLS", piece)
        fit = sf.fit(path, loss="least-squares")
        assert set(fit["a"].coefficients) == {"promo=Flyer", "promo=flyer", "promo=missing", "x", "x=missing"}
        said = " | ".join((*fit.left_out, *fit.notes))
        assert "promo: 2 cells read as missing (empty 1, NA 1); Flyer, flyer differ only in capitals" in said
        assert "none is a level, though missing among numbers" in said
        assert "4 cells read as missing (None 2, empty 1, none 1)" in said
        assert "2 rows without a site (client)" in said
    new = {"client": ["a"] * 3, "x": ["none", None, 1]}
    none, gap = (fit.predict(new | {"promo": [level] * 3}) for level in ("none", "NA"))
    np.testing.assert_allclose(gap - none, fit["a"].coefficients["promo=missing"], rtol=1e-9)
    assert none[0] == none[1]
    with pytest.raises(InputError, match=r"line 20 of t.csv = '': is empty \(and in 1 more row\)"):
        sf.read(path)


def test_sites_are_named_as_they_stand_in_the_file(tmp_path):
    """Numbers of 17 digits, which a float cannot tell apart, and codes with zeros in front; but 3 for 3.0."""
    sites = ["12345678901234567", "12345678901234568", "007", "7", "3.0"]
    rows = [f"{site},{k},{k * k % 7}" for k in range(12) for site in sites]
    (tmp_path / "t.csv").write_text("\n".join(["client,x,target", *rows]))
    fit = sf.fit(tmp_path / "t.csv")
    assert [model.name for model in fit] == [*sites[:4], "3"]
    assert len(fit.predict(tmp_path / "t.csv")) == 60


def test_a_file_is_the_same_table_in_pieces_and_blocks_of_any_length(tmp_path, monkeypatch):
    """A column that is numbers in one block and texts in the next ends a piece; no row, gap or line is lost."""
    path = tmp_path / "t.csv"
    path.write_text("x,k\n" + "".join(f"{row if row % 9 else 'NA'},{'u' if row > 20 else row}\n" for row in range(40)))
    for piece, cells in ((50_000, 1 << 13), (50, 20), (7, 30), (1, 1)):
        monkeypatch.setattr("suffice.simulate.data.text_file.PIECE", piece)
        monkeypatch.setattr("suffice.simulate.data.text_file.CELLS", cells)
        frames = list(TextFile.of(path).frames())
        x, k = (np.concatenate([frame.texts(name) for frame in frames]).tolist() for name in "xk")
        assert x == [str(row) if row % 9 else None for row in range(40)]
        assert k == ["u" if row > 20 else str(row) for row in range(40)]
        assert sum((frame.gaps("x") for frame in frames), Counter()) == {"NA": 5}
        assert [line for frame in frames for line in frame.lines] == list(range(2, 42))
        assert len(frames) > 1 or piece == 50_000


def dialect_of(path, read=lambda name: True):
    found = TextFile.of(path, read)
    return found.separator, found.decimal


def written(path, header, rows, separator=",", decimal="."):
    with path.open("w", newline="") as file:
        lines = csv.writer(file, delimiter=separator)
        lines.writerow(header)
        lines.writerows([[*row[:1], *(cell.replace(".", decimal) for cell in row[1:])] for row in rows])
    return path


@pytest.mark.parametrize(("separator", "decimal"), [(";", ","), (";", "."), ("\t", ","), ("\t", ".")])
def test_every_dialect_is_the_same_table(tmp_path, separator, decimal):
    rows = ROWS * 5
    plain = sf.fit(written(tmp_path / "plain.csv", HEADER, rows))
    other = written(tmp_path / "other.tsv", HEADER, rows, separator, decimal)
    assert dialect_of(other) == (separator, decimal)
    found = sf.fit(other)
    assert found.left_out == plain.left_out
    assert [model.to_dict() for model in found] == [model.to_dict() for model in plain]
    problems = [sf.read(path, regularisation=0.1) for path in (tmp_path / "plain.csv", other)]
    np.testing.assert_array_equal(*(problem.optimum.numpy() for problem in problems))
    numbers = [row[:3] for row in rows if row[1] not in ("", "NA")]  # what the strict reader takes by itself
    strict = [
        written(tmp_path / f"{at}.csv", HEADER[:3], numbers, *how) for at, how in enumerate(((), (separator, decimal)))
    ]
    np.testing.assert_array_equal(*(sf.read(path, regularisation=0.1).optimum.numpy() for path in strict))


AMBIGUOUS = {
    "both marks": ("x;y\n1,5;2\n1;2.5\n", r"^y in line 3 of t.csv = '2.5': but x in line 2 of t.csv = '1,5'"),
    "thousands and decimals": ("x;y\n1.234,5;2\n", r"^x in line 2 .* = '1.234,5': write thousands without a mark"),
    "thousands alone": ("x;y\n1.234.567;2\n", "write thousands without a mark"),
    "three digits": ("x;y\n1,234;2\n999;12,345\n", r"'1,234': decimals or thousands\?"),
    "two separators": ("x;y\tz\n1;2\t3\n", "by semicolons or by tabs, not by both"),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_ambiguous_table_is_refused_once_with_all_that_is_to_be_done(tmp_path, name):
    text, message = AMBIGUOUS[name]
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        dialect_of(tmp_path / "t.csv")
    assert name == "two separators" or "separate the columns by commas and write decimals with points" in str(
        caught.value
    )


def test_one_number_settles_the_mark_and_columns_left_out_do_not_count(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;version\n1,234;1.5\n0,5;2.5\n")
    with pytest.raises(InputError, match="drop a column"):
        dialect_of(path)
    assert dialect_of(path, lambda name: name != "version") == (";", ",")
    path.write_text('"a;b",c\n1,2\n')
    assert dialect_of(path) == (",", ".")
    path.write_text("x,y\n1,5,2,5\n")
    with pytest.raises(
        InputError, match="4 fields': give 2 fields; where decimals have commas, write points, or separate"
    ):
        sf.fit(path)
