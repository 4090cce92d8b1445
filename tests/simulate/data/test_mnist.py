"""MNIST's images from the folders and files that people have."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from site_data import DATA

import suffice as sf
from suffice.simulate.data.memory import Memory
from suffice.simulate.data.mnist import mnist, mnist_part, read_idx

BYTES = bytes((0, 0, 8, 2)) + bytes((0, 0, 0, 2, 0, 0, 0, 3)) + bytes(range(6))


def idx(array: np.ndarray) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


def test_mnist_is_read_from_torchvisions_folders_compressed_or_not(tmp_path):
    rng = np.random.default_rng(5)
    images, digits = rng.integers(0, 256, (60, 4, 3), dtype=np.uint8), np.arange(60, dtype=np.uint8) % 10
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    (raw / "train-images-idx3-ubyte").write_bytes(idx(images))
    (raw / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(digits)))
    for path in (tmp_path, tmp_path / "MNIST", raw, raw / "train-images-idx3-ubyte"):
        table = mnist(path)
        np.testing.assert_array_equal(table.X, images.reshape(60, 12) / 255)
        np.testing.assert_array_equal(table.y, digits)
    with pytest.raises(sf.InputError, match="no test images"):
        mnist(tmp_path, part="test")
    assert mnist_part(tmp_path) == "train"
    only_test = tmp_path / "test-alone"
    only_test.mkdir()
    (only_test / "t10k-images-idx3-ubyte").write_bytes(idx(images))
    (only_test / "t10k-labels-idx1-ubyte").write_bytes(idx(digits))
    assert mnist_part(only_test) == "test"
    assert sf.read(only_test, split="iid:3", regularisation=0.1, standardise="none").clients == 3
    problem = sf.read(
        tmp_path, split="labels:4", loss="logistic", positive=[1, 3, 5, 7, 9], regularisation=0.1, standardise="none"
    )
    assert problem.clients == 4
    assert problem.data.counts.tolist() == [18, 12, 18, 12]  # 36 rows of digits 0 to 5, 24 of 6 to 9


def test_mnists_own_test_images_are_read():
    path = DATA / "mnist_test"
    if not path.is_dir():
        pytest.skip(f"no MNIST files at {path} (SUFFICE_DATA)")
    table = mnist(path, part="test")
    assert table.X.shape == (10000, 784)
    assert (table.X.min(), table.X.max()) == (0, 1)
    assert np.bincount(table.y.astype(int)).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


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
