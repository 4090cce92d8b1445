"""Messages in files: what they hold, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from populations import draw

import suffice as sf
from suffice import InputError
from suffice.fitting.message import read_message


@pytest.fixture
def written(tmp_path):
    X, y = draw(0, np.ones((1, 2)), 40)[0]
    kind = np.where(X[:, 0] > 0, "u", "v")
    return sf.summarise({"x": X[:, 1], "kind": kind, "target": y}, site="Lyon").write(tmp_path / "lyon.json")


def test_a_message_comes_back_to_the_last_digit(written):
    message = read_message(written)
    assert (message.site, message.target, message.count) == ("Lyon", "target", 40)
    assert message.design.names == ("x", "kind=u", "kind=v")
    again = read_message(message.write(written.with_name("again.json")))
    for one, other in zip(message.folds, again.folds):
        np.testing.assert_array_equal(one.products, other.products)
        np.testing.assert_array_equal(one.products, one.products.T)


def test_a_column_that_names_the_site_is_no_predictor():
    rows = {"place": ["Lyon"] * 40, "x": np.arange(40.0), "target": np.arange(40.0) % 7}
    with pytest.raises(InputError, match="column place = 'Lyon': it names the site in every row"):
        sf.summarise(rows, site="Lyon")
    assert sf.summarise(rows, site="Lyon", client="place").design.names == ("x",)


def test_levels_that_only_one_site_has(written, tmp_path):
    """A level is 0 at a site that never has it, wherever its column stands in the other's message."""
    X, y = draw(1, np.ones((1, 1)), 40)[0]
    kind = np.array(["t", "u"] * 20)
    other = sf.summarise({"x": X[:, 0], "kind": kind, "target": y}, site="Oslo")
    fit = sf.fit([written, other])
    assert set(fit["Oslo"].coefficients) == {"x", "kind=t", "kind=v"}  # u is what most rows have
    rows = sf.fit([other, written])
    for name in ("Oslo", "Lyon"):
        np.testing.assert_allclose(rows[name].intercept, fit[name].intercept, rtol=1e-7)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"kind": "another"}, "Invalid value 'another'"),
        ({"folds": []}, "0 folds; a message has 5, or one"),
        ({"columns": []}, r"give shape \(1\)"),
        ({"count": "many"}, "not a message of a site"),
        ({"more": 1}, "not a message of a site"),
        ({"count": 41}, "do not add up to its count 41"),
        ({"count": 0}, "count of the message of Lyon = 0: give a whole number, at least 1"),
        ({"site": "Lyon\n"}, "control characters"),
        ({"site": " "}, "without letters"),
        ({"target": "y\x1b[2J"}, "control characters"),
    ],
)
def test_damaged_messages_are_refused(written, change, line):
    written.write_text(json.dumps(json.loads(written.read_text()) | change))
    with pytest.raises(InputError, match=line):
        read_message(written)


def products(column, factor):
    def changed(folds):
        folds[2]["products"][(column + 1) * (column + 2) // 2 - 1] *= factor

    return changed


DAMAGED = {
    **{
        f"square {column} x {by}": products(column, by)
        for column, by in ((0, -1), (1, -1), (1, 0.2), (3, -1), (3, 0.2))
    },
    "rows below 0": lambda folds: folds[0].update(rows=-8.0),
    "half a row": lambda folds: folds[0].update(rows=7.5),
    "mean": lambda folds: folds[0]["mean"].__setitem__(0, 1e61),
    "product": lambda folds: folds[0]["products"].__setitem__(0, 1e61),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_numbers_that_no_rows_have_are_refused(written, name):
    """A negative square, one too small for what it goes with; no count of rows; numbers beyond what is taken."""
    record = json.loads(written.read_text())
    DAMAGED[name](record["folds"])
    record["count"] = round(sum(fold["rows"] for fold in record["folds"]))
    written.write_text(json.dumps(record))
    with pytest.raises(InputError, match="positive semidefinite|zeros and ones" if "square" in name else "message"):
        read_message(written)


def test_messages_that_do_not_fit_together(written, tmp_path):
    X, y = draw(2, np.ones((1, 1)), 40)[0]
    with pytest.raises(InputError, match="two messages of one site"):
        sf.fit([written, written])
    other = sf.summarise({"x": X[:, 0], "z": X[:, 0], "target": y}, site="Oslo")
    with pytest.raises(InputError, match="either all sites send it, or none does"):
        sf.fit([written, other])
    named = sf.summarise({"x": X[:, 0], "y": y}, site="Oslo", target="y")
    with pytest.raises(InputError, match="different targets"):
        sf.fit([written, named])
    with pytest.raises(InputError, match="needs the rows of all sites; messages are for numbers"):
        sf.fit([written], loss="logistic")
    with pytest.raises(InputError, match="give messages"):
        sf.fit([3])


@pytest.mark.share(2)
@pytest.mark.parametrize("scale", [1e-180, 1e-8, 1.0, 1e12, 1e20])
@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("rows", [2, 5, 40, 20_000])
def test_whatever_rows_have_is_read_again(scale, shift, rows, tmp_path):
    """Far from 0, columns that repeat each other or never vary, gaps: rounding is no lie."""
    rng = np.random.default_rng(rows)
    x = scale * (rng.normal(size=rows) + shift)
    table = {
        "x": x,
        "twice": 2 * x,
        "same": np.full(rows, 3.3 * scale),
        "gap": np.where(rng.random(rows) < 0.4, np.nan, rng.normal(size=rows)),
        "kind": [*"uv", *rng.choice(list("uvw"), rows)][:rows],
        "target": x + scale * rng.normal(size=rows),
    }
    message = sf.summarise(table, site="Lyon", reveal=True)
    again = read_message(message.write(tmp_path / "m.json"))
    for one, other in zip(message.folds, again.folds):
        np.testing.assert_array_equal(np.tril(one.products), np.tril(other.products))


def test_a_site_is_told_of_numbers_that_no_message_may_hold():
    x = np.random.default_rng(0).normal(size=40)
    with pytest.raises(InputError, match=r"products of the message of Lyon = .*: give numbers up to"):
        sf.summarise({"x": 1e40 * x, "target": x}, site="Lyon")
