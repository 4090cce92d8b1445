"""CIFAR's binary versions are read, and whatever else people have in such folders is named in one line."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.data.cifar import PIXELS, cifar


def archive(labels: list[list[int]], rng: np.random.Generator) -> tuple[bytes, np.ndarray]:
    """One .bin file whose images have these bytes before their pixels."""
    pixels = rng.integers(0, 256, (len(labels), PIXELS), dtype=np.uint8)
    return np.hstack([np.array(labels, np.uint8), pixels]).tobytes(), pixels


def test_cifar_10_is_read_from_its_five_files(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    parts = []
    for k in range(1, 6):
        content, pixels = archive([[k], [k - 1]], rng)
        (folder / f"data_batch_{k}.bin").write_bytes(content)
        parts.append(pixels)
    for path in (tmp_path, folder):
        X, y = cifar(path)
        assert (X.shape, X.dtype) == ((10, 3, 32, 32), np.float32)
        np.testing.assert_array_equal((X.reshape(10, -1) * np.float32(255)).round(), np.concatenate(parts))
        assert y.tolist() == [1, 0, 2, 1, 3, 2, 4, 3, 5, 4]
    with pytest.raises(sf.InputError, match="no test images of CIFAR"):
        cifar(folder, part="test")
    (folder / "data_batch_3.bin").unlink()
    with pytest.raises(sf.InputError, match=r"data_batch_3\.bin': this file of the archive is missing"):
        cifar(folder)


def test_cifar_100_has_the_fine_class(tmp_path):
    content, pixels = archive([[19, 99], [3, 7]], np.random.default_rng(1))
    (tmp_path / "train.bin").write_bytes(content)
    X, y = cifar(tmp_path)
    assert y.tolist() == [99, 7]
    assert X[1, 2, 31, 31] == np.float32(pixels[1, -1]) / np.float32(255)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data_batch_1", b"\x80\x04.", "pickles, which are not read; give the folder of the binary version"),
        ("test_batch.bin", bytes(PIXELS), "no multiple of an image's 3073; is it cut off?"),
        ("test_batch.bin", b"", "is it cut off?"),
        ("test_batch.bin", bytes([10]) + bytes(PIXELS), "class in test_batch.bin = 10"),
        ("photo.png", b"PNG", "no test images of CIFAR; give the folder of the binary version"),
    ],
    ids=["pickles", "cut off", "empty", "a class too large", "another folder"],
)
def test_what_is_not_cifar_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(sf.InputError) as caught:
        cifar(tmp_path, part="test")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_large_archive_is_refused_before_it_is_read(tmp_path):
    (tmp_path / "test.bin").write_bytes(archive([[0, 0]] * 2, np.random.default_rng(2))[0])
    with pytest.raises(sf.InputError, match="memory for 2 images"):
        cifar(tmp_path, part="test", max_memory=1e4)
