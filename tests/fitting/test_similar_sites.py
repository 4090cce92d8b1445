"""Groups of sites are named and not accused; a lone site is alone; counts are told to take logarithms."""

from __future__ import annotations

import re

import numpy as np
import pytest
from one_line import one_line as said
from populations import folded, table

import suffice as sf
from suffice import InputError
from suffice.fitting.assembly import named
from suffice.fitting.similar_sites import Likeness


def drawn(seed, sizes, rows=50, noise=0.7):
    """Rows (X, y) of groups of so many sites, each with slopes and a level of its own, and the group of each site."""
    rng = np.random.default_rng([seed, *sizes])
    sites = []
    for size in sizes:
        slopes, level = rng.normal(size=3), rng.normal()
        for _ in range(size):
            X = rng.normal(size=(rows, 3))
            sites.append((X, level + X @ slopes + noise * rng.normal(size=rows)))
    return sites, np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.share(3)
@pytest.mark.parametrize("rows", [15, 50])
@pytest.mark.parametrize("sizes", [(7,), (4, 3), (5, 2), (3, 3, 2), (6, 1)])
@pytest.mark.parametrize("draws", [range(25), pytest.param(range(25, 200), marks=pytest.mark.slow)], ids=str)
def test_groups_are_those_that_were_drawn_and_none_of_their_sites_is_suspected(sizes, rows, draws):
    """Nor any of its folds; of fifteen rows groups are seldom told."""
    right = 0
    for seed in draws:
        sites, group = drawn(seed, sizes, rows)
        folds, names = folded(sites), [f"s{k}" for k in range(len(sites))]
        like = Likeness.of(folds, np.full(len(sites), rows))
        assert not like.sites[np.bincount(group)[group] > 1].any(), seed
        assert not like.folds.any(), seed
        found = named(like, folds, names, ["x0", "x1", "x2"], np.arange(len(names)))
        wanted = [[names[k] for k in np.flatnonzero(group == g)] for g in range(len(sizes)) if len(sizes) > 1]
        right += sorted(entry["sites"] for entry in found) == sorted(wanted)
    assert rows < 50 or right >= 0.8 * len(draws), right


@pytest.mark.share(2)
def test_members_of_a_group_stay_where_noise_differs_between_sites():
    """By a factor of up to four, which is no fault."""
    for seed in range(50):
        rng, sites = np.random.default_rng(seed), []
        for slopes in rng.normal(size=(2, 3))[[0, 0, 0, 0, 1, 1, 1]]:
            X = rng.normal(size=(40, 3))
            sites.append((X, X @ slopes + rng.choice([0.4, 0.8, 1.6]) * rng.normal(size=40)))
        assert not Likeness.of(folded(sites), np.full(7, 40)).sites.any(), seed


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(3))
def test_a_group_is_named_with_what_tells_it_apart(seed):
    """Its coefficient and that of the others are least squares with a level for each site, by another route."""
    sites, _ = drawn(seed, (4, 3))
    fit = sf.fit(table(sites))
    text = said(fit)
    assert "check its units" not in text
    assert [entry["sites"] for entry in fit.rule["groups"]] == [["s0", "s1", "s2", "s3"], ["s4", "s5", "s6"]]
    for entry, mine in zip(fit.rule["groups"], (range(4), range(4, 7))):
        for chosen, value in ((mine, entry["own"]), (set(range(7)) - set(mine), entry["others"])):
            X, y = (np.concatenate([sites[k][part] for k in sorted(chosen)]) for part in (0, 1))
            levels = np.repeat(np.eye(len(chosen)), 50, axis=0)
            slopes = np.linalg.lstsq(np.column_stack((X, levels)), y, rcond=None)[0]
            np.testing.assert_allclose(value, slopes[int(entry["column"][1:])], rtol=1e-6)
        gains = [fit[name].gain for name in entry["sites"]]
        np.testing.assert_allclose(entry["gain"], np.mean(gains), rtol=1e-9)  # as many rows each
    assert "s4, s5, s6 are alike and differ from the others: x" in text
    assert any("are alike" in note for note in fit.notes)


@pytest.mark.share(2)
@pytest.mark.parametrize("noise", [0.1, 0.7])
@pytest.mark.parametrize("seed", range(6))
def test_a_lone_site_of_another_law_is_neither_accused_nor_collaborates(seed, noise):
    """However little noise there is beside what tells it apart."""
    sites, _ = drawn(seed, (6, 1), noise=noise)
    fit = sf.fit(table(sites))
    text = said(fit)
    assert "check its units" not in text
    assert text.count("s6 is ") == 1
    assert len(fit.rule["suspects"]) == 1 or "s6 is like no other site: x" in text
    for entry in fit.rule["suspects"]:
        assert (entry["site"], entry["left_out"]) == ("s6", "site")
        assert fit["s6"].collaborators == ()
        assert re.search(
            "s6 is alone: its rows are .* times as far from the others' models as others', and x. has ", text
        )
    kept = sf.fit(table(sites), keep=["s6"])
    assert not kept.rule["suspects"]
    assert kept["s0"].weights["s6"] != 0


def test_a_site_that_is_kept_has_a_name():
    with pytest.raises(InputError, match="keep = 's9': name a site of the table"):
        sf.fit(table(drawn(0, (3,))[0]), keep=["s9"])


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("count", "rows"), [(10, 40), (59, 4)])
def test_sites_of_counts_are_told_to_take_logarithms_and_not_to_check_units(seed, count, rows):
    rng = np.random.default_rng(seed)
    sites = []
    for k in range(count):
        X = rng.normal(size=(rows, 3))
        sites.append((X, rng.poisson(np.exp(1 + 4 * k / (count - 1) + 0.2 * X[:, 0])).astype(float)))
    text = said(sf.fit(table(sites)))
    assert "try log(1 + target)" in text
    assert "check its units" not in text
    assert "look for a slip" not in text
    assert "try log(1 + target)" not in str(sf.fit(table(drawn(seed, (7,))[0])))


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(4))
def test_nobody_is_told_to_check_units_where_rows_are_few_or_a_share_hardly_varies(seed):
    """Ten states in seven years, of ten columns; one is a share that creeps, and far at one of them."""
    rng = np.random.default_rng(seed)
    for columns in (3, 10):
        sites = []
        for k in range(10):
            X = rng.normal(size=(20 if columns == 3 else 7, columns))
            X[:, 1] = (60 if k == 9 else 0.1 * k) + 0.005 * rng.normal(size=len(X))
            sites.append((X, X[:, 0] + 3 * rng.normal() + rng.normal(size=len(X))))
        assert "check its units" not in said(sf.fit(table(sites)))
