"""Scafflix Figure 1 on mushrooms: golden starts and probabilities, and acceleration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from features import features, table
from site_data import DATA

from suffice.figures import figure, flix_regression
from suffice.figures.flix_regression import SparseLogistic
from suffice.figures.scafflix_1 import _blocks, _measured
from suffice.simulate import Logistic, Randomness, Scaffnew, Stream
from suffice.simulate.kernels import Unavailable
from suffice.support.text import csv_text

LIBSVM = DATA / "libsvm"
ALPHAS, CLIENTS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4), 8


@pytest.fixture(scope="module")
def drawn():
    if not (LIBSVM / "mushrooms").is_file():
        pytest.skip(f"no {LIBSVM / 'mushrooms'}: set SUFFICE_DATA to the folder with the data files")
    return figure("scafflix-1", edition="published", data=LIBSVM, datasets=("mushrooms",), seeds=2, rounds=10)


def test_the_stated_edition_has_both_classes_and_the_probability_of_equation_12(drawn):
    read = {edition: SparseLogistic.read(LIBSVM, "mushrooms", edition, clients=CLIENTS, mu=0.1)
            for edition in ("published", "stated")}  # fmt: skip
    shares = {edition: float((problem.data.y > 0).double().mean()) for edition, problem in read.items()}
    assert shares == {"published": 1, "stated": 4208 / 8124}
    # 21 ones and the intercept on every row, L = 22/4 + 0.1
    np.testing.assert_allclose(read["stated"].steps("stated")[1], np.sqrt(0.1 / 5.6), rtol=1e-12)
    assert drawn.setup["datasets"]["mushrooms"]["positive_share"] == 1


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
    for kind, text in (("csv", csv_text(drawn._rows())), ("json", drawn._json())):
        (tmp_path / f"scafflix-1.{kind}").write_text(text)
    page = (Path(__file__).parents[2] / "docs" / "figures.md").read_text()
    rows = table(features(tmp_path)).splitlines()[2:]
    assert len(rows) == 3
    assert [row for row in rows if row not in page] == []


def test_more_personal_models_start_closer(drawn):
    starts = [drawn.data[f"mushrooms | GD | {alpha:g}"]["gap"][0] for alpha in ALPHAS]
    assert (np.diff(starts) < 0).all()


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    # an intercept, a column of mostly ones, one of few; the last row occurs twice
    columns = np.column_stack([np.ones(8), rng.random(8) < 0.8, rng.random(8) < 0.2, rng.normal(size=8)])
    X = [columns[[*rng.permutation(8), 7]] for _ in range(CLIENTS)]
    y = [np.append(labels, labels[-1]) for labels in rng.choice([-1.0, 1.0], size=(CLIENTS, 8))]
    return SparseLogistic.of(X, y, regularisation=0.1, start=np.ones(4))


@pytest.mark.parametrize("compiled", [True, False])
def test_sparse_rows_have_the_losses_and_gradients_of_dense_ones(small, compiled, monkeypatch):
    def none(*_: object, **__: object) -> None:
        raise Unavailable("no compiler")

    if not compiled:
        monkeypatch.setattr(flix_regression, "logistic_means", none)
    theta = torch.from_numpy(np.random.default_rng(1).normal(size=(5, CLIENTS, 4)))
    values, slopes = small._measured(theta)
    zero = small._measured(small.optimum[None])[0]
    # sums of nine terms
    np.testing.assert_allclose(values - zero, Logistic.excess(small, theta), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(slopes, Logistic.gradient(small, theta), rtol=1e-12, atol=1e-14)


def test_the_least_value_of_flix_is_where_its_slope_is_none(small):
    from scipy.optimize import check_grad, minimize

    for alpha in (1.0, 0.1):

        def value(x, alpha=alpha):
            mixed = torch.from_numpy(alpha * x) + (1 - alpha) * small.optimum
            return float(small._measured(mixed[None])[0].mean())

        def slope(x, alpha=alpha):
            mixed = torch.from_numpy(alpha * x) + (1 - alpha) * small.optimum
            return alpha * Logistic.gradient(small, mixed[None])[0].mean(0).numpy()

        assert check_grad(value, slope, np.ones(4)) < 1e-6
        found = minimize(value, np.ones(4), jac=slope, method="BFGS", options={"gtol": 1e-9})
        assert abs(small.least(alpha) - found.fun) < 1e-14


def test_blocks_hold_all_seeds_by_the_iterations_that_they_need():
    blocks = _blocks(range(70), 0.2, 5)
    assert [len(block) for block in blocks] == [64, 6]
    assert sorted(np.concatenate(blocks)) == list(range(70))
    randomness = Randomness(seeds=torch.arange(70))
    coins = [randomness.uniform(iteration=t, stream=Stream.COIN, clients=1, features=1) < 0.2 for t in range(1, 300)]
    met = np.cumsum(torch.stack(coins)[:, :, 0, 0].numpy(), axis=0)
    needed = np.argmax(met == 5, axis=0)
    assert (np.diff(needed[np.concatenate(blocks)]) >= 0).all()


@pytest.mark.parametrize("released", [False, True])
def test_rounds_are_those_of_the_method_written_out(small, released):
    """x_i, steps gamma_i/alpha and h_i as the paper has them, one seed after the other."""
    alpha, p, last, seeds = 0.3, 0.4, 4, [3, 8]
    gamma = 1 / (small.smoothness.numpy() * np.linspace(1, 2, CLIENTS))
    rule = Scaffnew(p=p, alpha=alpha, population=True)
    found = _measured(small, rule, torch.tensor(gamma), alpha, last, seeds, released)

    def slopes(x):
        mixed = alpha * x + (1 - alpha) * small.optimum.numpy()
        return Logistic.gradient(small, torch.from_numpy(mixed)[None])[0].numpy()

    def record(x, g):
        mixed = alpha * x + (1 - alpha) * small.optimum.numpy()
        return float(small._measured(torch.from_numpy(mixed)[None])[0].mean()), ((alpha * g.mean(0)) ** 2).sum()

    for s, seed in enumerate(seeds):
        x, h, t = np.ones((CLIENTS, 4)), np.zeros((CLIENTS, 4)), 0
        expected = [record(x, slopes(x))]
        randomness = Randomness(seeds=torch.tensor([seed]))
        while len(expected) <= last:
            t += 1
            g = slopes(x)
            moved = x - (gamma / alpha)[:, None] * (g - h)
            if float(randomness.uniform(iteration=t, stream=Stream.COIN, clients=1, features=1)) < p:
                x = np.tile((moved / gamma[:, None]).sum(0) / (1 / gamma).sum(), (CLIENTS, 1))
                h = h + (p * alpha / gamma)[:, None] * (x - moved)
                expected.append(record(x, g if released else slopes(x)))
            else:
                x = moved
        np.testing.assert_allclose(found[:, s], expected, rtol=1e-10)
