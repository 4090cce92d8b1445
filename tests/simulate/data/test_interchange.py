"""The interchange protocol beside a frame of our own that implements it from the specification."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import InputError
from suffice.simulate.data.frame import frame_of


class Buffer:
    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        self.bufsize, self.ptr = self.array.nbytes, self.array.ctypes.data


class Column:
    """`kind` of the specification, with gaps as NaN (1), a sentinel (2), bits (3) or bytes (4)."""

    def __init__(self, data, kind, bits, null=(0, None), validity=None, offsets=None, categories=None):
        self.data, self.dtype, self.null = data, (kind, bits, "", "="), null
        self.validity, self.offsets, self.offset = validity, offsets, 0
        self.describe_null = null
        if categories is not None:
            self.describe_categorical = {"is_ordered": False, "is_dictionary": True, "categories": categories}

    def size(self):
        return len(self.data) if self.offsets is None else len(self.offsets) - 1

    def get_buffers(self):
        def pair(array, bits):
            return None if array is None else (Buffer(array), (1, bits, "", "="))

        return {
            "data": (Buffer(self.data), self.dtype),
            "validity": pair(self.validity, 8 if self.null[0] == 4 else 1),
            "offsets": pair(self.offsets, 64),
        }


def texts(words):
    data = np.frombuffer("".join(words).encode(), np.uint8)
    ends = np.cumsum([0, *(len(word.encode()) for word in words)])
    return Column(data, 21, 8, offsets=ends.astype(np.int64))


class Frame:
    def __init__(self, *chunks):
        self.chunks = chunks

    def __dataframe__(self, allow_copy=True):
        def chunk(columns):
            return SimpleNamespace(get_column=lambda at: list(columns.values())[at])

        return SimpleNamespace(
            column_names=lambda: list(self.chunks[0]), get_chunks=lambda: [chunk(columns) for columns in self.chunks]
        )


def test_every_kind_of_column_and_gap():
    bits = np.packbits([1, 1, 0], bitorder="little")
    found = frame_of(
        Frame(
            {
                "nan": Column(np.array([1.5, np.nan, 3]), 2, 64, (1, None)),
                "sentinel": Column(np.array([1, -9, 3], np.int32), 0, 32, (2, -9)),
                "bits": Column(np.array([1, 2, 3], np.uint8), 1, 8, (3, 0), validity=bits),
                "bytes": Column(np.array([1, 0, 1], np.uint8), 20, 8, (4, 1), validity=np.array([0, 0, 1], np.uint8)),
                "text": texts(["a", "NA", "été"]),
                "category": Column(np.array([1, -1, 0], np.int8), 23, 8, (2, -1), categories=texts(["u", "v"])),
            }
        )
    )
    np.testing.assert_array_equal(found.columns["nan"], [1.5, np.nan, 3])
    np.testing.assert_array_equal(found.columns["sentinel"], [1, np.nan, 3])
    np.testing.assert_array_equal(found.columns["bits"], [1, 2, np.nan])
    np.testing.assert_array_equal(found.columns["bytes"], [1, 0, np.nan])
    assert found.columns["text"].tolist() == ["a", None, "été"]
    assert found.columns["category"].tolist() == ["v", None, "u"]


def test_chunks_follow_each_other():
    parts = [{"x": Column(np.array([float(k)]), 2, 64)} for k in range(3)]
    np.testing.assert_array_equal(frame_of(Frame(*parts)).columns["x"], [0, 1, 2])


def test_dates_twice_named_and_unknown_kinds_are_refused():
    with pytest.raises(InputError, match="a date: make a number of it"):
        frame_of(Frame({"when": Column(np.zeros(2, np.int64), 22, 64)}))
    with pytest.raises(InputError, match="kind 99"):
        frame_of(Frame({"x": Column(np.zeros(2), 99, 64)}))
    twice = Frame({"x": Column(np.zeros(2), 2, 64)})
    twice.__dataframe__ = lambda allow_copy=True: SimpleNamespace(column_names=lambda: ["x", "x"])
    with pytest.raises(InputError, match="named twice"):
        frame_of(twice)


def test_columns_that_are_left_out_may_be_anything():
    """Dates, and what a library raises at: dropped in a fit, and not asked for in a prediction, they are not read."""

    class Complex(Column):
        @property
        def dtype(self):
            raise ValueError("complex128 is not supported")

        @dtype.setter
        def dtype(self, value):
            pass

    x = np.arange(12.0)
    named = {
        "client": texts(["a", "b", "c"] * 4), "x": Column(x, 2, 64), "when": Column(np.zeros(12, np.int64), 22, 64),
        "z": Complex(np.zeros(12), 2, 64), "target": Column(x**2, 2, 64),
    }  # fmt: skip
    with pytest.raises(InputError, match=r"cannot be exchanged .complex128"):
        sf.fit(Frame(named), drop=["when"])
    fit = sf.fit(Frame(named), drop=["when", "z"])
    assert set(fit["a"].coefficients) == {"x"}
    np.testing.assert_array_equal(fit.predict(Frame(named)), fit.predict({"client": ["a", "b", "c"] * 4, "x": x}))
    assert fit.unknown(Frame(named)) == ()
    assert len(sf.read(Frame(named), drop=["when", "z"]).names) == 3


def test_an_index_that_pandas_read_from_a_file_is_left_out():
    table = {"Unnamed: 0": np.arange(12.0), "client": ["a", "b"] * 6, "x": np.arange(12.0) ** 2, "target": range(12)}
    assert set(sf.fit(table)["a"].coefficients) == {"x"}


def test_memory_is_read_within_its_bounds():
    data = (ctypes.c_double * 2)(1.0, 2.0)
    column = Column(np.array([1.0, 2.0]), 2, 64)
    column.get_buffers = lambda: {
        "data": (SimpleNamespace(bufsize=16, ptr=ctypes.addressof(data)), column.dtype),
        "validity": None,
        "offsets": None,
    }
    np.testing.assert_array_equal(frame_of(Frame({"x": column})).columns["x"], [1, 2])
