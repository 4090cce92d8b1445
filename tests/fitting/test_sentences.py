"""What a fit says beside the numbers that it speaks of, over drawn tables."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from one_line import one_line as said
from populations import table

import suffice as sf
from suffice.fitting.gain import beyond_chance


def drawn(seed, count=5, rows=40, scatter=0.0, noise=0.3):
    rng = np.random.default_rng(seed)
    sites = {}
    for k in range(count):
        X = rng.normal(size=(rows, 2))
        slopes = np.array([1.0, -1.0]) + scatter * rng.normal(size=2)
        sites[f"s{k}"] = (X, X @ slopes + 0.1 * k + noise * rng.normal(size=rows))
    return sites


def least_squares(X, y):
    return np.linalg.lstsq(np.column_stack((np.ones(len(y)), X)), y, rcond=None)[0]


@pytest.mark.share(6)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fault", [(1.0, -1.0), (1.0, 1e3), (1e4, 1.0), (1e-3, 1.0)])
def test_what_tells_a_site_apart_is_beside_sites_that_are_not_left_out(seed, fault):
    """Both numbers are least squares of the rows that it names, with a level for each site."""
    sites = drawn(seed)
    sites["s4"] = (fault[0] * sites["s4"][0], fault[1] * sites["s4"][1])
    fit = sf.fit(table(sites))
    out = [entry["site"] for entry in fit.rule["suspects"] if entry["left_out"] == "site"]
    assert out == ["s4"]
    (entry,) = fit.rule["groups"]  # the others have nobody to differ from
    assert entry["sites"] == ["s4"]
    assert "as others', and x" in said(fit)
    X, y = (np.concatenate([sites[f"s{k}"][part] for k in range(4)]) for part in (0, 1))
    levels = np.repeat(np.eye(4), 40, axis=0)
    slopes = np.linalg.lstsq(np.column_stack((X, levels)), y, rcond=None)[0]
    column = int(entry["column"][1:])
    np.testing.assert_allclose(entry["others"], slopes[column], rtol=1e-6)
    np.testing.assert_allclose(entry["own"], least_squares(*sites["s4"])[1 + column], rtol=1e-6)


def test_honest_sites_seldom_differ_beside_one_that_is_left_out():
    """Beside seven rows whose predictors have another unit they did in most."""
    found = []
    for seed in range(8):
        sites = drawn(seed)
        sites["s4"] = (1e4 * sites["s4"][0][:7], sites["s4"][1][:7])  # too few rows to differ itself
        found.append(bool(sf.fit(table(sites)).rule["groups"]))
    assert not any(found), found


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(8))
def test_gains_and_losses_beyond_chance_are_called_what_they_are(seed):
    """The gains of a fit are made ones of all signs: the sentence names each by its own."""
    rng = np.random.default_rng(seed)
    fit = sf.fit(table(drawn(seed)))
    gains = rng.choice([-1.0, 0.1, 1.0], size=5)
    clients = tuple(replace(model, gain=gain, gain_se=0.2) for model, gain in zip(fit, gains))
    text = said(replace(fit, clients=clients))
    for what, sign in (("gain", 1.0), ("loss", -1.0)):
        names = [model.name for model in clients if sign * model.gain > beyond_chance(5) * 0.2]
        found = re.search(rf"the {what} at (s\d(?:,? (?:and )?s\d)*)", text)
        assert (re.findall(r"s\d", found[1]) if found else []) == names, text
    assert ("no single site's gain is beyond chance" in text) == (abs(gains) < beyond_chance(5) * 0.2).all()


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(4))
def test_a_site_with_little_but_one_class_is_not_told_to_look_for_a_leak(seed):
    """Its level predicts it as well as a column that gives the class away would; such a column is told."""
    sites = drawn(seed, rows=60, noise=2.0)
    for rare in (0, 1):
        one = np.full(600, -1.0)
        one[:rare] = 1.0
        wide = np.random.default_rng(seed).normal(size=(600, 2))
        assert "give-away" not in said(sf.fit(table(sites | {"s4": (wide, one)}, classes=True)))
    wide = drawn(seed, rows=400, noise=2.0)
    leak = {name: (np.column_stack((X, np.sign(y))), y) for name, (X, y) in wide.items()}
    assert "x2 is 1 or more just where target is yes: a give-away?" in said(sf.fit(table(leak, classes=True)))


def heavy(seed, spread):
    """Lognormal residuals; a tail of that kind has most of a site's squared error in a row."""
    rng = np.random.default_rng(seed)
    return {
        name: (X, X @ [1.0, -1.0] + np.exp(spread * rng.normal(size=len(X))))
        for name, (X, _) in drawn(seed, rows=50).items()
    }


@pytest.mark.share(2)
@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_rows_of_heavy_tails_are_told_and_nobody_is_accused(spread):
    texts = [said(sf.fit(table(heavy(seed, spread)))) for seed in range(15)]
    assert sum("of the squared error of s" in text for text in texts) >= 2  # the facts are told
    assert not any("check its units" in text for text in texts)


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(5))
def test_a_mistyped_number_is_named_and_nobody_s_units_are_doubted_for_a_filled_gap(seed):
    sites = {name: (X * [30, 1], y + 29 * X[:, 0]) for name, (X, y) in drawn(seed).items()}
    X, y = sites["s2"]
    gap = X.copy()
    gap[7, 0] = np.nan
    text = said(sf.fit(table(sites | {"s2": (gap, np.where(np.arange(40) == 7, y + 90, y))})))
    assert "check its units" not in text
    assert "of the squared error of s2" in text
    wrong = np.where(np.arange(40) == 7, y + 1e3, y)
    assert "row 88 has " in said(sf.fit(table(sites | {"s2": (X, wrong)})))


def rounded_like(text, value):
    """Whether a number that is printed in two digits or three is the value."""
    return abs(float(text) - value) <= 0.051 * abs(value)


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(12))
def test_the_answer_is_the_record(seed):
    """Of alike and unlike sites, numbers and classes, one that is left out, or of two rows: verdict, sites, gain with
    two errors, loss alone and of a constant are those of the JSON, weighted by rows."""
    rng = np.random.default_rng(seed)
    sites = drawn(seed, count=int(rng.integers(2, 7)), scatter=[0.0, 0.1, 3.0][seed % 3], noise=rng.choice([0.1, 3.0]))
    if seed % 4 == 1:
        sites["few"] = (rng.normal(size=(2, 2)), rng.normal(size=2))
    if seed % 4 == 3:
        sites |= drawn(seed + 1, count=4)
        sites["s0"] = (sites["s0"][0], 1e3 + sites["s0"][1])
    fit = sf.fit(table(sites, classes=seed % 4 == 2))
    rule, (first, *_) = fit.rule, re.split(r"(?<=\.) (?=site )", said(fit))
    gain, error = rule["network_gain"], rule["network_gain_se"]
    verdict = re.match("Collaboration pays off|Working alone is better|The gain is not significant", first)
    told = [gain > 2 * error, gain < -2 * error, abs(gain) <= 2 * error]
    assert verdict, first
    assert ["Collab", "Workin", "The ga"][told.index(True)] == verdict[0][:6]
    found = re.search(
        r"together (?:the )?(\d+)(?: of (\d+))? sites (gain|lose) (\S+) \+- (\S+) in their mean, of", first
    )
    assert found, first
    assert (int(found[1]), int(found[2] or found[1])) == (rule["network_gain_sites"], len(fit))
    assert abs(float(found[4]) * (-1) ** (found[3] == "lose") - gain) <= 0.1 * error
    assert rounded_like(found[5], 2 * error)
    counted = [one for one in fit if one.rows > 2 and not any("is left out of" in note for note in one.notes)]
    assert len(counted) == rule["network_gain_sites"]
    rows = [one.rows for one in counted]
    alone, together, constant = (
        np.average([getattr(one, f"expected_loss{of}") for one in counted], weights=rows)
        for of in ("_alone", "", "_constant")
    )
    assert re.search("log-loss" if fit.classes else "mean squared error", first)
    printed = re.search(r" of (\S+) alone \(a constant has (\S+)\)", first)
    assert rounded_like(printed[1], alone), (first, alone)
    assert rounded_like(printed[2], constant), (first, constant)
    np.testing.assert_allclose(alone - together, gain, rtol=1e-6)


@pytest.mark.parametrize("classes", [False, True])
def test_the_loss_of_a_constant_is_that_of_means_of_the_other_folds(classes):
    sites = drawn(3, rows=35)
    fit = sf.fit(table(sites, classes=classes))
    for name, (_, y) in sites.items():
        fold, losses = np.arange(35) % 5, []
        for k in range(5):
            kept, out = y[fold != k], y[fold == k]
            share = (np.count_nonzero(kept > 0) + 1) / (len(kept) + 2)
            losses += list(-np.log(np.where(out > 0, share, 1 - share)) if classes else (out - kept.mean()) ** 2)
        np.testing.assert_allclose(fit[name].expected_loss_constant, np.mean(losses), rtol=1e-6)


def test_sites_without_a_gain_are_not_counted_and_told_where_their_loss_is_larger_together():
    """Beside four sites of 40 rows, one of 8 rows with a line of its own that it knows exactly."""
    sites, X = drawn(0, count=4), np.random.default_rng(1).normal(size=(8, 2))
    sites["few"] = (X, X @ [1.6, -0.4])
    fit = sf.fit(table(sites))
    few = fit["few"]
    assert few.gain is None
    assert few.expected_loss > few.expected_loss_alone
    text = " ".join(str(fit).split())
    assert "together the 5 sites" in text
    assert "At few the loss together is larger than that alone. Of the 4 sites with a gain here, " in text
    half = 0.5 / len(fit)
    for model in fit:
        assert set(model.collaborators) == {
            name for name, x in model.weights.items() if name != model.name and x > half
        }
    spread = any(not model.collaborators and model.weights[model.name] < 0.995 for model in fit)
    assert ("Where a site learns from nobody, the rest comes from all others, none above half" in text) == spread


def test_sites_whose_gain_nobody_knows_are_told_why():
    lone, two = drawn(0, count=1), drawn(1, count=2)
    assert said(sf.fit(table(lone))).startswith("There is only one site, whose mean squared error on new rows is ")
    two["s1"] = (two["s1"][0], 1e4 * two["s1"][1])
    assert said(sf.fit(table(two))).startswith("Nobody can tell what the 2 sites gain: they are fitted apart.")
    parts = [sf.summarise({"x": X[:9, 0], "target": y[:9]}, site=name) for name, (X, y) in drawn(2, 3, 12).items()]
    told = said(sf.fit([msgspec.structs.replace(part, folds=part.folds[:1]) for part in parts]))
    assert told.startswith("Nobody can tell what the 3 sites gain: their rows came in one part, so none was held out.")
