"""`suffice.read` of a mapping of columns beside the same numbers by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest
from populations import draw, table

import suffice as sf
from suffice import InputError


def test_a_mapping_is_read_as_the_arrays_are():
    sites = draw(0, np.ones((3, 2)), 20)
    by_columns = sf.read(table(sites))
    by_arrays = sf.from_arrays([X for X, _ in sites], [y for _, y in sites], names=["s0", "s1", "s2"])
    np.testing.assert_allclose(by_columns.optimum.numpy(), by_arrays.optimum.numpy(), rtol=1e-12)
    assert by_columns.names == by_arrays.names


def test_what_is_left_out_of_a_table_is_said_as_a_fit_says_it():
    rng = np.random.default_rng(5)
    y, x = rng.normal(size=40), rng.normal(size=40)
    y[[3, 8, 39]], x[[3, 7]] = np.nan, [99, np.nan]  # the gap takes the mean of the rows that are used
    sites = [*["a", "b", "c"] * 13, "d"]
    columns = {"client": sites, "kind": rng.choice(["u", "v", "v"], 40), "x": x, "seven": [7] * 40, "target": y}
    problem, fit = sf.read(columns), sf.fit(columns)
    said = {f"Left out or changed: {note}." for note in fit.left_out} | {f"Note: {note}." for note in fit.notes}
    assert set(problem.remarks) == said
    assert len(said) == 7
    assert any("x is 99 in 1 row of a, -" in note for note in said)
    kept = {name: values for name, values in columns.items() if name != "seven"}
    np.testing.assert_allclose(problem.optimum.numpy(), sf.read(kept).optimum.numpy(), rtol=1e-12)
    plan = sf.plan(problem, "10%")
    for text in (str(plan), " ".join(plan.to_dict()["notes"]), str(sf.statistics(problem))):
        assert "seven: the same in all rows" in " ".join(text.split())


def test_what_a_frame_cannot_be_is_refused():
    columns = table(draw(2, np.ones((2, 1)), 5))
    with pytest.raises(InputError, match="has a column client that names clients"):
        sf.read(columns, split="iid:2")
    with pytest.raises(InputError, match=r"give a number, .* for two classes use loss logistic"):
        sf.read(columns | {"target": ["u"] * 10})
    with pytest.raises(InputError, match="no such column"):
        sf.read(columns, target="y")
    with pytest.raises(InputError, match="columns of one length"):
        sf.read(columns | {"x0": [1.0]})


def test_an_infinite_number_is_refused_with_its_line_and_site(tmp_path):
    (tmp_path / "t.csv").write_text("client,x,kind,target\nLyon,1,u,1\nNice,inf,v,2\nNice,2,u,4\n")
    for reader in (sf.fit, sf.read):
        with pytest.raises(InputError, match=r"line 3.*\(client Nice\) = "):
            reader(tmp_path / "t.csv")


def test_numbers_that_a_stray_text_or_a_comma_would_make_a_category_are_refused():
    columns = table(draw(2, np.ones((2, 1)), 30))
    numbers = [f"{value:.2f}" for value in np.linspace(1, 40, 60)]
    with pytest.raises(
        InputError, match=r"^column x0 = 'n\.d\.': other entries are numbers, such as 1\.00: correct it"
    ):
        sf.fit(columns | {"x0": [*numbers[:40], "n.d.", *numbers[41:]]})
    with pytest.raises(
        InputError, match=r"^x0 in row 1 \(client s0\) = '1,00': a number\? write .* decimals with a point"
    ):
        sf.fit(columns | {"x0": [value.replace(".", ",") for value in numbers]})


@pytest.mark.parametrize("stray", ["broken", "#N", "12,5", "12 kg", "(5)", "<0.1"])
@pytest.mark.parametrize("row", [0, 7, 299])
def test_one_text_among_many_numbers_is_found_however_it_is_sorted(stray, row, tmp_path, monkeypatch):
    """Over a hundred entries are none that a category may have: the column was left out as one of names. In pieces,
    too, whether the text is in the first or in the last."""
    columns = table(draw(2, np.ones((3, 1)), 100))
    x = [f"{value:.4f}" for value in np.linspace(1, 40, 300)]
    columns["x0"] = [*x[:row], stray, *x[row + 1 :]]
    (tmp_path / "t.csv").write_text(
        "\n".join([";".join(columns), *(";".join(map(str, r)) for r in zip(*columns.values()))])
    )
    monkeypatch.setattr("suffice.simulate.data.csv_file.PIECE", 2000)
    for source in (columns, tmp_path / "t.csv"):
        with pytest.raises(InputError, match=rf"x0.* = '{re.escape(stray)}': "):
            sf.fit(source)
