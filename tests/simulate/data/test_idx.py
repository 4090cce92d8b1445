"""IDX files: what is damaged is refused by its path."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.data.memory import Memory
from suffice.simulate.data.mnist import read_idx

BYTES = bytes((0, 0, 8, 2)) + bytes((0, 0, 0, 2, 0, 0, 0, 3)) + bytes(range(6))


@pytest.mark.parametrize(
    ("name", "content"), [("a", BYTES), ("a.gz", gzip.compress(BYTES))], ids=["plain", "compressed"]
)
def test_bytes_come_in_the_shape_of_the_header(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    np.testing.assert_array_equal(read_idx(tmp_path / name, 2, Memory()), np.arange(6).reshape(2, 3))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a", BYTES[:-1], "does not hold the [2, 3] numbers that its header says"),
        ("a", b"PNG", "not an IDX file of bytes with 2 axes"),
        ("a.gz", BYTES, "damaged compression"),
        ("a.gz", gzip.compress(BYTES)[:-9], "damaged compression"),
    ],
    ids=["short", "of another kind", "not compressed", "cut off"],
)
def test_damage_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(sf.InputError) as caught:
        read_idx(tmp_path / name, 2, Memory())
    assert message in str(caught.value)
