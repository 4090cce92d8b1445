"""Messages in files: what they hold, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from populations import draw

import suffice as sf
from suffice import InputError
from suffice.simulate.data.message import read_message


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
        ({"kind": "another"}, "this is 'another'"),
        ({"folds": []}, "0 folds; a message has 5, or one"),
        ({"columns": []}, "does not have 1 means"),
        ({"count": "many"}, "not a message of a site"),
        ({"more": 1}, "not a message of a site"),
    ],
)
def test_damaged_messages_are_refused(written, change, line):
    written.write_text(json.dumps(json.loads(written.read_text()) | change))
    with pytest.raises(InputError, match=line):
        read_message(written)


def test_messages_that_do_not_fit_together(written, tmp_path):
    X, y = draw(2, np.ones((1, 1)), 40)[0]
    with pytest.raises(InputError, match="two messages of one site"):
        sf.fit([written, written])
    other = sf.summarise({"x": X[:, 0], "z": X[:, 0], "target": y}, site="Oslo")
    with pytest.raises(InputError, match="this number is missing at the site"):
        sf.fit([written, other])
    named = sf.summarise({"x": X[:, 0], "y": y}, site="Oslo", target="y")
    with pytest.raises(InputError, match="different targets"):
        sf.fit([written, named])
    with pytest.raises(InputError, match="for classes give the rows"):
        sf.fit([written], loss="logistic")
    with pytest.raises(InputError, match="give messages"):
        sf.fit([3])
