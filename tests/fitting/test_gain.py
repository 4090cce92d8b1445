"""Gains beside the losses of the same models on many new rows."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from populations import collaborating, draw, table

import suffice as sf
from suffice.fitting.gain import LEAST_ROWS, RESAMPLED, Gains, beyond_chance, sums_of
from suffice.fitting.model_averaging import collaborate
from suffice.simulate.data.folds import FOLDS, Sums, Units


def gains(made, held_out, counts):
    return Gains.of(*sums_of(made, held_out), counts, made.size)


def measured(sites, truth, levels=1.0):
    """Gains, and what they are exactly, because rows are normal; both in squared standardised units."""
    units, made, fitted, alone = collaborating(sites)
    found = gains(made, fitted.held_out, np.array([len(y) for _, y in sites]))
    risks = []
    for models in (alone[0], fitted.models):
        slopes, intercepts = units.given(models)
        risks.append(((slopes - truth) ** 2).sum(1) + (intercepts - levels) ** 2)
    return found, (risks[0] - risks[1]) / units.scale[-1] ** 2


def squares(sites, units, models):
    """(N, n) of rows under the models without their fold, standardised."""
    slopes, intercepts = units.given(models)
    fold = np.arange(len(sites[0][1])) % FOLDS
    of = [(y - (X * slopes[fold, k]).sum(1) - intercepts[fold, k]) ** 2 for k, (X, y) in enumerate(sites)]
    return np.array(of) / units.scale[-1] ** 2


def test_intervals_cover_and_the_network_gains():
    """100 gains of sites with four rows per coefficient: at least nine of ten intervals of two errors hold the truth,
    which is exact because rows are normal."""
    inside, errors = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=3) + rng.choice([0.1, 0.4]) * rng.normal(size=(10, 3))
        found, exact = measured(draw(seed, truth, 16, noise=1.0), truth)
        inside += (np.abs(found.gain - exact) < 2 * found.error).tolist()
        errors += ((found.gain - exact) / found.error).tolist()
        np.testing.assert_allclose(found.alone - found.together, found.gain, rtol=1e-9)
    assert np.mean(inside) > 0.9
    assert np.std(errors) > 0.5  # not so wide that nothing could fail


def test_the_network_s_interval_covers_for_few_sites_and_is_no_narrower_than_their_own():
    """Two sites that happen to agree are no evidence: their spread alone covered half of the time."""
    inside = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sites, rows = (2, 3)[seed % 2], 30
        truth = rng.normal(size=3) + rng.choice([0.1, 0.4]) * rng.normal(size=(sites, 3))
        found, exact = measured(draw(seed, truth, rows, noise=1.0), truth)
        inside.append(abs(found.network - exact.mean()) < 2 * found.network_error)
        assert found.network_error >= np.sqrt((found.error**2).sum()) / sites * (1 - 1e-9)  # rounding
    assert np.mean(inside) >= 0.9


def test_scores_are_mean_squares_on_rows_that_the_models_have_not_seen():
    """Row by row, each fold's rows under the models without it; alone and together."""
    sites = draw(3, np.random.default_rng(3).normal(size=(3, 2)), 23)
    units, made, fitted, alone = collaborating(sites)
    found = gains(made, fitted.held_out, np.full(3, 23))
    for score, models in ((found.together, fitted.held_out), (found.alone, alone[1:])):
        np.testing.assert_allclose(score, squares(sites, units, models).mean(1), rtol=1e-9)


def test_errors_are_those_of_single_rows_gains():
    """Beside the spread of all rows' gains, of which means have the variance sum (g - mean)^2/n^2."""
    rng = np.random.default_rng(4)
    rows, sites = 2000, draw(4, rng.normal(size=(3, 2)), 2000, noise=1.0)
    units, made, fitted, alone = collaborating(sites)
    found = gains(made, fitted.held_out + 0.1, np.full(3, rows))  # a model that is worse: a gain
    single = squares(sites, units, alone[1:]) - squares(sites, units, fitted.held_out + 0.1)
    np.testing.assert_allclose(found.gain, single.mean(1), rtol=1e-6)
    exact = np.sqrt(RESAMPLED * ((single - found.gain[:, None]) ** 2).sum(1)) / rows
    # in other draws they differed by 7 %, and by 3 % on average
    np.testing.assert_allclose(found.error, exact, rtol=0.2)


def test_nothing_is_said_of_small_sites():
    sites = [*draw(1, np.ones((2, 2)), 30), *draw(2, np.ones((1, 2)), 8)]
    folds = [[Sums.of_rows(X[f::FOLDS], y[f::FOLDS]) for f in range(FOLDS)] for X, y in sites]
    folds[1] = [Sums.of_rows(*(part[np.arange(30) % FOLDS < 2] for part in sites[1]))]
    sums = Sums.of(folds)
    made = Units.pooled(sums).messages(sums)
    found = gains(made, collaborate(made).held_out, np.array([30, 12, 8]))
    assert np.isfinite(found.gain).tolist() == [True, False, False]
    assert np.isfinite(found.together).tolist() == [True, False, True]  # the second was never held out


@pytest.mark.share(2)
@pytest.mark.parametrize(("columns", "least", "most"), [(3, 2, 4), (8, 3, 8)])
def test_the_network_s_interval_covers_where_sites_have_few_rows(columns, least, most):
    """Beside what the sites with three rows gain exactly: models without a fold have four fifths of the rows, and alone
    a site of few rows is far better with all. Many sites make rows and scatter say that chance is no excuse."""
    inside, errors = [], []
    for seed in range(4):
        rng = np.random.default_rng([seed, columns])
        counts, levels = rng.integers(least, most + 1, size=160), 2 * rng.normal(size=160)
        slopes = rng.normal(size=columns)
        sites = []
        for rows, level in zip(counts, levels):
            X = rng.normal(size=(rows, columns))
            sites.append((X, level + X @ slopes + 0.5 * rng.normal(size=rows)))
        found, each = measured(sites, slopes, levels)
        weights = counts * (counts >= LEAST_ROWS)
        exact = weights @ each / weights.sum()
        assert found.among == (counts >= LEAST_ROWS).sum()
        inside.append(abs(found.network - exact) < 2 * found.network_error)
        errors.append(found.network_error / exact)
    assert np.mean(inside) >= 0.75, inside
    assert np.mean(errors) < 1.0  # not so wide that nothing could fail


def test_sites_of_one_or_two_rows_have_no_gain_to_add():
    """Where no site has three rows the table says that nobody can tell; else over how many sites the gain is."""
    sites = draw(1, np.ones((6, 2)), 30)
    small = [(X[:2], y[:2]) for X, y in sites]
    fit = sf.fit(table(small))
    assert fit.rule["network_gain"] is None
    assert "Nobody can tell what the 6 sites gain: no site has 3 rows." in str(fit).replace("\n", " ")
    fit = sf.fit(table([*sites[:3], *small]))
    assert fit.rule["network_gain_sites"] == 3
    assert "together 3 of 9 sites gain" in str(fit).replace("\n", " ")


@pytest.mark.parametrize("sites", [1, 2, 40, 1000])
def test_no_gain_of_any_site_is_beyond_it_by_chance(sites):
    inside = 2 * NormalDist().cdf(beyond_chance(sites)) - 1
    assert 0.95 <= inside**sites < 0.96
