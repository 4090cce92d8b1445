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


def lengthened(table, *rows):
    return {name: [*cells, *(cells[row] for row in rows)] for name, cells in table.items()}


def footer(table, name, divisor):
    return {k: [*v, name if k == "site" else round(sum(v) / divisor, 3)] for k, v in table.items()}


def with_column(**columns):
    return lambda table: table | {name: [make(at) for at in range(90)] for name, make in columns.items()}


def of_target(way):
    return lambda table: table | {"again": way(np.array(table["y"])).round(6).tolist()}


def split(kinds):
    """Classes and, of `kinds`, a category that tells them."""

    def change(table):
        ill = np.array(table["x"]) > 210
        return {**table, "y": np.where(ill, "ill", "well").tolist()} | (
            {"treated": np.where(ill, "yes", "no").tolist()} if kinds else {}
        )

    return change


DAYS = [date(2024, 1, 1) + timedelta(31 * k % 89) for k in range(90)]
LEAST = min(x for x in columns()["x"] if x > 210)
LIKE = "look alike: if they are one site, write one name"
COUNTS = "drop it if it numbers them"
ASKED = {
    **{f"{code:g} at one site": (lambda t, code=code: t | {"x": [*t["x"][:30], *[code] * 30, *t["x"][60:]]},
                                 f"x is {code:g} in 30 rows of Bonn, 10") for code in (0, -999, 999.0, -1)},
    "-999 at several": (lambda t: t | {"x": [-999 if k in range(3, 40, 4) else x for k, x in enumerate(t["x"])]},
                        "x is -999 in 10 rows, 10"),
    "0 that is a count": (with_column(x=lambda k: k * k % 7, z=lambda k: k * k % 2),),
    "days of Excel": (with_column(visit=lambda k: DAYS[k].toordinal() - 693594),
                      "visit is 45292 to 45380: dates, 2024-01-01 to 2024-03-29?"),
    "days as numbers": (with_column(visit=lambda k: int(DAYS[k].strftime("%Y%m%d"))),
                        "visit is 20240101 to 20240329: dates, 2024-01-01 to 2024-03-29?"),
    "days in order": (with_column(visit=lambda k: int(sorted(DAYS)[k].strftime("%Y%m%d"))),
                      "visit is 20240101 to 20240329: dates, 2024-01-01 to 2024-03-29?"),
    "no days": (with_column(pay=lambda k: DAYS[k].toordinal() - 693593.5),),
    "three rows again": (lambda t: lengthened(t, 4, 5, 6),
                         "3 rows are copies of another, such as row 91 of row 5: entered twice?"),
    "a site twice": (lambda t: {k: v if k == "site" else [*v[:30], *v[:30], *v[60:]] for k, v in t.items()},
                     "sites Ulm, Bonn have the same 30 rows: is one a copy?",
                     "30 rows are copies of another, such as row 31 of row 1: entered twice?"),
    "a category of sites": (with_column(region=lambda k: "abc"[k // 30]),
                            "region is one value at each site, a at Ulm: it stands for the site"),
    "a number of sites": (with_column(region=lambda k: 7.5 if k < 30 else 2),
                          "region is one value at each site, 7.5 at Ulm: it stands for the site"),
    "a count": (with_column(number=lambda k: k), f"number counts the rows, from 0 to 89: {COUNTS}"),
    "a count at each site": (with_column(number=lambda k: k % 30), f"number counts the rows, from 0 to 29: {COUNTS}"),
    "a count in any order": (with_column(number=lambda k: 31 * k % 90),
                             f"number counts the rows, from 0 to 89: {COUNTS}"),
    "an identifier": (with_column(number=lambda k: 1577134800018164904 + 7 * k), "number is 1.57713e+18 or more, of"),
    "the target in other units": (of_target(lambda y: y * 1.8 + 32), "y is 0.5556 again -17.78: does the column give"),
    "a power of the target": (of_target(np.exp), "again rises with y in all rows: does the column give it away?"),
    "a falling one": (of_target(lambda y: -np.cbrt(y)), "again falls with y in all rows: does the column give it away"),
    "a number that separates": (split(0), f"x is {LEAST:g} or more just where y is ill: a give-away?"),
    "a category that separates": (split(1), f"x is {LEAST:g} or more just where y is ill: a give-away?",
                                  "treated is no just where y is well: a give-away?"),
    "a footer of sums": (lambda t: footer(t, "Total", 1), "Total is one row, the sum of all others: a footer?"),
    "a footer of means": (lambda t: footer(t, "Mean", 90), "Mean is one row, the mean of all others: a footer?"),
    "capitals in the header": (lambda t: t | {"X": t["z"][::-1]}, "columns x, X look alike: is one a copy?"),
    "no width": (lambda t: t | {"site": ["Ulm\u200b", *t["site"][1:]]}, f"sites Ulm\\u200b, Ulm {LIKE}"),
    "zeros behind the point": (lambda t: t | {"site": ["2.50", *["2.5"] * 29, *t["site"][30:]]},
                               f"sites 2.50, 2.5 {LIKE}"),
}  # fmt: skip


@pytest.mark.share(6)
@pytest.mark.parametrize("kind", ASKED)
def test_what_is_asked(kind):
    change, *wanted = ASKED[kind]
    found = notes(change(columns()))
    assert len(found) == len(wanted), found
    assert all(note.startswith(said) for note, said in zip(found, wanted)), found


def test_a_file_of_numbers_is_asked_about_as_a_table_is(tmp_path):
    change, note = ASKED["-999 at one site"]
    table = change(columns())
    X, y, client = np.array([table["x"], table["z"]]).T, np.array(table["y"]), np.array(table["site"])
    np.savez(tmp_path / "t.npz", X=X, y=y, client=client)
    (found,) = sf.read(tmp_path / "t.npz").remarks
    assert found.startswith(f"Note: {note.replace('x is', 'x1 is')}")


def test_copies_are_named_with_their_lines_and_files(tmp_path):
    table = lengthened(columns(), 4, 5, 6)
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values()))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (note,) = notes(tmp_path / "t.csv")
    assert "such as line 92 of line 6 of t.csv: entered" in note
    few = {name: cells * 2 for name, cells in columns(rows=16).items() if name != "z"}
    assert "48 rows are copies of another, such as row 49 of row 1: entered twice?" in notes(few)
    (tmp_path / "sites").mkdir()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        rows = zip(*list(columns(seed).values())[1:])
        (tmp_path / f"sites/{name}.csv").write_text("\n".join(["x,z,y", *(",".join(map(str, row)) for row in rows)]))
    said = " ".join(sf.fit(tmp_path / "sites", target="y").notes)
    assert "such as line 2 of b.csv of line 2 of a.csv: entered twice?" in said


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
        assert found[0].endswith(LIKE)
    fit = sf.fit(columns(sites=("1", "01", "NA")), **ROLES)
    assert "30 rows without a site (site) are left out (NA 30)" in fit.notes


def test_files_of_a_folder_whose_headers_differ(tmp_path):
    table = columns()
    for at, site in enumerate(("a", "b", "c")):
        rows = zip(*(table[name][30 * at : 30 * at + 30] for name in ("x", "z", "y")))
        (tmp_path / f"{site}.csv").write_text("\n".join(["x,z,y", *(",".join(map(str, row)) for row in rows)]))
    text = (tmp_path / "b.csv").read_text()
    (tmp_path / "b.csv").write_text(text.replace("x,z,y", "X,z,y"))
    with pytest.raises(sf.InputError, match=r"header of b.csv = 'X': a.csv has 'x': write one name in all"):
        sf.fit(tmp_path, target="y")
    (tmp_path / "b.csv").write_text(text.replace("x,z,y", "x,z z,y"))
    (tmp_path / "~$b.csv").write_bytes(b"a lock of Excel")
    assert "b.csv has no column z: it is missing in all their rows" in sf.fit(tmp_path, target="y").notes


def test_a_short_file_is_no_sample_of_a_folder(tmp_path):
    """Its three rows rise by one."""
    table = columns()
    table["x"][:3], table["site"] = [1, 2, 3], [*["a"] * 3, *["b"] * 40, *["c"] * 47]
    for site in "abc":
        rows = [row[1:] for row in zip(*table.values()) if row[0] == site]
        (tmp_path / f"{site}.csv").write_text("\n".join(["x,z,y", *(",".join(map(str, row)) for row in rows)]))
    assert not any("counts the rows" in note or "rises" in note for note in sf.fit(tmp_path, target="y").notes)


def test_classes_that_look_alike():
    fit = sf.fit(columns() | {"y": [*["yes", "no"] * 44, "Yes", "no"]}, **ROLES)
    assert "classes Yes, yes look alike: if they are one, write one name" in fit.notes


def test_sites_of_one_class_are_named_in_the_order_of_the_sites():
    table = {"client": ["p"] * 12 + ["q"] * 12 + ["r"] * 12, "x": [row * 7 % 36 for row in range(36)]}
    fit = sf.fit(table | {"target": ["yes"] * 12 + ["no"] * 12 + ["no", "yes"] * 6})
    assert [note.split()[3] for note in fit.notes if "one class alone" in note] == ["p", "q"]
