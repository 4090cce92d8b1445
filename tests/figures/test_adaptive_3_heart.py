"""Figure 3, heart disease: its measures, and what the curves must show."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from site_data import DATA

from suffice.bounds import InputError
from suffice.figures import figure
from suffice.figures.figure import SEPARATOR
from suffice.figures.hospitals import BESIDE, MEASURED, Patients, measure, with_intercept
from suffice.simulate.data.heart_disease import heart_disease

HEART = DATA / "heart_disease"
needs_data = pytest.mark.skipif(not HEART.is_dir(), reason="no heart disease files: set SUFFICE_DATA")


@pytest.fixture(scope="module")
def four():
    return with_intercept(heart_disease(HEART))


@pytest.fixture(scope="module")
def curves():
    return figure("adaptive-3-heart", data=HEART, seeds=2, epochs=2)


@needs_data
def test_measures_are_plain_means_over_hospitals(four):
    models = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 14)))
    got = measure(four, models)[1].numpy()
    sizes = {"test": [104, 89, 16, 45]}
    values_of_test_accuracy: list[float] = []
    for column, what in enumerate(MEASURED):
        values = values_of_test_accuracy if what == "test_accuracy" else []
        for one, theta in zip(four.test if what.startswith("test") else four.train, models[1].numpy()):
            X, y = one.X, one.y
            p = 1 / (1 + np.exp(-X @ theta))
            loss = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
            values.append(np.log10(loss) if "loss" in what else 100 * np.mean((p > 0.5) == y))
        np.testing.assert_allclose(got[column], np.mean(values), rtol=1e-11)
        if what.startswith("test"):
            weighted = np.average(values, weights=sizes["test"])
            np.testing.assert_allclose(got[4 + (what == "test_accuracy")], weighted, rtol=1e-11)
    np.testing.assert_allclose(got[6], np.std(values_of_test_accuracy), rtol=1e-11)


@needs_data
def test_weight_decay_is_the_editions(four):
    assert Patients.training(four, "stated").regularisation == 5e-4
    assert Patients.training(four, "published").regularisation == 0


@needs_data
def test_curves_start_at_chance_and_the_pooled_model_has_a_high_loss(curves):
    assert len(curves.data) == 2 * 8
    for run in ("Table S1", "Table 2"):
        of = {name.split(SEPARATOR)[1]: curve for name, curve in curves.data.items() if name.startswith(run)}
        first = {name: curve["test_log10_loss"][0] for name, curve in of.items()}
        # all start at the same models, near the loss log 2 of guessing
        assert np.ptp(list(first.values())) < 1e-12
        assert -0.35 < first["Local"] < 0.1
        last = {name: curve["test_log10_loss"][-1] for name, curve in of.items()}
        assert last["FedAvg"] > max(last["Local"], last["All-for-one binary"], last["CoBo"]) + 0.05


@needs_data
def test_files_name_the_runs_and_what_is_fitted(curves):
    runs = curves.setup["runs_of"]
    assert (runs["Table S1"]["train"], runs["Table S1"]["iterations_per_epoch"]) == ([199, 172, 30, 85], 122)
    assert (runs["Table 2"]["train"], runs["Table 2"]["step_size"]) == ([199, 172, 30], 0.01)
    assert runs["Table 2"]["fitted"] == ["hospitals", "step_size"]


@needs_data
@pytest.mark.parametrize("changed", [{}, {"epochs": 2}, {"step": 0.02}, {"cobo_rho": 0.01}])
def test_entries_of_the_paper_stand_beside_its_setting_alone(changed, monkeypatch):
    # the rules are not run: what they would give is no matter here
    columns = len((*MEASURED, *BESIDE))
    blocks = {rule: np.ones((changed.get("epochs", 25) + 1, 2, columns)) for rule in ("Local", "CoBo")}
    monkeypatch.setattr("suffice.figures.adaptive_3_heart.in_blocks", lambda *arguments: blocks)
    drawn = figure("adaptive-3-heart", data=HEART, seeds=2, **changed)
    entries = {run: facts["published"] for run, facts in drawn.setup["runs_of"].items()}
    theirs = {"Local": [-0.41, 82.1, 8.3], "CoBo": [-0.41, 81.9, 8.5]}
    assert entries == {"Table S1": {}, "Table 2": {} if changed else theirs}
    canvas = drawn.canvas()
    marks = [line for axes in canvas.axes for line in axes.lines if line.get_marker() == "x"]
    titles = "".join(axes.get_title(loc="left") for axes in canvas.axes)
    assert (len(marks), titles.count("crosses")) == ((0, 0) if changed else (4, 1))


def test_without_files_it_is_refused(monkeypatch, tmp_path):
    monkeypatch.delenv("SUFFICE_DATA", raising=False)
    with pytest.raises(InputError, match="SUFFICE_DATA"):
        figure("adaptive-3-heart")
    monkeypatch.setenv("SUFFICE_DATA", str(tmp_path / "absent"))
    with pytest.raises(InputError, match=r"no processed\.cleveland\.data"):
        figure("adaptive-3-heart")
