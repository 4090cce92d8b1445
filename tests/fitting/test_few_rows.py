"""A wild row at a site of few rows hurts no other site, and a fair one keeps what it tells."""

from __future__ import annotations

import numpy as np
import pytest
from populations import table

import suffice as sf

ROWS, SITES = 40, 5


def drawn(seed, few, scatter=0.0):
    """Rows (X, y) of five sites and of one with `few` rows, and every site's true level and slopes; levels scatter."""
    rng = np.random.default_rng([seed, few])
    levels = 0.1 * np.arange(SITES + 1) + scatter * rng.normal(size=SITES + 1)
    slopes = np.tile([1.0, -1.0], (SITES + 1, 1))
    sites = {}
    for k, rows in enumerate([ROWS] * SITES + [few]):
        X = rng.normal(size=(rows, 2)) + 1
        sites[f"s{k}"] = (X, levels[k] + X @ slopes[k] + 0.3 * rng.normal(size=rows))
    return sites, levels, slopes


def loss(model, level, slopes):
    """Exact, of new rows of the site: noise, and what the model is off by at means of 1 and variances of 1."""
    off = np.array(list(model.coefficients.values())) - slopes
    return 0.09 + (off**2).sum() + (off.sum() + model.intercept - level) ** 2


def total(sites):
    """A trailing line of sums."""
    X, y = (np.concatenate([site[part] for site in sites.values()]).sum(0) for part in (0, 1))
    return X[None], np.array([y])


def wild(by, column=None):
    def fault(X, y):
        X, y = X.copy(), y.copy()
        (y if column is None else X[:, column])[0] += by
        return X, y

    return fault


FAULTS = {f"target + {by:g}": wild(by) for by in (-10.0, 30.0, 1e3, 1e5)}
FAULTS |= {"predictor + 100": wild(100.0, 0), "predictor + 1e4": wild(1e4, 1)}


@pytest.mark.share(4)
@pytest.mark.parametrize("few", [1, 3, 8, *(pytest.param(few, marks=pytest.mark.slow) for few in (2, 5, 12))])
@pytest.mark.parametrize("fault", [*FAULTS, "total"])
def test_a_wild_row_of_a_small_site_costs_the_others_at_most_a_tenth(fault, few):
    """Of their exact losses summed, beside those of a fit without the site."""
    if fault == "total" and few > 1:
        return
    sites, levels, slopes = drawn(0, few)
    last = sites.pop(f"s{SITES}")
    told = sf.fit(table(sites))
    faulty = total(sites) if fault == "total" else FAULTS[fault](*last)
    found = sf.fit(table(sites | {f"s{SITES}": faulty}))
    sums = [sum(loss(fit[name], levels[k], slopes[k]) for k, name in enumerate(sites)) for fit in (found, told)]
    assert sums[0] <= 1.1 * sums[1]


@pytest.mark.parametrize("few", [1, 2, 4])
def test_a_fair_site_of_few_rows_keeps_its_information(few):
    """Where levels scatter its rows tell its own: half of a common model's loss. It is seldom left out of the others'
    models, and has a model with its rows even then."""
    ratios, out = [], []
    for seed in range(10):
        alike = sf.fit(table(drawn(seed, few)[0])) if seed < 6 else None
        assert alike is None or not [entry for entry in alike.rule["suspects"] if entry["left_out"]]
        sites, levels, slopes = drawn(seed, few, scatter=3.0)
        found = sf.fit(table(sites))
        out.append(any(entry["left_out"] for entry in found.rule["suspects"]))
        own = f"s{SITES}"
        assert found[own].weights[own] > 0.1
        ratios.append(loss(found[own], levels[-1], slopes[-1]) / loss(found.population, levels[-1], slopes[-1]))
    assert sum(out) <= 1, out
    assert np.median(ratios) < 0.5, ratios


def test_a_small_site_that_is_left_out_has_the_common_model():
    """Not that of the fit with its wild row, and no more of anybody's influence than the others have on each other."""
    sites, levels, slopes = drawn(3, 1)
    sites[f"s{SITES}"] = wild(1e3)(*sites[f"s{SITES}"])
    found = sf.fit(table(sites))[f"s{SITES}"]
    assert loss(found, levels[-1], slopes[-1]) < 0.3
    assert found.weights[found.name] == 0.0
    np.testing.assert_allclose(sum(found.weights.values()), 1.0, rtol=1e-9)
