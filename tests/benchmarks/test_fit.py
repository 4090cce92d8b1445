"""The benchmark of `sf.fit`: what a page says of given losses, a run that goes on, and exact risks."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from blocks import ROOT


@pytest.fixture(scope="module")
def benchmarks():
    """The modules: a checkout's folder is not on the path of tests."""
    sys.path.insert(0, str(ROOT))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(f"benchmarks.{name}") for name in NAMES})
    finally:
        sys.path.remove(str(ROOT))


NAMES = ("fit", "fit_report", "fit_safety", "fit_tables")


def line(draw, share=0.2, **losses):
    made = {"loss": "least-squares", "task": "wards", "share": share, "sites": 4, "natural": True, "held_out": False}
    return made | {"draw": draw, "losses": losses}


def test_the_best_rival_is_linear_and_made_a_model_in_every_draw(benchmarks):
    report = benchmarks.fit_report
    lines = [
        line(100, ours=1.0, ditto=2.0, alone=4.0, mixed=5.0, **{report.BOOSTED: 0.1}),
        line(101, ours=3.0, ditto=2.0, alone=4.0, mixed=None, **{report.BOOSTED: 0.1}),
    ]
    found = report.ratios(lines)
    assert {name: ratio for name, (ratio, _) in found.items()} == pytest.approx(
        {"ditto": 1.0, "alone": 0.5, "mixed": 0.2, report.BOOSTED: 20.0}
    )
    assert [name for name, (_, always) in found.items() if not always] == ["mixed"]
    assert report.best(lines) == (1.0, "ditto")
    # without either draw the line's ratios are 3/2 and 1/2
    text = report.page([*lines, line(100, share=0.5, ours=1.0, ditto=1.0), line(101, share=0.5, ours=1.0, ditto=1.0)])
    ends = np.sqrt([1.5, 0.5])
    assert f"| all | 2 | 1.000 +- .{1000 * ends.std():.0f} | 1.000 |" in text
    assert "| wards | least-squares | 4 | 2 | 1.000 (ditto) | 1.000 (ditto) |" in text
    assert "| least-squares: alone | 1 | .500 | .500 (wards, 20%) |" in text
    assert {row["name"]: row["value"] for row in report.summary(lines)}["fit, worst: all"] == 1.0


def test_a_run_goes_on_draw_by_draw(benchmarks, tmp_path, monkeypatch):
    fit = benchmarks.fit
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    task = benchmarks.fit_tables.Task("made", X, X[:, 0] + rng.normal(size=60), np.arange(60) % 3, "least-squares")
    monkeypatch.setattr(fit, "tasks", lambda quick: iter([task]))
    monkeypatch.setattr(fit, "SHARES", (0.5,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of scikit-learn's encoders as well
        fit.run(tmp_path, 1, True)
    (first,) = tmp_path.iterdir()
    found = json.loads(first.read_text())
    assert (found["task"], found["draw"], found["sites"]) == ("made", fit.FIRST_DRAW, 3)
    assert set(found["losses"]) >= {"ours", "alone", "one-hot", "interactions", "target-encoded", "gradient boosting"}
    assert all(
        0.2 < loss < 1 for loss in found["losses"].values()
    )  # the noise is half of the target's variance: .5, and less than a constant loses
    first.write_text(json.dumps(found | {"losses": {"ours": 1.0, "alone": 2.0}}))
    rows = fit.table(True, 1, tmp_path, tmp_path / "page.md")
    assert rows[0] == {"name": "fit, geometric mean: all", "value": 0.5}
    assert "| made | least-squares | 3 | 1 | .500 (alone) |" in (tmp_path / "page.md").read_text()


def test_risks_are_those_on_new_rows(benchmarks):
    population = benchmarks.fit_safety.Population.drawn(10_003, 3)
    rng = np.random.default_rng(0)
    slopes, intercepts = population.slopes + 0.3, population.levels - 0.2
    for k, risk in enumerate(population.risks(slopes, intercepts)):
        X = population.means[k] + population.scales[k] * rng.normal(size=(200_000, slopes.shape[1]))
        y = population.levels[k] + X @ population.slopes[k] + population.noise[k] * rng.normal(size=len(X))
        squares = (y - X @ slopes[k] - intercepts[k]) ** 2
        np.testing.assert_allclose(squares.mean(), risk, rtol=5 * squares.std() / len(X) ** 0.5 / risk)
    ours, alone, inside = benchmarks.fit_safety.once(population, 0)
    least = (population.noise**2).sum()
    assert least < ours < 3 * least
    assert least < alone < 3 * least
    assert len(inside) <= 3
