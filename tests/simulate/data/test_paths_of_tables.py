"""Which reader reads a path."""

from __future__ import annotations

import numpy as np
from client_data import TABLE, read, written


def test_every_kind_of_file_gives_the_same_problem(tmp_path):
    """CSV with a client column, .npz with a client array, and a folder of one CSV, one .npz and one LIBSVM file."""
    reference = read(written(tmp_path, TABLE))
    x, y, site = [1.0, 2, 4, 4, 5, 9], [2.0, 5, 7, 1, 3, 2], ["Lyon"] * 3 + ["Nice"] * 3
    np.savez(tmp_path / "t.npz", X=np.array(x)[:, None], y=y, client=np.array(site), columns=np.array(["age"]))
    (tmp_path / "folder").mkdir()
    written(tmp_path, "y,age\n2,1\n5,2\n7,4\n", "folder/Lyon.csv")
    np.savez(tmp_path / "folder" / "Nice.npz", X=np.array(x[3:])[:, None], y=y[3:], columns=np.array(["age"]))
    for path in (tmp_path / "t.npz", tmp_path / "folder"):
        problem = read(path)
        assert problem.names == reference.names
        np.testing.assert_array_equal(problem.X, reference.X)
        np.testing.assert_array_equal(problem.y, reference.y)
