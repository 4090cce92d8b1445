"""Rows from tables, folders of arrays and images: the same numbers that were written, divided once."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose

import suffice as sf
from suffice.training.client_arrays import client_arrays

DEFAULT = {"client": "client", "target": "target", "loss": "auto", "drop": (), "split": None, "test": 0.25, "seed": 0,
           "max_memory": 1e9}  # fmt: skip


def read(source, **given):
    return client_arrays(source, **DEFAULT | given)


def test_a_table_is_standardised_and_its_rows_are_used_once(tmp_path):
    rng = np.random.default_rng(0)
    x, kind, y = rng.normal(5, 3, 40), rng.integers(3, size=40), rng.normal(100, 7, 40)
    lines = [f"{'ab'[i % 2]},{x[i]:.17g},{'uvw'[kind[i]]},{y[i]:.17g}" for i in range(40)]
    (tmp_path / "t.csv").write_text("client,x,kind,target\n" + "\n".join(lines))
    found = read(tmp_path / "t.csv")
    assert (found.names, found.classes) == (("a", "b"), ())
    for k in range(2):
        both = np.concatenate((found.y[k], found.y_test[k])) * y.std() + y.mean()
        assert_allclose(np.sort(both), np.sort(y[k::2]), rtol=1e-12)
        rows = np.concatenate((found.X[k], found.X_test[k]))[:, 0] * x.std() + x.mean()
        assert_allclose(np.sort(rows), np.sort(x[k::2]), rtol=1e-12)
        assert len(found.y_test[k]) == 5
    assert_allclose(found.reading.standardised["x"], (x.mean(), x.std()), rtol=1e-12)
    assert_allclose(found.reading.standardised["target"], (y.mean(), y.std()), rtol=1e-12)
    labels = read(tmp_path / "t.csv", target="kind")
    assert labels.classes == ("u", "v", "w")
    assert_allclose(sum((np.bincount(part, minlength=3) for part in (*labels.y, *labels.y_test)), np.zeros(3)),
                    np.bincount(kind, minlength=3))  # fmt: skip


def test_arrays_keep_their_shape_and_their_own_tests(tmp_path):
    X = np.arange(24.0).reshape(4, 2, 3)
    np.savez(tmp_path / "a.npz", X=X, y=np.array(["no", "yes", "no", "no"]), X_test=X[:1], y_test=np.array(["yes"]))
    np.savez(tmp_path / "b.npz", X=X + 1, y=np.array(["yes", "maybe", "no", "no"]))
    found = read(tmp_path)
    assert found.classes == ("maybe", "no", "yes")
    assert_allclose(found.X[0], X)
    assert found.y[0].tolist() == [1, 2, 1, 1]
    assert found.y_test[0].tolist() == [2]
    assert found.X[1].shape == (3, 2, 3)
    np.savez(tmp_path / "b.npz", X=X, y=np.arange(4.0))
    with pytest.raises(sf.InputError, match="labels and numbers"):
        read(tmp_path)
    np.savez(tmp_path / "b.npz", X=X, z=np.arange(4.0))
    with pytest.raises(sf.InputError, match=r"^arrays of b.npz"):
        read(tmp_path)


def test_images_are_divided_by_split(tmp_path):
    pixels = np.random.default_rng(0).integers(256, size=(30, 4, 4), dtype=np.uint8)
    labels = np.arange(30, dtype=np.uint8) % 3
    for name, kind, array in (("images-idx3", 3, pixels), ("labels-idx1", 1, labels)):
        head = struct.pack(f">4B{array.ndim}I", 0, 0, 8, kind, *array.shape)
        (tmp_path / f"train-{name}-ubyte").write_bytes(head + array.tobytes())
    found = read(tmp_path, split="contiguous:3")
    assert (len(found.names), found.classes) == (3, ("0", "1", "2"))
    assert found.X[0].shape[1:] == (1, 4, 4)
    whole = np.concatenate([*found.X, *found.X_test])
    assert_allclose(whole.sum(), pixels.sum() / 255, rtol=1e-12)
    with pytest.raises(sf.InputError, match=r"^split"):
        read(tmp_path)


def test_one_class_and_a_constant_target_are_refused(tmp_path):
    for k in range(2):
        np.savez(tmp_path / f"{k}.npz", X=np.eye(4), y=np.ones(4, int))
    with pytest.raises(sf.InputError, match="one class alone"):
        read(tmp_path)
    table = {"client": ["a"] * 6, "x": [1.0, 2, 3, 4, 5, 6], "target": [2.5] * 6}
    with pytest.raises(sf.InputError, match="same in every row"):
        read(table, loss="least-squares")
