"""Scafflix Figure 1 on mushrooms: golden starts and probabilities, and acceleration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from features import features, table
from site_data import DATA

from suffice.figures import figure
from suffice.figures.flix_regression import Regression
from suffice.support.text import csv_text

LIBSVM = DATA / "libsvm"
ALPHAS, CLIENTS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4), 8


@pytest.fixture(scope="module", params=["published", "stated"])
def drawn(request):
    if not (LIBSVM / "mushrooms").is_file():
        pytest.skip(f"no {LIBSVM / 'mushrooms'}: set SUFFICE_DATA to the folder with the data files")
    return figure("scafflix-1", edition=request.param, data=LIBSVM, datasets=("mushrooms",), seeds=2, rounds=10)


def test_initial_gap_tells_one_class_from_two(drawn):
    start = drawn.data["mushrooms | GD | 1"]
    gap, slope = {"published": (5.565, 1.13), "stated": (15.91, 6.11)}[drawn.edition]
    # three or four digits known
    np.testing.assert_allclose([start["gap"][0], start["gradient2"][0]], [gap, slope], rtol=5e-4)
    assert drawn.setup["datasets"]["mushrooms"]["positive_share"] == (
        1 if drawn.edition == "published" else 4208 / 8124
    )


def test_probability_is_the_released_codes(drawn):
    p = drawn.setup["datasets"]["mushrooms"]["p"]
    if drawn.edition == "published":
        np.testing.assert_allclose(p, 0.16883865479367444, rtol=1e-12)
    else:  # equation (12): 21 ones and the intercept on every row, L = 22/4 + 0.1
        np.testing.assert_allclose(p, np.sqrt(0.1 / 5.6), rtol=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_scafflix_needs_fewer_rounds_than_gradient_descent_and_both_fall(drawn, alpha):
    descent, scafflix = (drawn.data[f"mushrooms | {method} | {alpha:g}"] for method in ("GD", "Scafflix"))
    assert (np.diff(descent["gap"]) < 0).all()
    assert scafflix["gap"][-1] < descent["gap"][-1] / 3
    assert scafflix["gradient2"][-1] < descent["gradient2"][-1]
    np.testing.assert_allclose(scafflix["gap"][0], descent["gap"][0], rtol=1e-12)
    assert (scafflix["gap_low"] <= scafflix["gap"]).all()
    assert (scafflix["gap"] <= scafflix["gap_high"]).all()


def test_rows_of_the_page_are_these_to_the_last_digit(drawn, tmp_path):
    if drawn.edition == "stated":
        return  # nothing of it is in print
    for kind, text in (("csv", csv_text(drawn._rows())), ("json", drawn._json())):
        (tmp_path / f"scafflix-1.{kind}").write_text(text)
    page = (Path(__file__).parents[2] / "docs" / "figures.md").read_text()
    rows = table(features(tmp_path)).splitlines()[2:]
    assert len(rows) == 3
    assert [row for row in rows if row not in page] == []


def test_more_personal_models_start_closer(drawn):
    starts = [drawn.data[f"mushrooms | GD | {alpha:g}"]["gap"][0] for alpha in ALPHAS]
    assert (np.diff(starts) < 0).all()


def _small(seed: int = 0) -> Regression:
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(seed)
    # an intercept, a column of mostly ones, one of few; the last row occurs twice
    columns = np.column_stack([np.ones(8), rng.random(8) < 0.8, rng.random(8) < 0.2, rng.normal(size=8)])
    X = tuple(csr_matrix(columns[[*rng.permutation(8), 7]]) for _ in range(CLIENTS))
    return Regression(X=X, y=tuple(rng.choice([-1.0, 1.0], size=9) for _ in range(CLIENTS)))


def test_gradient_is_the_slope_of_the_value_and_hessian_of_the_gradient():
    problem, x, h = _small(), np.array([0.3, -0.2, 0.5, 1.0]), 1e-6
    steps = x[:, None] + h * np.hstack([np.eye(4), -np.eye(4)])
    value, gradient = problem.value(0, steps), problem.gradient(0, steps)
    # central differences: h^2 and rounding 1e-16/h
    np.testing.assert_allclose((value[:4] - value[4:]) / (2 * h), problem.gradient(0, x[:, None])[:, 0], atol=1e-9)
    np.testing.assert_allclose((gradient[:, :4] - gradient[:, 4:]) / (2 * h), problem.hessian(0, x), atol=1e-9)
    alpha = np.linspace(0.2, 1, 8)
    x = (steps.T - (1 - alpha[:, None]) * problem.anchors[0]) / alpha[:, None]  # models whose mixtures are these points
    for compiled, plain in zip(problem.slopes(0, alpha, x, value=True), (alpha[:, None] * gradient.T, value)):
        assert compiled is not None
        np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-14)  # sums of nine terms, divided by alpha


def test_anchors_and_minima_have_no_slope():
    problem = _small()
    for i, anchor in enumerate(problem.anchors):
        assert np.linalg.norm(problem.gradient(i, anchor[:, None])) < 1e-11
    x = problem.minimum(0.1, problem.anchors)
    slope = sum(problem.gradient(i, (0.1 * x + 0.9 * a)[:, None]) for i, a in enumerate(problem.anchors))
    assert np.linalg.norm(slope) < 1e-10
