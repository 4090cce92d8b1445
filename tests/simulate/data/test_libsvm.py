"""LIBSVM files."""

from __future__ import annotations

import numpy as np

import suffice as sf


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
