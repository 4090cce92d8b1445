"""What users of other libraries look for: frames, `predict_proba`, versions; and what is refused before the work."""

from __future__ import annotations

import json
from importlib.metadata import version

import numpy as np
import pytest
from populations import draw, table

import suffice as sf
from suffice import InputError
from suffice.support import frames


@pytest.fixture
def sites():
    return draw(0, np.random.default_rng(0).normal(size=(4, 2)) * 0.3 + [1.0, -1.0], 30)


@pytest.fixture
def mappings(monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)


def test_a_fit_a_plan_and_a_figure_are_frames(sites, mappings):
    fit = sf.fit(table(sites))
    frame = fit.to_frame()
    assert frame["name"] == ["s0", "s1", "s2", "s3"]
    assert frame["coefficients.x0"] == [model.coefficients["x0"] for model in fit]
    assert frame["gain"] == [model.gain for model in fit]
    plan = sf.plan(fit, epsilon=[0.5]).to_frame()
    assert plan["name"] == ["s0", "s1", "s2", "s3"]
    drawn = sf.figure("cobo-1").to_frame()
    assert len({len(values) for values in drawn.values()}) == 1


def test_a_frame_is_of_the_library_that_is_there(sites):
    pd = pytest.importorskip("pandas")
    frame = sf.fit(table(sites)).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape[0] == 4


def test_probabilities_by_scikit_learn_s_name():
    rng = np.random.default_rng(0)
    rows = {"client": ["a", "b"] * 30, "x": rng.normal(size=60), "target": ["no", "yes", "yes", "no"] * 15}
    fit = sf.fit(rows)
    np.testing.assert_array_equal(fit.predict_proba(rows), fit.probabilities(rows))


def test_versions(capsys):
    assert sf.__version__ == version("suffice")
    sf.show_versions()
    said = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert said["suffice"] == sf.__version__
    assert said["numpy"] == version("numpy")


def test_messages_with_other_columns_and_sites_for_a_saved_fit_are_refused_with_the_way_out(sites, tmp_path):
    def columns(k, **more):
        X, y = sites[k]
        return {"x0": X[:, 0], "x1": X[:, 1], "target": y} | {name: X[:, at] for name, at in more.items()}

    three = [sf.summarise(columns(k), site=f"s{k}") for k in range(3)]
    more = sf.summarise(columns(3, age=0), site="s3")
    with pytest.raises(InputError, match=r"1 of 4 sites.*only s3 sent it; either all .* drop=\['age'\]"):
        sf.fit([*three, more])
    fewer = sf.summarise({name: column for name, column in columns(3).items() if name != "x1"}, site="s3")
    with pytest.raises(InputError, match=r"column x1.*s3 did not send it; either all sites send it, or none"):
        sf.fit([*three, fewer])
    saved = sf.fit(three).save(tmp_path / "fit.json")
    with pytest.raises(InputError, match="no site can be added to them: fit the messages of all sites anew"):
        sf.fit([saved, sf.summarise(columns(3), site="s3")])


def test_digits_are_those_that_mean_something(sites):
    fit = sf.fit(table([(1000 * X, 100 * y) for X, y in sites]))
    for model, row in zip(fit, fit.table().rows):
        for cell, value in zip(row[5:7], (model.expected_loss_alone, model.expected_loss)):
            assert len(cell.rstrip("0").replace(".", "").lstrip("0")) <= 2, cell
            np.testing.assert_allclose(float(cell), value, rtol=0.05)
        assert abs(float(row[7].split()[0]) - model.gain) < 0.1 * 2 * model.gain_se
    assert "suspects" in json.loads(json.dumps(fit.to_dict()))["rule"]
