"""What every command reads, and what is refused with the place of the mistake."""

from __future__ import annotations

import numpy as np
import pytest
from client_data import TABLE, read, written

import suffice as sf
from suffice.simulate.data.source import embedded


def test_every_kind_of_file_gives_the_same_problem(tmp_path):
    """CSV with a client column, .npz with a client array, a folder of one CSV and one .npz."""
    reference = read(written(tmp_path, TABLE))
    x, y, site = [1.0, 2, 4, 4, 5, 9], [2.0, 5, 7, 1, 3, 2], ["Lyon"] * 3 + ["Nice"] * 3
    np.savez(tmp_path / "t.npz", X=np.array(x)[:, None], y=y, client=np.array(site), columns=np.array(["age"]))
    (tmp_path / "folder").mkdir()
    written(tmp_path, "y,age\n2,1\n5,2\n7,4\n", "folder/Lyon.csv")
    np.savez(tmp_path / "folder" / "Nice.npz", X=np.array(x[3:])[:, None], y=y[3:], columns=np.array(["age"]))
    for path in (tmp_path / "t.npz", tmp_path / "folder"):
        problem = read(path)
        assert problem.names == reference.names
        np.testing.assert_array_equal(problem.data.X, reference.data.X)
        np.testing.assert_array_equal(problem.data.y, reference.data.y)


def mixed(tmp_path):
    """Rows with a category, gaps written in three ways and targets that are not there, without a column of clients."""
    rng = np.random.default_rng(6)
    rows = [[f"{x:.3f}", kind, f"{y:.3f}"] for x, kind, y in zip(rng.normal(size=60), "uvv" * 20, rng.normal(size=60))]
    rows[3][0], rows[8][0], rows[9][0], rows[4][2], rows[50][2] = "nan", "", "NA", "", "nan"
    return rows, written(tmp_path, "\n".join(["x,kind,target", *map(",".join, rows)]))


@pytest.mark.parametrize("split", ["iid:3", "contiguous:2"])
def test_a_table_of_any_columns_is_divided_alike_for_plans_and_for_fits(tmp_path, split):
    rows, path = mixed(tmp_path)
    frame = {name: [row[at] for row in rows] for at, name in enumerate(("x", "kind", "target"))}
    for source in (path, frame):
        problem, fit = sf.read(source, split=split, seed=4), sf.fit(source, split=split, seed=4)
        assert problem.names == tuple(model.name for model in fit)
        assert problem.row_counts == tuple(model.rows for model in fit)
        assert sum(problem.row_counts) == 58
        assert problem.features == 1 + len(fit.encoding.columns) == 4
        assert "2 rows without a target are left out" in " ".join(problem.remarks)
    np.testing.assert_array_equal(*(sf.read(source, split=split).optimum.numpy() for source in (path, frame)))
    with pytest.raises(sf.InputError, match="has a column target that names clients"):
        sf.fit(path, split=split, client="target", target="x")


def test_what_a_plan_reads_a_fit_reads_too(tmp_path):
    """Files in a folder, of two formats; columns to leave out of a table that is no CSV; what no header names."""
    rng = np.random.default_rng(7)
    for name in "ab":
        lines = [f"{x:.3f},{y:.3f}" for x, y in rng.normal(size=(20, 2))]
        written(tmp_path, "\n".join(["x1,target", *lines]), f"{name}.csv")
    np.savez(tmp_path / "c.npz", X=rng.normal(size=(9, 1)), y=rng.normal(size=9))
    (tmp_path / "notes.txt").write_text("no client")
    problem, fit = sf.read(tmp_path), sf.fit(tmp_path)
    assert problem.names == ("a", "b", "c") == tuple(model.name for model in fit)
    assert problem.row_counts == (20, 20, 9) == tuple(model.rows for model in fit)
    for reader in (sf.read, sf.fit):
        with pytest.raises(sf.InputError, match="drop = 'alcohl': no such column; did you mean alcohol"):
            reader("sklearn:wine", split="iid:3", drop=["alcohl"])
    assert sf.read("sklearn:wine", split="iid:3", drop=["alcohol"]).features == 13
    (tmp_path / "a.tsv").write_text("x1\ttarget\n1\t2\n")
    for reader in (sf.read, sf.fit):
        with pytest.raises(sf.InputError, match="names = 'a': give every client a text of its own"):
            reader(tmp_path)


HALF, ROWS = "\ud800", {"x": [1.0, 2, 4, 3] * 4, "target": [2.0, 5, 7, 1] * 4}
SITES = ROWS | {"client": list("ab") * 8}
NAMES = {
    "site": lambda: sf.summarise(ROWS, site=HALF),
    "client": lambda: sf.summarise(ROWS, site="a", client=HALF),
    "column": lambda: sf.read(SITES | {HALF: ROWS["x"]}, drop=[HALF]),
    "names": lambda: sf.from_arrays([[[1], [2]]] * 2, [[1, 3]] * 2, names=["a", HALF]),
}


@pytest.mark.parametrize("field", NAMES)
def test_half_of_a_character_is_no_name(field):
    with pytest.raises(sf.InputError, match=rf"{field} = '\\ud800': half of a character"):
        NAMES[field]()


@pytest.mark.parametrize("how", ["mapping", "file"])
def test_a_name_that_is_a_pattern_is_refused(how, tmp_path):
    """polars takes a name from ^ to $ for all columns that match it."""
    rows = {"client": ["a", "b"], "^x$": [1.0, 2.0], "target": [1.0, 2.0]}
    path = tmp_path / "rows.csv"
    path.write_text("client,^x$,target\na,1,1\nb,2,2\n")
    with pytest.raises(sf.InputError, match=r"column = '\^x\$': a name from \^ to \$ is a pattern"):
        sf.fit(rows if how == "mapping" else path)


def test_hospitals_are_read_from_a_path():
    with pytest.raises(sf.InputError, match="path = 3: give a path"):
        sf.heart_disease(3)


def test_codes_are_the_same_levels_in_files_that_have_only_such_as_in_others(tmp_path):
    """01 is a number in the first file, and no level 1 beside the level 01 of the second."""
    rng = np.random.default_rng(0)
    for name, codes in (
        ("a", ["01", "02", "NA", "1"]),
        ("b", ["01", "A", "02", "1"]),
        ("c", ["01", "02", "01", "02"]),
    ):
        rows = [f"{x:.3f},{codes[at % 4]},{y:.3f}" for at, (x, y) in enumerate(rng.normal(size=(24, 2)))]
        written(tmp_path, "\n".join(["x,kind,target", *rows]), f"{name}.csv")
    levels = {column.level for column in sf.fit(tmp_path).design.columns if column.level}
    assert levels == {"01", "02", "1", "A"}


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [("breast_cancer", (569, 30), 2), ("diabetes", (442, 10), 214), ("digits", (1797, 64), 10),
     ("iris", (150, 4), 3), ("wine", (178, 13), 3)],
)  # fmt: skip
def test_embedded_sets(name, shape, classes):
    table = embedded(name)
    assert table.X.shape == shape
    assert len(np.unique(table.y)) == classes
    assert len(table.columns) == shape[1]
    assert sf.read(f"sklearn:{name}", split="iid:3", standardise="none", regularisation=0.1).clients == 3


def test_libsvm_files_are_dense_and_share_their_columns(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:0.5 3:2\n-1 2:1 # a comment\n1 1:4\n")
    (tmp_path / "b.svm").write_text("-1 5:1\n1 1:2\n")
    problem = sf.read(tmp_path, loss="logistic", regularisation=0.1, standardise="none", intercept=False)
    np.testing.assert_array_equal(
        problem.data.X,
        [[0.5, 0, 2, 0, 0], [0, 1, 0, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 0, 1], [2, 0, 0, 0, 0]],
    )
    np.testing.assert_array_equal(problem.data.y, [1, -1, 1, -1, 1])
    (tmp_path / "b.svm").write_text("-1 0:1\n1 1:2\n")  # indices from 0 on somewhere: from 0 on everywhere
    problem = sf.read(tmp_path, loss="logistic", regularisation=0.1, standardise="none", intercept=False)
    np.testing.assert_array_equal(problem.data.X[0], [0, 0.5, 0, 2])
