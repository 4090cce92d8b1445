"""The rule beside what one would do if one knew: groups, alike, unrelated; and what must not matter to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from populations import collaborating, draw, messages

from suffice.fitting.model_averaging import collaborate, noise_of
from suffice.fitting.random_coefficients import posterior
from suffice.fitting.ridge import shared_models

ROOT = Path(__file__).parents[2]


def excess(models, truth):
    """Mean squared error of slopes of standardised normal columns, in the columns' units."""
    return float(((models - truth) ** 2).sum(1).mean())


def slopes(sites):
    units, _, fitted, _ = collaborating(sites)
    return units.given(fitted.models)[0], fitted


def least_squares(sites, groups):
    """Slopes of least squares over the rows of each site's group."""
    answer = []
    for group in groups:
        X = np.concatenate([X for (X, _), other in zip(sites, groups) if other == group])
        y = np.concatenate([y for (_, y), other in zip(sites, groups) if other == group])
        answer.append(np.linalg.lstsq(np.column_stack((np.ones(len(X)), X)), y, rcond=None)[0][1:])
    return np.array(answer)


@pytest.mark.parametrize("rows", [12, 30, 60])
def test_planted_groups_are_nearly_as_good_as_told(rows):
    groups = np.arange(12) % 3
    ours, told, alone = 0.0, 0.0, 0.0
    for seed in range(4):
        truth = np.random.default_rng(seed).normal(size=(3, 4))[groups]
        sites = draw(10 + seed, truth, rows)
        found, fitted = slopes(sites)
        ours += excess(found, truth)
        told += excess(least_squares(sites, groups), truth)
        alone += excess(least_squares(sites, np.arange(12)), truth)
        inside = fitted.influences[groups[:, None] == groups].sum() / 12
        assert inside > 0.75
    assert ours < 2 * told, (ours, told)
    assert ours < 0.7 * alone, (ours, alone)


def test_identical_sites_collaborate_and_unrelated_do_not():
    alike = slopes(draw(0, np.ones((6, 5)), 50))[1].influences
    peers = (alike > 0.5 / 6).sum(1) - 1
    assert peers.min() >= 4, alike
    apart = slopes(draw(1, np.random.default_rng(1).normal(size=(6, 5)) * 5, 50))[1].influences
    assert np.diagonal(apart).min() > 0.9


def weight(sites, *families):
    return sum(weight for name, _, weight, _ in collaborate(messages(sites)).candidates if name in families)


def test_groups_count_where_there_are_some_and_not_by_chance():
    """Ten times the mass gives sites that are alike groups of a tenth to a third of the weight."""
    truth = np.random.default_rng(0).normal(size=(3, 4))[np.arange(12) % 3]
    assert weight(draw(10, truth, 30), "clusters", "all-for-one") > 0.9
    assert max(weight(draw(50 + seed, np.ones((6, 3)), 8), "clusters") for seed in range(3)) < 0.06


def test_ridge_with_the_same_slopes_is_the_posterior_of_a_rank_one_covariance_and_a_ridge_with_dummies():
    fits = messages(draw(3, np.random.default_rng(3).normal(size=(4, 2)), 9)).fits
    pull = np.diag([1e-6, 2.5, 2.5])
    for scatter in (0.0, 0.3):
        found = shared_models(fits.second, fits.cross, pull, scatter)
        told = posterior(fits, np.diag([np.sqrt(scatter), 0.0, 0.0]), np.tile(pull, (6, 1, 1))).models
        np.testing.assert_allclose(found, told, rtol=1e-9)
    S, c = fits.second[0], fits.cross[0]
    levels = S[:, 0]  # (N, d): products of a site's dummy with the columns
    whole = np.block([[S.sum(0) + pull, levels.T], [levels, np.diag(levels[:, 0] + 1 / 0.3)]])
    answer = np.linalg.solve(whole, np.concatenate((c.sum(0), c[:, 0])))
    np.testing.assert_allclose(found[0], answer[:3] + answer[3:, None] * [1.0, 0.0, 0.0], rtol=1e-9)


def test_the_page_counts_the_candidates():
    count = len(slopes(draw(2, np.ones((7, 2)), 14))[1].candidates)
    assert f"From these sums alone {count} candidates are fitted" in (ROOT / "docs" / "fit.md").read_text()


def test_influences_add_to_one_and_weights_too():
    fitted = slopes(draw(2, np.random.default_rng(2).normal(size=(5, 2)), 14))[1]
    np.testing.assert_allclose(fitted.influences.sum(1), 1, rtol=1e-12)
    np.testing.assert_allclose(sum(weight for _, _, weight, _ in fitted.candidates), 1, rtol=1e-12)
    assert {family for family, *_ in fitted.candidates} == {
        "pooled", "scatter", "ridge", "same slopes", "alone", "random", "clusters", "all-for-one",
    }  # fmt: skip


def test_the_order_of_sites_and_the_units_of_columns_do_not_matter():
    sites = draw(4, np.random.default_rng(4).normal(size=(5, 2)), 13)
    found, fitted = slopes(sites)
    order = np.array([3, 0, 4, 1, 2])
    permuted, other = slopes([sites[k] for k in order])
    np.testing.assert_allclose(permuted, found[order], rtol=1e-7)
    np.testing.assert_allclose(other.influences, fitted.influences[order][:, order], atol=1e-8)
    scaled, _ = slopes([(X * [1e3, 1e-4] + [5, 2], 40 * y - 7) for X, y in sites])
    np.testing.assert_allclose(scaled, 40 * found / [1e3, 1e-4], rtol=1e-6)


def test_one_site_and_sites_of_one_row_are_fitted():
    assert np.isfinite(slopes(draw(5, np.ones((1, 2)), 20))[0]).all()
    sites = [*draw(6, np.ones((3, 2)), 20), *draw(7, np.ones((1, 2)), 1)]
    found, fitted = slopes(sites)
    assert np.isfinite(found).all()
    assert fitted.influences[3, 3] < fitted.influences[3, :3].min()


def risks(truth, rows, noise, seed):
    """Total risk, exact given the fit, and that of ridge alone with the network's best penalty."""
    units, _, fitted, alone = collaborating(draw(seed, truth, rows, noise=noise))
    given = [units.given(models) for models in (fitted.models, alone[0])]
    return [noise**2 + float((((b - truth) ** 2).sum(1) + (b0 - 1) ** 2).mean()) for b, b0 in given]


def test_three_unrelated_sites_of_seven_rows_lose_little():
    """21 held-out rows choose nearly by chance: ridge alone has to have a part from the start."""
    truth = np.array([[-1.6, -2.0, 2.3, 1.8], [2.1, 2.2, -1.65, 1.9], [-1.9, -1.5, 2.5, -1.5]])
    ours, alone = np.sum([risks(truth, 7, 0.3, 3_700_000 + seed) for seed in range(12)], axis=0)
    assert ours < 1.15 * alone, ours / alone


def test_the_noise_is_that_of_the_rows_that_decide():
    """Twelve sites of variance 1 and one of 9, 40 rows each: (12 + 81)/(12 + 9), not the mean of 1.6; and of one
    variance that variance, however few the rows."""
    rng = np.random.default_rng(0)
    for variance, rows, expected in ((np.append(np.ones(12), 9.0), 40, 93 / 21), (np.full(13, 2.0), 1, 2.0)):
        losses = variance * rng.chisquare(rows, size=(4000, 5, 13))
        found = np.mean([noise_of(loss, np.full((5, 13), rows)) for loss in losses])
        # a ratio of sums has a bias of about one in the 65 cells, and an error of 1/sqrt(4000) of a cell's spread
        np.testing.assert_allclose(found, expected, rtol=0.05)


@pytest.mark.slow
def test_it_is_safe_over_drawn_populations():
    ratios = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        sites, d = int(rng.integers(2, 13)), int(rng.integers(1, 8))
        scatter, noise = rng.choice([0.0, 0.1, 0.5, 2.0]), rng.choice([0.3, 1.0])
        truth = 0.5 * rng.normal(size=d) + scatter * rng.normal(size=(sites, d))
        rows, ours, alone = int(rng.integers(d + 3, 60)), 0.0, 0.0
        for repeat in range(16):  # four draws leave a fifth of a ratio to chance
            risk = risks(truth, rows, noise, 1000 * seed + repeat)
            ours, alone = ours + risk[0], alone + risk[1]
        ratios.append(ours / alone)
    ordered = np.sort(ratios)
    assert ordered[47] <= 1.05, ordered[-10:]
    assert ordered[-1] <= 1.15, ordered[-10:]
    assert np.exp(np.log(ordered).mean()) < 0.95


@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_rows_that_are_fitted_exactly(noise):
    """Nothing is left to average by: the models are the truth, also with columns that are the same twice."""
    truth = np.random.default_rng(8).normal(size=(4, 2))
    sites = [(np.column_stack((X, X[:, 0])), y) for X, y in draw(8, truth, 20, noise=noise)]
    found, _ = slopes(sites)
    np.testing.assert_allclose(found[:, 0] + found[:, 2], truth[:, 0], atol=1e-2)
    np.testing.assert_allclose(found[:, 1], truth[:, 1], atol=1e-2)


def test_sites_without_a_common_centre_are_as_good_as_their_own_ridge():
    """Each site's rows are nearly all of one value, as where a table was sorted by its target: about as many rows as
    columns, columns that go together, and nothing to learn from the others."""
    ours, own = 0.0, 0.0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        mix = rng.normal(size=(8, 8)) * 0.5 ** np.arange(8)[:, None]  # correlated columns
        X = rng.normal(size=(3, 500, 8)) @ mix
        y = 3.0 * np.arange(3)[:, None] + X @ (rng.normal(size=8) / 4) * np.array([[0.0], [0.0], [1.0]])
        sites = [(X[k, :10], y[k, :10] + 0.1 * (k == 2) * rng.normal(size=10)) for k in range(3)]
        units, _, fitted, alone = collaborating(sites)
        for models in (fitted.models, alone[0]):
            slopes, intercepts = units.given(models)
            loss = float(((np.einsum("knd,kd->kn", X, slopes) + intercepts[:, None] - y)[:, 10:] ** 2).mean())
            ours, own = (ours + loss, own) if models is fitted.models else (ours, own + loss)
    assert ours < 1.4 * own, (ours, own)
