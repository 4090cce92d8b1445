"""LEAF's JSON is read by client, and whatever else is in a folder is named in one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.data.leaf import leaf
from suffice.simulate.data.plays import ALPHABET


def file_of(users: dict[str, tuple[list, list]]) -> str:
    data = {name: {"x": x, "y": y} for name, (x, y) in users.items()}
    return json.dumps({"users": list(users), "num_samples": [len(y) for _, y in users.values()], "user_data": data})


def test_writers_of_all_files_have_images_and_classes(tmp_path):
    (tmp_path / "a.json").write_text(file_of({"f0": ([[0.0, 1.0, 0.5]] * 3, [61, 0, 5]), "f1": ([[1, 1, 1]], [2])}))
    (tmp_path / "b.json").write_text(file_of({"f2": ([[0.25, 0, 0]] * 2, [7, 7])}))
    found = leaf(tmp_path)
    assert list(found) == ["f0", "f1", "f2"]
    X, y = found["f0"]
    np.testing.assert_array_equal(X, np.array([[0, 1, 0.5]] * 3, np.float32))
    assert y.tolist() == [61, 0, 5]
    assert list(leaf(tmp_path, least=2)) == ["f0", "f2"]
    with pytest.raises(sf.InputError, match="of 3 clients the largest has 3 rows"):
        leaf(tmp_path, least=4)


def test_texts_become_places_of_characters(tmp_path):
    (tmp_path / "plays.json").write_text(file_of({"HAMLET": (["To b", "o be"], ["e", ","])}))
    X, y = leaf(tmp_path)["HAMLET"]
    assert ["".join(ALPHABET[at] for at in row) for row in X] == ["To b", "o be"]
    assert "".join(ALPHABET[at] for at in y) == "e,"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (file_of({"a": ([[1.0]], [1])})[:-5], "Input data was truncated; give a folder"),
        ('{"users": ["a"], "user_data": {}}', "user in some.json = 'a': it has no rows in user_data"),
        ('{"rows": 3}', "give a folder of LEAF's .json files"),
        ("[1, 2]", "give a folder of LEAF's .json files"),
        (file_of({"a": ([[1.0]], [1, 2])}), "1 x and 2 y"),
        (file_of({"a": ([[1.0], [1.0, 2.0]], [1, 2])}), "give rows of one length"),
        (file_of({"a": ([[1.0]], [1.5])}), "Expected `int | str`, got `float`"),
        (file_of({"a": (["ab", "abc"], ["c", "d"])}), "give rows of one length"),
    ],
    ids=["cut off", "no rows", "other JSON", "a list", "lengths", "ragged", "fractions", "ragged texts"],
)
def test_what_is_not_leaf_is_named(tmp_path, content, message):
    (tmp_path / "some.json").write_text(content)
    with pytest.raises(sf.InputError) as caught:
        leaf(tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_json_and_a_user_in_two_files(tmp_path):
    with pytest.raises(sf.InputError, match="give a folder of LEAF's"):
        leaf(tmp_path)
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(file_of({"f0": ([[1.0]], [1])}))
    with pytest.raises(sf.InputError, match="an earlier file has this user"):
        leaf(tmp_path)
    with pytest.raises(sf.InputError, match=r"memory for a\.json"):
        leaf(tmp_path, max_memory=10)
