"""Predictions of rows far outside what a fit has seen are made, and said once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import suffice as sf


def fitted(seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack((rng.uniform(20, 80, 60), rng.normal(size=60), rng.integers(0, 2, 60)))
    y = X[:, 0] + X[:, 1] + rng.normal(size=60)
    names = np.repeat(np.array(["a", "b", "c"], dtype=object), 20)
    x0 = X[:, 0].astype(object)
    x0[7] = None
    return sf.fit({"client": names, "x0": x0, "x1": X[:, 1], "flag": X[:, 2], "target": y}), X


def lines(call):
    with warnings.catch_warnings(record=True, action="always") as said:
        call()
    return [str(warning.message) for warning in said]


def test_far_rows_are_said_once_with_their_column_and_its_range(tmp_path, command):
    fit, X = fitted()
    rows = {
        "client": ["a", "b", "c", "new"],
        "x0": [50, 5000, 90, -4000],
        "x1": [0.0, 0.1, np.nan, 0.2],
        "flag": [0, 1, 1, 0],
    }
    for models in (fit, sf.load(fit.save(tmp_path / "m.json"))):
        far = [line for line in lines(lambda m=models: m.predict(rows)) if "far outside" in line]
        seen = np.delete(X[:, 0], 7)
        assert len(far) == 1
        assert f"x0 = 5000 and 1 more (in the fit {seen.min():.6g} to {seen.max():.6g})" in far[0]
        assert "x1" not in far[0]
        assert "flag" not in far[0]
    table = tmp_path / "new.csv"
    table.write_text("client,x0,x1,flag\n" + "\n".join(f"a,{1000 * k},0,0" for k in range(5)))
    said = command("predict", tmp_path / "m.json", table).stderr.replace("\n", " ")
    assert said.count("far outside") == 1
    assert "x0 = 1000 and 3 more" in said


@pytest.mark.parametrize("seed", range(5))
def test_rows_like_those_of_the_fit_are_not_called_far(seed):
    fit, _ = fitted(seed)
    rng = np.random.default_rng([seed, 1])
    rows = {"client": ["a"] * 50, "x0": rng.uniform(0, 100, 50), "x1": rng.normal(size=50), "flag": [0, 1] * 25}
    assert not [line for line in lines(lambda: fit.predict(rows)) if "far outside" in line]


def test_messages_tell_no_range():
    """The least and the largest number are values of single rows, which a site does not send."""
    rng = np.random.default_rng(0)
    sites = [
        sf.summarise({"x": rng.normal(size=30), "target": rng.normal(size=30)}, site=name, target="target")
        for name in ("a", "b", "c")
    ]
    assert not sf.fit(sites).design.ranges
