"""CSV files with columns of any kind."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.simulate.data.cells import column_of, numbers_or_texts
from suffice.simulate.data.csv_frame import csv_frames
from suffice.simulate.data.csv_lines import INDEX, Dialect


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
    np.testing.assert_array_equal(numbers_or_texts(cells), numbers)


@pytest.mark.parametrize("cells", [["1", "two"], ["1_000", "2"], ["١", "2"], ["0x1", "2"]])
def test_texts(cells):
    assert numbers_or_texts(cells).tolist() == cells
    assert numbers_or_texts([*cells, "NA"]).tolist() == [*cells, None]


def test_lists_of_python():
    np.testing.assert_array_equal(column_of("x", [1, None, 2.5]), [1, np.nan, 2.5])
    np.testing.assert_array_equal(column_of("x", [True, False]), [1, 0])
    assert column_of("x", ["a", None, float("nan"), " b "]).tolist() == ["a", None, None, "b"]
    for bad in ([[1], [2]], "abc", 3):
        with pytest.raises(InputError):
            column_of("x", bad)
    with pytest.raises(InputError, match="a date"):
        column_of("x", np.array(["2020-01-01"], dtype="datetime64[D]"))


def test_pieces_and_an_index(tmp_path, monkeypatch):
    monkeypatch.setattr("suffice.simulate.data.csv_frame.PIECE", 2)
    path = tmp_path / "t.csv"
    path.write_text(',x,"a, b"\n0,1,u\n1,NA,"v, w"\n2,3,\n')
    frames = list(csv_frames(path, Dialect()))
    assert [frame.rows for frame in frames] == [2, 1]
    assert list(frames[0].columns) == [INDEX, "x", "a, b"]
    assert frames[0].texts("a, b").tolist() == ["u", "v, w"]
    assert frames[1].texts("x").tolist() == ["3"]
    path.write_bytes(b"x,y\n\xff,1\n")
    with pytest.raises(InputError, match="not UTF-8"):
        list(csv_frames(path, Dialect()))
