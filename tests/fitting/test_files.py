"""Models in files: all comes back, and damage is found."""

from __future__ import annotations

import hashlib
import json
import random

import numpy as np
import pytest
from populations import draw, table

import suffice as sf
from suffice import InputError


@pytest.fixture(scope="module")
def fits():
    columns = table(draw(0, np.random.default_rng(0).normal(size=(3, 2)), 20))
    columns["kind"] = list("uvw") * 20
    columns["x1"][::7] = [None] * len(columns["x1"][::7])
    three = np.array(["high", "low", "mid"])[np.digitize(columns["target"], [0, 2])].tolist()
    return {"least-squares": sf.fit(columns), "multinomial": sf.fit(columns | {"target": three})}


@pytest.mark.parametrize("loss", ["least-squares", "multinomial"])
def test_all_comes_back_and_a_digit_that_is_not_what_it_was_is_found(fits, loss, tmp_path):
    """Of the digits 300 at random."""
    path, rng = fits[loss].save(tmp_path / "m.json"), random.Random(0)
    text, back = path.read_text(), sf.load(path)
    assert type(back) is type(fits[loss])
    assert str(back) == str(fits[loss])
    for part in ("clients", "population", "rule", "design", "notes", "left_out"):
        assert getattr(back, part) == getattr(fits[loss], part)
    np.testing.assert_array_equal(back.encoding.matrix, fits[loss].encoding.matrix)
    for at in rng.sample([at for at, letter in enumerate(text) if letter.isdigit()], 300):
        other = rng.choice([digit for digit in "123456789" if digit != text[at]])
        path.write_text(text[:at] + other + text[at + 1 :])
        with pytest.raises(InputError):
            sf.load(path)


def test_no_other_version_is_read(fits, tmp_path):
    path = fits["least-squares"].save(tmp_path / "m.json")
    text = path.read_text()
    for other in (1, 2, 4):
        path.write_text(text.replace("version 3", f"version {other}"))
        with pytest.raises(InputError, match=f"this is 'suffice models, version {other}', not .*; fit again"):
            sf.load(path)
    for wrong in ("{}", text[: len(text) // 2], '{"kind": 3}', "[]", "\x80", text[:-1] + ', "more": 1}'):
        path.write_text(wrong, encoding="latin-1")
        with pytest.raises(InputError, match="no models of suffice fit"):
            sf.load(path)


def test_the_checksum_is_of_the_models_as_they_are_spelt(fits, tmp_path):
    """By other means: of the text between what stands before and after it."""
    content = fits["least-squares"].save(tmp_path / "m.json").read_bytes()
    said = json.loads(content)["sha256"]
    assert hashlib.sha256(content[content.index(b'"models":') + len(b'"models":') : -1]).hexdigest() == said


def test_a_fit_that_could_not_be_read_again_is_not_saved(tmp_path):
    columns = table(draw(0, np.ones((2, 1)), 20))
    fit = sf.fit(columns | {"target": [1e35 * y for y in columns["target"]]})
    with pytest.raises(InputError, match=r"give numbers up to 1e\+60; change units"):
        fit.save(tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()
