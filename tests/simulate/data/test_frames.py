"""Data frames of any library that narwhals knows."""

from __future__ import annotations

import importlib
from datetime import datetime
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import polars
import pytest

import suffice as sf
from suffice.bounds import InputError
from suffice.simulate.data.frame import frame_of

BIG = 2**60
"""Floats, which have 53 bits, do not tell it from its successor."""


def frame(library: str, **columns: tuple[Any, list[Any]]) -> Any:
    """The columns, name -> (narwhals' kind, cells), in a frame of a library."""
    backend = importlib.import_module(library)
    schema = {name: kind for name, (kind, _) in columns.items()}
    return nw.from_dict({name: cells for name, (_, cells) in columns.items()}, schema, backend=backend).to_native()


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def library(request):
    pytest.importorskip(request.param)
    return request.param


def test_every_kind_of_column_and_gap(library):
    table = frame(
        library,
        float=(nw.Float64(), [1.5, None, 3.0]),
        whole=(nw.Int32(), [1, -9, 3]),
        truth=(nw.Boolean(), [True, False, True]),
        text=(nw.String(), ["a", "NA", "été"]),
        numbers=(nw.String(), ["1", " 2.5", None]),
        category=(nw.Categorical(), ["2", None, "10"]),
    )
    found = frame_of(table)
    np.testing.assert_array_equal(found.numbers("float"), [1.5, np.nan, 3])
    np.testing.assert_array_equal(found.numbers("whole"), [1, -9, 3])
    np.testing.assert_array_equal(found.numbers("truth"), [1, 0, 1])
    assert found.texts("text").to_list() == ["a", None, "été"]
    np.testing.assert_array_equal(found.numbers("numbers"), [1, 2.5, np.nan])
    assert found.texts("category").to_list() == ["2", None, "10"]  # levels, even where they look like numbers
    assert found.gaps("text", np.array([False, True, False])) == {"NA": 1}


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_gaps_among_whole_numbers_and_truth_values(library):
    pytest.importorskip(library)
    table = frame(library, whole=(nw.Int64(), [1, None, 3]), truth=(nw.Boolean(), [True, None, False]))
    np.testing.assert_array_equal(frame_of(table).numbers("whole"), [1, np.nan, 3])
    np.testing.assert_array_equal(frame_of(table).numbers("truth"), [1, np.nan, 0])


def test_gaps_of_pandas_own_kinds():
    pandas = pytest.importorskip("pandas")
    whole, truth = pandas.array([1, None, BIG], dtype="Int64"), pandas.array([True, None, False], dtype="boolean")
    table = pandas.DataFrame({"whole": whole, "truth": truth, "mixed": ["a", 1, None], "k": [BIG, BIG + 1, 0]})
    for given in (table, dict(table)):  # a mapping of columns, too
        found = frame_of(given, texts=["k"])
        np.testing.assert_array_equal(found.numbers("whole"), [1, np.nan, float(BIG)])
        np.testing.assert_array_equal(found.numbers("truth"), [1, np.nan, 0])
        assert found.texts("mixed").to_list() == ["a", "1", None]
        assert found.texts("k").to_list() == [str(BIG), str(BIG + 1), "0"]
    categories = pandas.DataFrame({"x": pandas.Categorical([3, None, 1])})  # numbers, as a file would have them
    np.testing.assert_array_equal(frame_of(categories).numbers("x"), [3, np.nan, 1])


def test_names_of_sites_that_are_long_whole_numbers_are_told_apart(library):
    sites = [BIG, BIG + 1] * 6
    x = np.arange(12.0).tolist()
    y = [value**2 for value in x]
    table = frame(library, client=(nw.Int64(), sites), x=(nw.Float64(), x), target=(nw.Float64(), y))
    for given in (table, {"client": sites, "x": x, "target": y}, {"client": np.array(sites), "x": x, "target": y}):
        assert sorted(client.name for client in sf.fit(given).clients) == [str(BIG), str(BIG + 1)]


def test_dates_and_nested_cells_are_refused(library):
    with pytest.raises(InputError, match="column when = 'datetime': a date: make a number"):
        frame_of(frame(library, when=(nw.Datetime(), [datetime(2020, 1, 1), None])))
    with pytest.raises(InputError, match="one number or text per row"):
        frame_of(polars.DataFrame({"x": [[1], [2, 3]]}))
    with pytest.raises(InputError, match="column x = 'complex numbers'"):
        frame_of({"x": np.ones(2, complex)})


def test_decimal_numbers_are_numbers():
    np.testing.assert_array_equal(frame_of({"x": [Decimal("1.5"), None]}).numbers("x"), [1.5, np.nan])
    table = polars.DataFrame({"x": polars.Series([Decimal("1.5"), None], dtype=polars.Decimal(10, 2))})
    np.testing.assert_array_equal(frame_of(table).numbers("x"), [1.5, np.nan])
    np.testing.assert_array_equal(frame_of(table.lazy()).numbers("x"), [1.5, np.nan])


def test_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match="name every column, each once"):
        frame_of({0: [1.0], "0": [2.0]})
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="'x' 2 times") as refused:
        frame_of(pandas.DataFrame([[1, 2]], columns=["x", "x"]))
    assert "\n" not in str(refused.value)


def test_columns_that_are_left_out_may_be_anything(library):
    """Dates and what nothing can be made of: dropped in a fit, and not asked for in a prediction, they are not read."""
    x = np.arange(12.0)
    named = {
        "client": (nw.String(), ["a", "b", "c"] * 4), "x": (nw.Float64(), x.tolist()),
        "when": (nw.Datetime(), [datetime(2020, 1, 1)] * 12), "z": (nw.Datetime(), [datetime(2020, 1, 1)] * 12),
        "target": (nw.Float64(), (x**2).tolist()),
    }  # fmt: skip
    table = frame(library, **named)
    with pytest.raises(InputError, match="column z"):
        sf.fit(table, drop=["when"])
    fit = sf.fit(table, drop=["when", "z"])
    assert set(fit["a"].coefficients) == {"x"}
    np.testing.assert_array_equal(fit.predict(table), fit.predict({"client": ["a", "b", "c"] * 4, "x": x}))
    assert len(sf.read(table, drop=["when", "z"]).names) == 3


def test_an_index_that_pandas_read_from_a_file_is_left_out():
    table = {"Unnamed: 0": np.arange(12.0), "client": ["a", "b"] * 6, "x": np.arange(12.0) ** 2, "target": range(12)}
    assert set(sf.fit(table)["a"].coefficients) == {"x"}
