"""Tables separated by commas, semicolons or tabs, with decimal points or commas: all the same rows, or refused."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import suffice as sf
from suffice import InputError
from suffice.simulate.data.csv.lines import Dialect, dialect_of

ROWS = [["a", "0.5", "1e-1", "u, v"], ["b", "-1.25", "2", "w"], ["a", "", ".5", "w"], ["b", "NA", "4.", "u, v"]]
HEADER = ["client", "x", "target", "kind"]


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
    assert dialect_of(other) == Dialect(separator, decimal)
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
    assert dialect_of(path, lambda name: name != "version") == Dialect(";", ",")
    path.write_text('"a;b",c\n1,2\n')
    assert dialect_of(path) == Dialect()
    path.write_text("x,y\n1,5,2,5\n")
    with pytest.raises(
        InputError, match="4 fields': give 2 fields; where decimals have commas, write points, or separate"
    ):
        sf.fit(path)
