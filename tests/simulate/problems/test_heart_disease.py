"""The four hospitals: published facts, and the split and the scaling of FLamby."""

from __future__ import annotations

import json

import numpy as np
import pytest
from site_data import DATA

import suffice as sf
from suffice.simulate.data.heart_disease import CENTRES, heart_disease

HEART = DATA / "heart_disease"
pytestmark = pytest.mark.skipif(not HEART.is_dir(), reason=f"no heart-disease files at {HEART} (SUFFICE_DATA)")


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
    problem = sf.read(HEART, standardise="client", regularisation=0.5)
    # lambda_max(X'X) / (4 n) with the intercept and without the regularisation, in float64: a few roundings
    np.testing.assert_allclose(
        problem.smoothness.numpy() - 0.5,
        [0.6918421544500161, 0.8207127990658645, 0.5506388598522872, 0.5827128565855606],
        rtol=4e-15,
    )


def test_heart_disease_is_split_as_flamby_does():
    stored = HEART / "split_seed43.json"
    if not stored.exists():
        pytest.skip(f"no {stored.name} beside the files")
    raw = heart_disease(HEART, standardise="none")
    answer = json.loads(stored.read_text())["centers"]
    assert len(raw.train) == len(raw.test) == len(CENTRES)
    for name, train, test in zip(CENTRES, raw.train, raw.test):
        lines = (HEART / f"processed.{name}.data").read_text().splitlines()
        for part, table in (("train", train), ("test", test)):
            key = next(key for key in answer[name] if key.startswith(part))
            kept = [lines[row] for row in answer[name]["kept_file_rows"]]
            ages = [float(kept[position].split(",")[0]) for position in answer[name][key]]
            np.testing.assert_array_equal(np.sort(table.X[:, 0]), np.sort(ages))


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


def test_the_centre_of_one_class_needs_regularisation_and_is_planned_with_it():
    with pytest.raises(sf.InputError, match=r"client switzerland = 1.0: only one class.*regularisation 0.1"):
        sf.read(HEART, loss="logistic")
    plan = sf.plan(sf.read(HEART, loss="logistic", regularisation=0.1), epsilon=0.1)
    assert [row.name for row in plan] == list(CENTRES)
    assert all(row.schedules.hitting["expected_iterations"] > 0 for row in plan)
    with pytest.raises(sf.InputError, match="a folder has one client per file"):
        sf.read(HEART, loss="logistic", regularisation=0.1, split="iid:4")
