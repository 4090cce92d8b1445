"""Weights of rows: what a common factor, equal weights, and weights of 0 may change, which is nothing."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from populations import draw, table

import suffice as sf
from suffice import InputError
from suffice.simulate.data.message import read_message

TRUTH = np.random.default_rng(5).normal(size=(4, 2))


def drawn(*, classes=False, rows=30):
    made = table(draw(1, TRUTH, rows, noise=1.0))
    if classes:
        made["target"] = ["a" if value > 1 else "b" for value in made["target"]]
    return made


def some_weights(rows=120):
    return np.exp(np.random.default_rng(2).normal(size=rows))


def numbers(fit):
    """Of all sites intercept, slopes, losses, gain and its error, then the network's."""
    each = [
        [one.intercept, *one.coefficients.values(), one.expected_loss, one.expected_loss_alone, one.gain, one.gain_se]
        for one in fit
    ]
    return np.array([*np.ravel(each), fit.rule["network_gain"], fit.rule["network_gain_se"]], dtype=float)


def of_site(made, site):
    mine = [at for at, name in enumerate(made["client"]) if name == site]
    return {column: [values[at] for at in mine] for column, values in made.items() if column != "client"}


def sent(made):
    return [
        sf.summarise(of_site(made, site), site=site, weight="w", reveal=True) for site in dict.fromkeys(made["client"])
    ]


@pytest.mark.parametrize("route", ["rows", "classes", "messages"])
def test_weights_count_up_to_a_common_factor(route):
    made, weights = drawn(classes=route == "classes"), some_weights()

    def found(values):
        weighed = made | {"w": values.tolist()}
        return numbers(sf.fit(sent(weighed) if route == "messages" else weighed, weight="w"))

    one = found(weights)
    assert np.isfinite(one).all()
    for factor in (1e-30, 7.0, 1e20):
        # what rounding makes of sums, through solves of condition below 1e4
        np.testing.assert_allclose(found(factor * weights), one, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("weight", [0.1, 1000.0])
def test_equal_weights_are_none(classes, weight):
    made = drawn(classes=classes)
    plain, weighed = (sf.fit(made).to_dict(), sf.fit(made | {"w": [weight] * 120}, weight="w").to_dict())
    more = 0 if classes else 5  # a message of five folds says their weights
    assert weighed["rule"].pop("numbers_per_site") == plain["rule"].pop("numbers_per_site") + more
    assert weighed == plain


@pytest.mark.parametrize("classes", [False, True])
def test_a_row_of_weight_0_is_as_if_absent(classes):
    """With a text, a level, a gap and a site that no other row has."""
    made, weights = drawn(classes=classes), some_weights()
    made["kind"] = ["u", "v"] * 60
    kept = np.arange(120) % 4 != 1
    weights[~kept] = 0.0
    weights[:30], kept[:30] = 0.0, False
    part = {name: [value for value, keep in zip(column, kept) if keep] for name, column in made.items()}
    gone = np.flatnonzero(~kept)
    made["kind"][gone[3]], made["x0"][gone[4]], made["x1"][gone[5]] = "w", None, 1e9
    fit = sf.fit(made | {"w": weights.tolist()}, weight="w")
    without = sf.fit(part | {"w": weights[kept].tolist()}, weight="w")
    np.testing.assert_array_equal(numbers(fit), numbers(without))
    assert [model.name for model in fit] == [model.name for model in without] == ["s1", "s2", "s3"]
    assert set(fit.notes) - set(without.notes) == {
        f"{len(gone)} rows of weight 0 are left out",
        "sites whose rows all weigh 0 are left out: s0",
    }


def test_rows_that_hardly_weigh_are_hardly_rows():
    """Neither of the models, nor of the errors: their rows, not their number, are a fold's. The last five of each site,
    so that folds stay as they are."""
    made, weights = drawn(), some_weights()
    light = np.arange(120) % 30 >= 25
    part = {name: [value for value, out in zip(column, light) if not out] for name, column in made.items()}
    without = numbers(sf.fit(part | {"w": weights[~light].tolist()}, weight="w"))
    weights[light] *= 1e-9
    # a share of 1e-9 of all sums, times the condition of the solves
    np.testing.assert_allclose(numbers(sf.fit(made | {"w": weights.tolist()}, weight="w")), without, rtol=1e-6)


def test_a_few_heavy_rows_are_few_rows():
    made = drawn()
    few = [100.0 if at % 30 < 3 and name == "s0" else 1.0 for at, name in enumerate(made["client"])]
    fit = sf.fit(made | {"w": few}, weight="w")
    effective = (300 + 27) ** 2 / (30000 + 27)
    assert fit["s0"].gain is None
    assert f"30 rows tell as much as {effective:.3g} rows alike, fewer than 3 per" in fit["s0"].notes[0]
    assert "By their weights, rows tell as little as fewer than 9 do at s0" in " ".join(str(fit).split())


def test_messages_give_the_fit_of_all_rows(tmp_path):
    made = drawn() | {"w": some_weights().tolist()}
    paths = [message.write(tmp_path / f"{message.site}.json") for message in sent(made)]
    # sums in another order
    np.testing.assert_allclose(numbers(sf.fit(paths)), numbers(sf.fit(made, weight="w")), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("heavy", [1e-3, 1e3])
def test_a_faulty_site_is_seen_and_forgotten_whatever_its_rows_weigh(heavy):
    made = table(draw(1, np.ones((5, 2)), 30))
    made["target"] = [value * (9 if name == "s4" else 1) for value, name in zip(made["target"], made["client"])]
    weights = some_weights(150) * np.repeat([1, 1, 1, 1, heavy], 30)
    fit = sf.fit(made | {"w": weights.tolist()}, weight="w")
    assert [entry["site"] for entry in fit.rule["suspects"] if entry["left_out"] == "site"] == ["s4"]
    others = {name: column[:120] for name, column in made.items()} | {"w": weights[:120].tolist()}
    without = sf.fit(others, weight="w")
    for model in without:
        np.testing.assert_allclose(model.intercept, fit[model.name].intercept, rtol=1e-9)
        assert fit[model.name].gain_se == pytest.approx(model.gain_se, rel=1e-9)


def test_weights_do_not_hide_how_few_rows_a_fold_has():
    """A fold of one row is that row, whatever it weighs."""
    one = of_site(drawn(rows=5), "s0") | {"w": [1000.0] * 5}
    message = sf.summarise(one, site="s0", weight="w")
    assert len(message.folds) == 1
    assert message.folds[0].effective == pytest.approx(5, rel=1e-12)


def test_one_heavy_row_among_light_ones_is_no_message():
    one = of_site(drawn(), "s0") | {"w": [1e12, *[1.0] * 29]}
    with pytest.raises(InputError, match=r"^rows of site s0 = 1\.0: its message is one row, or nearly"):
        sf.summarise(one, site="s0", weight="w")


@pytest.mark.parametrize("light", [1e-4, 1e-9])
@pytest.mark.parametrize("classes", [False, True])
def test_a_site_that_weighs_little_beside_others_has_no_gain_of_its_own(classes, light):
    """The penalty of all sites draws its model to a constant, so that others would seem to help it greatly."""
    made = drawn(classes=classes)
    made |= {"w": [light if name == "s0" else 1.0 for name in made["client"]]}
    fit = sf.fit(made, weight="w")
    assert fit["s0"].gain is None
    assert all(one.gain is not None for one in fit if one.name != "s0")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "an older suffice said nothing: write it anew"),
        ({"weight": 0.0}, "weight of the message of s0 = 0.0: give a number >= 1e-60"),
        ({"weight": 1e-3}, "no 30 rows have such weights"),
        ({"weight": 1e3}, "no 30 rows have such weights"),
    ],
)
def test_messages_of_weights_that_no_rows_have(change, line, tmp_path):
    made = of_site(drawn(), "s0") | {"w": some_weights()[:30].tolist()}
    path = sf.summarise(made, site="s0", weight="w", reveal=True).write(tmp_path / "s0.json")
    record = json.loads(path.read_text())
    del record["folds"][2]["weight"]
    record["folds"][2] |= change
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=line):
        read_message(path)


@pytest.mark.parametrize("text", ["1_0", "\uff11", "\u0663", "heavy", "-1", "nan", "", "inf"])
@pytest.mark.parametrize("everywhere", [True, False])
def test_weights_that_are_no_numbers(text, everywhere, tmp_path, refused):
    made = drawn(rows=5)
    lines = [
        f"{site},{x},{y},{text if everywhere or at == 7 else 1}"
        for at, (site, x, y) in enumerate(zip(made["client"], made["x0"], made["target"]))
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["client,x,target,w", *lines]))
    line = refused("fit", path, "--weight", "w")
    assert "w" in line
    assert "finite" in line


def test_sites_that_weigh_nothing(tmp_path, command):
    made = drawn() | {"w": [0.0] * 30 + [1.0] * 90}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = " ".join(str(sf.fit(made, weight="w")).split())
    assert "sites whose rows all weigh 0 are left out: s0" in shown
    assert "in one part" not in shown
    with pytest.raises(InputError, match="no row has a weight above 0"):
        sf.summarise(of_site(made, "s0"), site="s0", weight="w")


def test_rows_keep_their_numbers_beside_rows_of_weight_0():
    made = drawn() | {"w": [0.0] * 10 + [1.0] * 110}
    made["target"][17] += 1000.0
    (entry,) = [entry for entry in sf.fit(made, weight="w").rule["suspects"] if entry["row"]]
    assert entry["row"] == "row 18"
