"""Data sets with a layout of their own: facts about heart disease, MNIST's files, embedded sets."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

import suffice as sf
from simulate.heart_disease import CENTRES
from suffice.datasets import embedded, heart_disease, mnist, mnist_part

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[3] / "shared" / "data"))
HEART = DATA / "heart_disease"
needs_heart = pytest.mark.skipif(not HEART.is_dir(), reason=f"no heart-disease files at {HEART} (SUFFICE_DATA)")


@needs_heart
def test_heart_disease_has_the_published_sizes_and_smoothness():
    centres = heart_disease(HEART)
    assert [(len(a.X), len(b.X)) for a, b in zip(centres.train, centres.test)] == [
        (199, 104), (172, 89), (30, 16), (85, 45),
    ]  # fmt: skip
    assert [int(table.y.sum()) for table in centres.train] == [91, 65, 30, 66]
    assert centres.train[0].columns == (
        "age", "sex", "trestbps", "chol", "fbs", "thalach", "exang", "oldpeak", "cp_2", "cp_3", "cp_4",
        "restecg_1", "restecg_2",
    )  # fmt: skip
    problem = centres.problem(regularisation=0.5)
    # lambda_max(X'X) / (4 n) with the intercept and without the regularisation, in float64: a few roundings
    np.testing.assert_allclose(
        problem.smoothness.numpy() - 0.5,
        [0.6918421544500161, 0.8207127990658645, 0.5506388598522872, 0.5827128565855606],
        rtol=4e-15,
    )


@needs_heart
def test_heart_disease_is_split_as_flamby_does():
    stored = HEART / "split_seed43.json"
    if not stored.exists():
        pytest.skip(f"no {stored.name} beside the files")
    raw = heart_disease(HEART, standardise="none")
    answer = json.loads(stored.read_text())["centers"]
    for name, train, test in zip(CENTRES, raw.train, raw.test):
        lines = (HEART / f"processed.{name}.data").read_text().splitlines()
        for part, table in (("train", train), ("test", test)):
            key = next(key for key in answer[name] if key.startswith(part))
            kept = [lines[row] for row in answer[name]["kept_file_rows"]]
            ages = [float(kept[position].split(",")[0]) for position in answer[name][key]]
            np.testing.assert_array_equal(np.sort(table.X[:, 0]), np.sort(ages))


@needs_heart
def test_heart_disease_is_standardised_by_each_centres_training_data():
    own, pooled, raw = (heart_disease(HEART, standardise=rule) for rule in ("client", "pooled", "none"))
    for i in range(4):
        reference = raw.train[i].X
        expected = (raw.test[i].X - reference.mean(0)) / (reference.std(0, ddof=1) + 1e-9)
        np.testing.assert_allclose(own.test[i].X, expected, rtol=1e-12, atol=1e-12)
    everyone = np.concatenate([table.X for table in pooled.train])
    np.testing.assert_allclose(everyone.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(everyone.std(0, ddof=1), 1, rtol=1e-8)
    chol = own.train[0].columns.index("chol")
    assert not own.train[2].X[:, chol].any()  # constant in Switzerland: 0 / 1e-9


@needs_heart
def test_the_centre_of_one_class_needs_regularisation_and_is_planned_with_it():
    with pytest.raises(sf.InputError, match=r"client switzerland = 1.0: only one class.*regularisation > 0"):
        sf.read(HEART, loss="logistic")
    plan = sf.plan(sf.read(HEART, loss="logistic", regularisation=0.1), epsilon=0.1)
    assert [row.name for row in plan] == list(CENTRES)
    assert all(row.schedules.hitting["expected_iterations"] > 0 for row in plan)
    with pytest.raises(sf.InputError, match="divided already"):
        sf.read(HEART, loss="logistic", regularisation=0.1, split="iid:4")


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
    ("name", "shape", "classes"),
    [("breast_cancer", (569, 30), 2), ("diabetes", (442, 10), 214), ("digits", (1797, 64), 10),
     ("iris", (150, 4), 3), ("wine", (178, 13), 3)],
)  # fmt: skip
def test_embedded_sets(name, shape, classes):
    table = embedded(name)
    assert table.X.shape == shape
    assert len(np.unique(table.y)) == classes
    assert len(table.columns) == shape[1]
    assert sf.read(f"sklearn:{name}", split="iid:3", standardise="none", regularisation=0.1).clients == 3


def test_scafflixs_published_probability_comes_from_the_same_clients():
    """p = 1 / sqrt(mean(L_i) / 0.1), L_i = lambda_max(A'A + 0.1 I) / (4 n_i): the released code's rule."""
    path = DATA / "libsvm" / "mushrooms"
    if not path.exists():
        pytest.skip(f"no {path} (SUFFICE_DATA)")
    from suffice.client_data import load
    from suffice.splits import divide

    (table,) = load(path, client="", target="", text_target=False, divided=False)
    parts = divide(table, "contiguous:8")
    L = []
    for part in parts:
        A = np.column_stack((np.ones(len(part.X)), part.X))
        L.append(np.linalg.eigvalsh(A.T @ A + 0.1 * np.eye(113))[-1] / (4 * len(A)))
    np.testing.assert_allclose(1 / np.sqrt(np.mean(L) / 0.1), 0.16883865479367444, rtol=1e-12)
