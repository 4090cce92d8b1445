"""What is asked about a table: each line names the column and the value, in at most 96 columns."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.data.suspicion import alike


def columns(seed=0, rows=30, sites=("Ulm", "Bonn", "Metz")):
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(100, 300, rows * len(sites)).round(1), rng.normal(size=rows * len(sites)).round(3)
    y = (x / 50 + z + rng.normal(size=len(x))).round(3)
    return {"site": np.repeat(sites, rows).tolist(), "x": x.tolist(), "z": z.tolist(), "y": y.tolist()}


ROLES = {"client": "site", "target": "y"}


def notes(table, **how):
    """Of a fit and a plan, which say the same."""
    fit = sf.fit(table, client="site", target="y", **how)
    found = [note for note in fit.notes if not re.search("squared error|others' models|believed", note)]
    penalty = {"regularisation": 0.1} if fit.loss == "logistic" else {}
    problem = sf.read(table, client="site", target="y", loss=fit.loss, **how, **penalty)
    said = " ".join(problem.remarks)
    for note in found:
        assert note in said
        assert len(f"Note: {note}.") <= 96, note
    return found


def test_nothing_is_asked_about_a_plain_table():
    for seed in range(20):
        assert notes(columns(seed)) == []


@pytest.mark.share(2)
@pytest.mark.parametrize("code", [0, -999, 999.0, -1])
def test_a_number_that_stands_for_a_gap_at_one_site(code):
    table = columns()
    table["x"][30:60] = [code] * 30
    (note,) = notes(table)
    assert note.startswith(f"x is {code:g} in 30 rows of Bonn, 10")
    table = columns()
    table["x"][3:40:4] = [code] * 10
    (note,) = notes(table)
    assert note.startswith(f"x is {code:g} in 10 rows, 10")


def test_a_file_of_numbers_is_asked_about_as_a_table_is(tmp_path):
    table = columns()
    table["x"][30:60] = [-999] * 30
    X, y, client = np.array([table["x"], table["z"]]).T, np.array(table["y"]), np.array(table["site"])
    np.savez(tmp_path / "t.npz", X=X, y=y, client=client)
    wanted = [note.replace("x is", "x1 is", 1) for note in notes(table)]
    assert len(wanted) == 1
    assert [f"Note: {note}." for note in wanted] == list(sf.read(tmp_path / "t.npz").remarks)


@pytest.mark.share(2)
@pytest.mark.parametrize("rising", [False, True])
@pytest.mark.parametrize("count", [lambda day: day.toordinal() - 693594, lambda day: int(day.strftime("%Y%m%d"))])
def test_dates_written_as_numbers_are_asked_about(count, rising):
    """As Excel counts days, and as 20240131, in any order: not as what counts the rows."""
    days = [date(2024, 1, 1) + timedelta(k if rising else 31 * k % 89) for k in range(90)]
    visit = [count(day) for day in days]
    (note,) = notes(columns() | {"visit": visit})
    assert note == f"visit is {min(visit)} to {max(visit)}: dates, {min(days)} to {max(days)}?"
    assert not any("dates" in note for note in notes(columns() | {"pay": [day + 0.5 for day in visit]}))


def test_ranges_among_categories_are_named_with_two_ways_out():
    levels = ["20-25", "25\u201330", "30 - 35", "60+"]
    table = {**columns(), "age": [levels[k * k % 7 % 4] for k in range(90)]}
    fit = sf.fit(table, client="site", target="y")
    said = "age: 20-25 is a level: for numbers, write middles; or drop it"
    assert said in fit.left_out
    assert len(f"Left out or changed: {said}.") <= 96
    assert not any("is a level" in line for line in sf.fit({**table, "age": ["a-1", "b"] * 45}, **ROLES).left_out)


def test_a_zero_that_is_a_count_is_none():
    table = columns()
    table["x"] = np.random.default_rng(1).poisson(2.0, 90).tolist()
    table["z"] = (np.random.default_rng(1).random(90) < 0.5).astype(int).tolist()
    assert notes(table) == []


def test_rows_and_sites_that_are_there_twice(tmp_path):
    table = columns()
    for name in table:
        table[name] += table[name][4:7]
    (note,) = notes(table)
    assert note == "3 rows are copies of another, such as row 91 of row 5: entered twice?"
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values()))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (note,) = notes(tmp_path / "t.csv")
    assert "such as line 92 of line 6 of t.csv: entered" in note
    few = {name: cells * 2 for name, cells in columns(rows=16).items() if name != "z"}
    assert "48 rows are copies of another, such as row 49 of row 1: entered twice?" in notes(few)
    table = columns()
    for name in ("x", "z", "y"):
        table[name][30:60] = table[name][:30]
    assert "sites Ulm, Bonn have the same 30 rows: is one a copy?" in notes(table)


@pytest.mark.parametrize("region", [["a"] * 30 + ["b"] * 30 + ["c"] * 30, [7.5] * 30 + [2] * 60])
def test_a_column_that_repeats_the_site(region):
    (note,) = notes(columns() | {"region": region})
    assert note == f"region is one value at each site, {region[0]} at Ulm: it stands for the site"


def test_a_column_that_counts_the_rows():
    for count in (range(90), [*range(30)] * 3, np.random.default_rng(0).permutation(90).tolist()):
        (note,) = notes(columns() | {"number": list(count)})
        assert note == f"number counts the rows, from 0 to {max(count)}: drop it if it numbers them"
    (note,) = notes(columns() | {"number": [1577134800018164904 + 7 * at for at in range(90)]})
    assert "of which 16 digits count: an identifier?" in note


def test_a_column_that_gives_the_target_away():
    table = columns()
    table["again"] = (np.array(table["y"]) * 1.8 + 32).round(3).tolist()
    (note,) = notes(table)
    assert note.startswith("y is 0.5556 again -17.78: does the column give it away?")


def test_a_column_that_separates_the_classes():
    table = columns()
    ill = np.array(table["x"]) > 210
    table["y"] = np.where(ill, "ill", "well").tolist()
    least = min(x for x in table["x"] if x > 210)
    assert f"x is {least:g} or more just where y is ill: a give-away?" in notes(table)
    table["treated"] = np.where(ill, "yes", "no").tolist()
    assert "treated is no just where y is well: a give-away?" in notes(table)


def test_sites_that_a_split_leaves_with_one_row_or_one_class():
    table = columns(rows=40, sites=("Ulm",))
    del table["site"]
    table["y"] = ["rare"] * 3 + ["b"] * 17 + ["c"] * 20
    table["x"][:3], table["z"][:3] = [1.5, 2.5, 3.5], [1, 2, 3]
    fit = sf.fit(table, target="y", split="labels:6")
    assert "the split leaves one row to 1, 3, 5: take fewer sites, or another split" in fit.notes
    assert "all rows of 1, 3, 5 have y = rare: one class alone" in fit.notes


def test_sites_that_look_alike():
    assert alike(["Ulm", "Bonn"]) == []
    assert alike(["S1", "S10", "S01", "1-1", "11"]) == []
    for same in (
        ["Orléans", unicodedata.normalize("NFD", "Orléans")],
        ["1", "01"],
        ["a b", "A  b"],
        ["S1", "S-1"],
        ["x", "#x"],
    ):
        assert alike([*same, "Metz"]) == [same]
        found = notes(columns(sites=(*same, "Metz")))
        assert len(found) == 1
        assert found[0].endswith("look alike: if they are one site, write one name")
    table = columns(sites=("1", "01", "NA"))
    fit = sf.fit(table, client="site", target="y")
    assert "30 rows without a site (site) are left out (NA 30)" in fit.notes


def test_files_of_a_folder_whose_headers_differ(tmp_path):
    table = columns()
    for at, site in enumerate(("a", "b", "c")):
        rows = zip(*(table[name][30 * at : 30 * at + 30] for name in ("x", "z", "y")))
        (tmp_path / f"{site}.csv").write_text("\n".join(["x,z,y", *(",".join(map(str, row)) for row in rows)]))
    text = (tmp_path / "b.csv").read_text()
    for header in ("X,z,y", "x,z z,y"):
        (tmp_path / "b.csv").write_text(text.replace("x,z,y", header))
        if header == "X,z,y":
            with pytest.raises(sf.InputError, match=r"header of b.csv = 'X': a.csv has 'x': write one name in all"):
                sf.fit(tmp_path, target="y")
        else:
            (tmp_path / "~$b.csv").write_bytes(b"a lock of Excel")
            assert "b.csv has no column z: it is missing in all their rows" in sf.fit(tmp_path, target="y").notes


ASKED = {
    "a footer of sums": (lambda t: {k: [*v, "Total" if k == "site" else round(sum(v), 3)] for k, v in t.items()},
                         "Total is one row, the sum of all others: a footer?"),
    "a footer of means": (lambda t: {k: [*v, "Mean" if k == "site" else round(sum(v) / 90, 3)] for k, v in t.items()},
                          "Mean is one row, the mean of all others: a footer?"),
    "no width": (lambda t: t | {"site": ["Ulm\u200b", *t["site"][1:]]},
                 "sites Ulm\\u200b, Ulm look alike: if they are one site, write one name"),
    "zeros behind the point": (lambda t: t | {"site": ["2.50", *["2.5"] * 29, *t["site"][30:]]},
                               "sites 2.50, 2.5 look alike: if they are one site, write one name"),
    "capitals in the header": (lambda t: t | {"X": t["z"][::-1]}, "columns x, X look alike: is one a copy?"),
    "a power of the target": (lambda t: t | {"again": np.exp(t["y"]).round(6).tolist()},
                              "again rises with y in all rows: does the column give it away?"),
    "a falling one": (lambda t: t | {"again": (-np.cbrt(t["y"])).round(6).tolist()},
                      "again falls with y in all rows: does the column give it away?"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ASKED)
def test_what_else_is_asked(kind):
    change, note = ASKED[kind]
    assert notes(change(columns())) == [note]


def test_copies_in_two_files_are_named_with_both(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        rows = zip(*list(columns(seed).values())[1:])
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,z,y", *(",".join(map(str, row)) for row in rows)]))
    assert any(
        "such as line 2 of b.csv of line 2 of a.csv: entered twice?" in note
        for note in sf.fit(tmp_path, target="y").notes
    )


def test_classes_that_look_alike():
    fit = sf.fit(columns() | {"y": [*["yes", "no"] * 44, "Yes", "no"]}, **ROLES)
    assert "classes Yes, yes look alike: if they are one, write one name" in fit.notes
