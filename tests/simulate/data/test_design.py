"""What columns are taken for: texts of numbers, words for missing ones, and strays."""

from __future__ import annotations

import numpy as np
import pytest
from populations import draw, table

import suffice as sf
from suffice import InputError
from suffice.simulate.data.frame import frame_of


def texts(columns):
    return {name: [str(value) for value in values] for name, values in columns.items()}


def test_columns_of_texts_are_read_as_the_cells_of_a_file(tmp_path):
    """As `csv.DictReader` gives them: numbers in texts, gaps as empty texts, also among objects of other kinds."""
    columns = texts(table(draw(3, np.ones((3, 2)), 15)))
    columns["x0"][3], columns["x1"][7], columns["target"][11] = "", "k. A.", " "
    rows = zip(*columns.values())
    (tmp_path / "t.csv").write_text("\n".join([",".join(columns), *(",".join(row) for row in rows)]))
    expected = [model.to_dict() for model in sf.fit(tmp_path / "t.csv")]
    mixed = columns | {"x0": np.array([float(cell) if cell else None for cell in columns["x0"]], dtype=object)}
    mixed["x0"][5] = columns["x0"][5]
    for given in (columns, {name: np.array(cells, dtype=object) for name, cells in columns.items()}, mixed):
        assert [model.to_dict() for model in sf.fit(given)] == expected
    rows = {name: cells for name, cells in columns.items() if name != "client"}
    assert sf.summarise(rows, site="a").design.names == ("x0", "x0=missing", "x1", "x1=missing")
    sites = frame_of({"client": ["01", "1", " NA"]}, texts=["client"]).texts("client")
    assert sites.to_list() == ["01", "1", None]


def test_words_for_missing_are_gaps_among_numbers_levels_among_texts_and_counted():
    columns = texts(table(draw(3, np.ones((2, 1)), 20)))
    columns["shift"] = ["k.A.", "late"] * 20
    columns["x0"][:3], columns["target"][5] = ["K.A.", "-", ""], "n/a."
    fit = sf.fit(columns)
    said = " | ".join((*fit.left_out, *fit.notes))
    assert "3 cells read as missing (K.A. 1, - 1, empty 1)" in said
    assert "shift: k.A. is a level, though missing among numbers" in said
    assert "1 rows without a target are left out (n/a. 1)" in said


@pytest.mark.parametrize("length", [3, 20, 60, 400])
def test_a_note_on_a_column_has_at_most_96_characters(length):
    """Whatever its name, its levels and its gaps are."""
    name, rng = "n" * (length - 1), np.random.default_rng(0)
    columns = texts(table(draw(3, np.ones((3, 2)), 20)))
    columns[name + "1"] = rng.choice(["yes" * length, "Yes" + "yes" * (length - 1), "-", ""], 60).tolist()
    columns[name + "2"] = [*rng.normal(size=57).astype(str), "-", "n/a", "unknown"]
    columns[name + "3"] = [f"{'x' * length}{row}" for row in range(60)]
    columns[name + "4"] = ["7"] * 60
    found = sf.fit(columns).left_out
    assert len(found) == 8
    assert all(len(f"Left out or changed: {note}.") <= 96 for note in found)
    for said in (
        "read as missing",
        "differ only in capitals",
        "though missing among numbers",
        "dropped",
        "filled with",
    ):
        assert any(said in note for note in found)


def test_all_strays_of_all_columns_are_told_at_once_with_their_lines(tmp_path):
    columns = texts(table(draw(3, np.ones((2, 3)), 20)))
    columns["x0"][4] = columns["x0"][9] = "broken"
    columns["x2"][7], columns["target"][0] = "> 9", "lost"
    (tmp_path / "t.csv").write_text("\n".join([",".join(columns), *(",".join(row) for row in zip(*columns.values()))]))
    for reader in (sf.fit, sf.read):
        with pytest.raises(InputError) as caught:
            reader(tmp_path / "t.csv")
        for said in (
            "column x0 = 'broken': other entries are numbers",
            "(2 cells, the first in line 6 of t.csv (",
            "column x2 = '> 9'",
            "column target = 'lost'",
            "(1 cell, in line 2 of t.csv",
        ):
            assert said in str(caught.value)
        assert "x1" not in str(caught.value)
        with pytest.raises(InputError, match=r"^column target"):
            reader(tmp_path / "t.csv", drop=["x0", "x2"])
