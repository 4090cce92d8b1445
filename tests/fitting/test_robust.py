"""No site is hurt by another's mistake: the table of faults, on rows and on messages; names change nothing."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from one_line import one_line as said
from populations import table

import suffice as sf
from suffice.fitting.similar_sites import Likeness
from suffice.simulate.data.folds import FOLDS, Sums

ROWS = 40
SLIP = 17  # of the faulty site's rows, from 0


def scaled(factor, columns=(0, 1)):
    return lambda X, y: (X * np.where(np.isin(np.arange(2), columns), factor, 1.0), y)


def slip(value, column=None):
    def fault(X, y):
        X, y = X.copy(), y.copy()
        (y if column is None else X[:, column])[SLIP] = value
        return X, y

    return fault


AT_SITE = {
    **{f"target x {by:g}": lambda X, y, by=by: (X, y * by) for by in (1e-6, 1e-3, 0.1, 10.0, 1e2, 1e3, 1e6, 1e9)},
    **{f"predictors x {by:g}": scaled(by) for by in (1e-4, 1e4, 1e9)},
    "one predictor x 1e4": scaled(1e4, (0,)),
    "target + 1e9": lambda X, y: (X, y + 1e9),
    "target 1e9 in all rows": lambda X, y: (X, 0 * y + 1e9),
    "sign turned": lambda X, y: (X, -y),
    "labels permuted": lambda X, y: (X, np.random.default_rng(9).permutation(y)),
}
IN_ROW = {
    **{f"target {value:g}": slip(value) for value in (1e2, 1e3, 1e6, 1e9)},
    **{f"predictor {value:g}": slip(value, 0) for value in (1e2, 1e4, 1e9)},
}


def drawn(seed, sites=5, fault=None):
    """Rows of y = x0 - x1 + k/10 + noise; the last of the sites has the fault."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(sites):
        X = rng.normal(size=(ROWS, 2))
        y = X[:, 0] - X[:, 1] + 0.1 * k + 0.3 * rng.normal(size=ROWS)
        found[f"s{k}"] = fault(X, y) if fault is not None and k == sites - 1 else (X, y)
    return found


@cache
def clean(seed, sites, route="rows"):
    """The fit of the first so many sites of five without a fault."""
    return fitted(dict(list(drawn(seed).items())[:sites]), route)


def fitted(sites, route="rows"):
    if route == "rows":
        return sf.fit(table(sites))
    return sf.fit([sf.summarise(table({name: sites[name]}), site=name) for name in sites])


def coefficients(fit):
    return {model.name: np.array([*model.coefficients.values(), model.intercept]) for model in fit}


def excess(fit, names):
    found = coefficients(fit)
    return sum(((found[name] - [1.0, -1.0, 0.1 * int(name[1:])]) ** 2).sum() for name in names)


@pytest.mark.share(6)
@pytest.mark.parametrize("route", ["rows", "messages"])
@pytest.mark.parametrize("fault", AT_SITE)
def test_a_faulty_site_is_named_and_the_others_get_what_they_get_without_it(fault, route):
    sites = drawn(1, fault=AT_SITE[fault])
    fit, told = fitted(sites, route), coefficients(clean(1, 4, route))
    found = coefficients(fit)
    for name, model in told.items():
        np.testing.assert_allclose(found[name], model, rtol=1e-9)  # the same numbers, but for the columns' means
    (entry,) = [entry for entry in fit.to_dict()["rule"]["suspects"] if entry["left_out"] == "site"]
    assert entry["site"] == "s4"
    text = said(fit)
    assert re.search("s4 is (left out|alone): its rows are ", text)
    assert fault in ("sign turned", "labels permuted") or "check its units" in text
    assert all(line.replace("\n", " ") in text for line in fit.notes)
    assert fit["s4"].gain is None
    assert "s4" not in fit["s0"].collaborators


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(10))
def test_a_faulty_site_is_no_reason_to_take_logarithms(seed):
    """Its mean and its noise are both larger: in one draw of ten that was all that the five sites were told."""
    text = said(fitted(drawn(seed, fault=AT_SITE["target x 1e+06"])))
    assert "check its units" in text
    assert "try log" not in text
    assert "together 4 of 5 sites gain" in text
    assert "A site with fewer than" not in text  # the site without a gain has forty rows


@pytest.mark.share(6)
@pytest.mark.parametrize("route", ["rows", "messages"])
@pytest.mark.parametrize("fault", IN_ROW)
def test_a_mistyped_row_is_named_and_hurts_nobody(fault, route):
    sites = drawn(1, fault=IN_ROW[fault])
    fit, honest = fitted(sites, route), list(sites)[:-1]
    assert excess(fit, honest) < 1.1 * excess(clean(1, 4, route), honest)
    assert excess(fit, ["s4"]) < 2.5 * excess(clean(1, 5, route), ["s4"])  # without a fifth of its rows
    (entry,) = fit.to_dict()["rule"]["suspects"]
    assert (entry["site"], entry["left_out"], entry["folds"]) == ("s4", "fold", [SLIP % 5 + 1])
    text = said(fit)
    assert f"Fold {SLIP % 5 + 1} of s4 (its rows 3, 8, 13 and so on) is left out" in text
    if route == "rows":
        assert entry["row"] == f"row {4 * ROWS + SLIP + 1}"
        assert f"row {4 * ROWS + SLIP + 1} has 99." in text


@pytest.mark.share(6)
@pytest.mark.parametrize("fault", AT_SITE)
@pytest.mark.parametrize("seed", [1, 3, 9])
def test_with_three_sites_faults_of_one_are_told_and_hurt_nobody(fault, seed):
    fit, told = fitted(drawn(seed, 3, AT_SITE[fault])), coefficients(clean(seed, 2))
    assert [entry["site"] for entry in fit.rule["suspects"] if entry["left_out"] == "site"] == ["s2"]
    assert "Of three sites, two that are wrong alike" in said(fit)
    for name, model in told.items():
        np.testing.assert_allclose(coefficients(fit)[name], model, rtol=1e-9)


@pytest.mark.share(6)
@pytest.mark.parametrize("fault", [fault for fault in AT_SITE if fault != "target 1e9 in all rows"])
@pytest.mark.parametrize("seed", [102, 103])
def test_of_two_sites_nobody_can_tell_which_is_wrong_and_each_is_fitted_by_itself(seed, fault):
    """A target x 1000 ruined the honest site in these two draws. Where half of the sites have one value of the target
    nobody is suspected."""
    fit = fitted(drawn(seed, 2, AT_SITE[fault]))
    np.testing.assert_allclose(coefficients(fit)["s0"], coefficients(clean(seed, 1))["s0"], rtol=1e-9)
    assert "Of two sites nobody can tell which is wrong" in said(fit)
    assert {entry["site"] for entry in fit.rule["suspects"]} == {"s0", "s1"}


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(100, 104))
def test_two_sites_that_fit_each_other_stay_together(seed):
    """Also with a slip in one row, and with levels that are a hundred deviations apart."""
    for fault in (None, IN_ROW["target 1000"], lambda X, y: (X, y + 100)):
        fit = fitted(drawn(seed, 2, fault))
        assert fit["s0"].weights["s1"] > 0.1
        assert not [entry for entry in fit.rule["suspects"] if entry["left_out"] == "site"]


def test_gaps_are_not_filled_with_a_faulty_site_s_numbers():
    """And a table without its site has the same models, the gaps' mean included."""
    sites = drawn(2, fault=AT_SITE["one predictor x 1e4"])
    rows = {name: np.array(column) for name, column in table(sites).items()}
    rows["x0"] = np.where(np.arange(5 * ROWS) % 7 == 0, np.nan, rows["x0"])
    honest = rows["client"] != "s4"
    found, told = (sf.fit(part) for part in (rows, {name: values[honest] for name, values in rows.items()}))
    assert found.encoding.gaps == told.encoding.gaps
    for name in told.by_name:
        np.testing.assert_allclose(coefficients(found)[name], coefficients(told)[name], rtol=1e-9)


@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
def test_names_and_the_order_of_sites_change_nothing(loss):
    rng = np.random.default_rng(3)
    sizes = [23, 7, 1, 1, 1, 12, 12, 30]
    sites = {}
    for k, size in enumerate(sizes):
        X = rng.normal(size=(size, 2))
        y = X[:, 0] + 0.5 * k * X[:, 1] + rng.normal(size=size)
        sites[f"s{k}"] = (X, y if loss == "least-squares" else (y > 0).astype(float))
    order = rng.permutation(len(sizes))
    first = coefficients(sf.fit(table(sites), loss=loss))
    renamed = coefficients(sf.fit(table({f"ward {name}": rows for name, rows in sites.items()}), loss=loss))
    moved = coefficients(sf.fit(table({f"s{k}": sites[f"s{k}"] for k in order}), loss=loss))
    for name, model in first.items():
        assert (renamed[f"ward {name}"] == model).all()
        np.testing.assert_allclose(moved[name], model, rtol=1e-7)  # sums in another order, through 20 steps


def test_a_site_of_large_noise_and_a_row_with_most_of_a_site_s_loss_are_named():
    sites = drawn(4)
    sites["s2"] = (sites["s2"][0], sites["s2"][1] + 3 * np.random.default_rng(0).normal(size=ROWS))
    fit = fitted(sites)
    assert [entry["site"] for entry in fit.rule["suspects"]][:1] == ["s2"]
    assert "s2 is alone: its rows are " in said(fit)
    rare = drawn(5)
    y = rare["s1"][1].copy()
    y[12] += 4
    text = said(fitted(rare | {"s1": (rare["s1"][0], y)}))
    assert f"row {ROWS + 13} has " in text


def test_a_row_far_from_the_rest_of_a_site_of_few_rows_stays():
    """One of four rows is a quarter of what is known of a site's slopes; one of forty is missed by nobody."""
    found = {}
    for rows in (4, 40):
        rng, folds = np.random.default_rng(0), []
        for k in range(12):
            X = rng.normal(size=(rows, 2))
            y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=rows)
            y[0] += 20 * (k == 5)
            folds.append([Sums.of_rows(X[f::FOLDS], y[f::FOLDS]) for f in range(FOLDS)])
        found[rows] = Likeness.of(Sums.of(folds), np.full(12, rows)).folds.astype(bool).sum()
    assert found == {4: 0, 40: 1}


def test_of_two_sites_few_rows_judge_no_other():
    """Seven rows for seven coefficients say nothing of a site of 26: alike as they were, they were fitted apart in all
    of these draws."""
    apart = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        slopes, folds = rng.normal(size=6), []
        for rows in (26, 7):
            X = rng.normal(size=(rows, 6))
            y = X @ slopes + 0.1 * rng.normal(size=rows)
            folds.append([Sums.of_rows(X[f::FOLDS], y[f::FOLDS]) for f in range(FOLDS)])
        apart.append(Likeness.of(Sums.of(folds), np.array([26, 7])).sites.any())
    assert np.mean(apart) <= 0.2


def test_a_column_of_the_sites_own_makes_nobody_suspect():
    """Its deviation within a site is 0 or rounding, a mean of .7 that is not .7, and no unit for levels; one site is
    large."""
    rng = np.random.default_rng(0)
    folds, counts = [], []
    for k in range(12):
        rows = 12 + k
        X = np.column_stack((rng.normal(size=(rows, 2)), np.full(rows, 0.7 if k % 4 == 0 else 0.3 / 1.7)))
        X = np.column_stack((X, np.full(rows, 20.0 if k == 7 else 1 / (k + 3))))
        y = X[:, 0] - X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=rows)
        folds.append([Sums.of_rows(X[f::FOLDS], y[f::FOLDS]) for f in range(FOLDS)])
        counts.append(rows)
    found = Likeness.of(Sums.of(folds), np.array(counts))
    assert not found.sites.any(), found.sites
