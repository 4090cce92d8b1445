"""Clients' tables: what is read, and what is refused with the place of the mistake."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf

TABLE = "site,age,y\nLyon,1,2\nLyon,2,5\nNice,4,1\nLyon,4,7\nNice,5,3\nNice,9,2\n"


def written(tmp_path, text: str, name: str = "clients.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def read(path, **options):
    return sf.read(path, client="site", target="y", **options)


def test_a_table_becomes_one_least_squares_problem_per_client(tmp_path):
    problem = read(written(tmp_path, TABLE), standardise="none")
    assert problem.names == ("Lyon", "Nice")
    x, y = np.array([1.0, 2, 4]), np.array([2.0, 5, 7])
    slope, intercept = np.polyfit(x, y, 1)
    np.testing.assert_allclose(problem.optimum[0], [intercept, slope], rtol=1e-9)
    design = np.column_stack((np.ones(3), x))
    curvature = 2 * np.linalg.eigvalsh(design.T @ design / 3)
    constants = problem.constants()
    np.testing.assert_allclose([constants.mu[0], constants.beta[0]], curvature, rtol=1e-9)
    residual = y - design @ [intercept, slope]
    np.testing.assert_allclose(constants.excess[0], (y**2).mean() - (residual**2).mean(), rtol=1e-9)


def test_standardising_is_per_client_or_over_all(tmp_path):
    path = written(tmp_path, TABLE)
    everybody = np.array([1.0, 2, 4, 4, 5, 9])
    expected = {
        "client": (np.array([1.0, 2, 4]) - 7 / 3) / np.std([1, 2, 4]),
        "pooled": (np.array([1.0, 2, 4]) - everybody.mean()) / everybody.std(),
        "none": np.array([1.0, 2, 4]),
    }
    for choice, column in expected.items():
        np.testing.assert_allclose(read(path, standardise=choice).X[:3, 1], column, rtol=1e-12)


def test_a_folder_holds_one_client_per_file(tmp_path):
    written(tmp_path, "age,y\n1,2\n2,5\n4,7\n", "Lyon.csv")
    written(tmp_path, "age,y\n4,1\n5,3\n9,2\n", "Nice.csv")
    together = read(tmp_path)
    assert together.names == ("Lyon", "Nice")
    np.testing.assert_array_equal(together.X, read(written(tmp_path / "..", TABLE, f"{tmp_path.name}.csv")).X)


MISTAKES = {
    "no such target": (TABLE.replace("y\n", "z\n", 1), "target = 'y': no such column"),
    "no such client": (TABLE.replace("site", "centre", 1), "client = 'site': no such column"),
    "text in numbers": (TABLE.replace("4,1", "four,1"), "age in line 4 (client Nice) = 'four': give a number"),
    "empty cell": (TABLE.replace("4,1", ",1"), "age in line 4 (client Nice)"),
    "nan": (TABLE.replace("4,1", "nan,1"), "age in line 4 (client Nice) = 'nan'"),
    "infinity": (TABLE.replace("4,1", "inf,1"), "age in line 4"),
    "ragged": (TABLE.replace("4,1", "4,1,8"), "line 4 of clients.csv = '4 fields': give 3 fields"),
    "nameless client": (TABLE.replace("Nice,4", ",4"), "site in line 4"),
    "double header": (TABLE.replace("age", "y", 1), "name every column, each once"),
    "header only": ("site,age,y\n", "at least one row"),
    "empty file": ("", "at least one row"),
    "one row": (TABLE + "Paris,3,3\n", "rows of client Paris = 1"),
    "client is the target": (TABLE.replace("site,age,y", "site,age,z").replace("site", "y", 1), "cannot be the target"),
    "other digits": (TABLE.replace("4,1", "1_0,1"), "age in line 4 (client Nice) = '1_0'"),
    "constant predictor": (TABLE.replace("Nice,5", "Nice,4").replace("Nice,9", "Nice,4"), "age of client Nice"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_refused_with_its_place(tmp_path, name):
    text, message = MISTAKES[name]
    with pytest.raises(sf.InputError) as caught:
        sf.read(written(tmp_path, text), client="y" if name == "client is the target" else "site", target="y")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_client_that_cannot_determine_its_model_is_named(tmp_path):
    path = written(tmp_path, TABLE + "Paris,3,3\n")
    with pytest.raises(sf.InputError, match=r"client Paris.*do not determine 2 coefficients"):
        read(path, standardise="none")


def test_other_encodings_and_losses_are_refused(tmp_path):
    path = tmp_path / "clients.csv"
    path.write_bytes(TABLE.replace("Lyon", "Orléans").encode("latin-1"))
    with pytest.raises(sf.InputError, match="UTF-8"):
        read(path)
    with pytest.raises(sf.InputError, match="least-squares or logistic"):
        read(written(tmp_path, TABLE), loss="hinge")


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


def test_libsvm_files_are_dense_and_share_their_columns(tmp_path):
    written(tmp_path, "1 1:0.5 3:2\n-1 2:1 # a comment\n1 1:4\n", "a.svm")
    written(tmp_path, "-1 5:1\n1 1:2\n", "b.svm")
    problem = sf.read(tmp_path, loss="logistic", regularisation=0.1, standardise="none", intercept=False)
    np.testing.assert_array_equal(
        problem.data.X,
        [[0.5, 0, 2, 0, 0], [0, 1, 0, 0, 0], [4, 0, 0, 0, 0], [0, 0, 0, 0, 1], [2, 0, 0, 0, 0]],
    )
    np.testing.assert_array_equal(problem.data.y, [1, -1, 1, -1, 1])
    written(tmp_path, "-1 0:1\n1 1:2\n", "b.svm")  # indices from 0 on somewhere: from 0 on everywhere
    problem = sf.read(tmp_path, loss="logistic", regularisation=0.1, standardise="none", intercept=False)
    np.testing.assert_array_equal(problem.data.X[0], [0, 0.5, 0, 2])


@pytest.mark.parametrize("labels", [(0.0, 1.0), (-1.0, 1.0), (1.0, 2.0), (7.5, 9.0), ("healthy", "ill")])
def test_two_classes_are_what_the_logistic_loss_needs(tmp_path, labels):
    x = [1, 2, 4, 6, 4, 5, 9, 1]
    rows = [f"{'AB'[j // 4]},{a},{labels[(j + j // 4) % 2]}" for j, a in enumerate(x)]
    path = written(tmp_path, "\n".join(["site,x,y", *rows]) + "\n")
    problem = read(path, loss="logistic", regularisation=0.25, standardise="pooled")
    np.testing.assert_array_equal(problem.data.y, [-1, 1, -1, 1, 1, -1, 1, -1])
    other = read(path, loss="logistic", regularisation=0.25, standardise="pooled", positive=[labels[0]])
    np.testing.assert_array_equal(other.data.y, -problem.data.y)
    assert problem.regularisation == 0.25
    standardised = (np.array(x) - np.mean(x)) / np.std(x)
    theta = problem.optimum[0].numpy()
    margin = problem.data.y.numpy()[:4] * (theta[0] + theta[1] * standardised[:4])
    pull = problem.data.y.numpy()[:4] / (1 + np.exp(margin)) / 4
    # the intercept is regularised too
    np.testing.assert_allclose([pull.sum(), pull @ standardised[:4]], 0.25 * theta, rtol=1e-9)


def test_a_regularised_client_needs_neither_rank_nor_both_classes(tmp_path):
    path = written(tmp_path, "site,x,y\nA,1,0\nA,2,0\nB,1,1\nB,2,0\nB,3,1\n")
    assert read(path, loss="logistic", regularisation=0.1).clients == 2
    assert read(written(tmp_path, TABLE + "Paris,3,3\n"), standardise="pooled", regularisation=0.1).clients == 3


def test_constants_of_logistic_clients_are_certified_estimated_or_hold_everywhere(tmp_path):
    rng = np.random.default_rng(11)
    X = [rng.normal(size=(200, 2)) for _ in range(3)]
    y = [(x @ [1.0, -1.0] + rng.logistic(size=200) > 0).astype(int) for x in X]
    notes, similar, sigma2 = {}, {}, {}
    for certainty in ("everywhere", "certified", "estimated"):
        constants = sf.from_arrays(
            X, y, loss="logistic", regularisation=0.1, standardise="none", certainty=certainty
        ).constants()
        notes[certainty] = " ".join(constants.notes)
        similar[certainty] = constants.heterogeneity.similarity(2 * constants.mu * 0.5 * constants.excess)
        sigma2[certainty] = constants.sigma2
    assert "everywhere" in notes["everywhere"]
    assert "certified" in notes["certified"]
    assert "estimates" in notes["estimated"]
    assert (similar["everywhere"] <= similar["certified"]).all()
    assert (similar["certified"] <= similar["estimated"] + 1e-9).all()
    assert (similar["estimated"] > 0.5).all()  # three samples of one population
    assert (sigma2["certified"] <= sigma2["everywhere"] * (1 + 1e-8)).all()
    assert (sigma2["estimated"] <= sigma2["certified"]).all()


def test_one_positive_label_may_stand_without_a_list():
    X, y = [np.arange(6.0)[:, None]] * 2, [np.array([0, 1, 0, 1, 0, 1])] * 2
    options = {"loss": "logistic", "regularisation": 0.1}
    one, several = (sf.from_arrays(X, y, positive=positive, **options) for positive in (0, [0]))
    np.testing.assert_array_equal(one.optimum, several.optimum)
    with pytest.raises(sf.InputError, match="only the logistic loss has classes"):
        sf.from_arrays(X, y, positive=1)
