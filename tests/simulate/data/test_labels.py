"""Two classes, however they are labelled."""

from __future__ import annotations

import numpy as np
import pytest
from client_data import read, written

import suffice as sf


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


def test_one_positive_label_may_stand_without_a_list():
    X, y = [np.arange(6.0)[:, None]] * 2, [np.array([0, 1, 0, 1, 0, 1])] * 2
    options = {"loss": "logistic", "regularisation": 0.1}
    one, several = (sf.from_arrays(X, y, positive=positive, **options) for positive in (0, [0]))
    np.testing.assert_array_equal(one.optimum, several.optimum)
    with pytest.raises(sf.InputError, match="only the logistic loss has classes"):
        sf.from_arrays(X, y, positive=1)


@pytest.mark.parametrize(("zero", "one"), [("1.0", "2.0"), ("01", "02"), ("0.0", "1"), ("1e0", "2")])
def test_classes_that_are_numbers_are_one_however_they_are_written(zero, one, tmp_path):
    """Beside names of gaps, too, with which a column of a file stays one of texts."""
    x = np.random.default_rng(0).normal(size=60)
    cells = [one if value > 0 else zero for value in x]
    cells[5:8] = ["NA", "none", str(int(float(cells[7])))]
    rows = [f"{'abc'[at % 3]},{value:.3f},{cell}" for at, (value, cell) in enumerate(zip(x, cells))]
    (tmp_path / "t.csv").write_text("\n".join(["client,z,target", *rows]))
    fit = sf.fit(tmp_path / "t.csv", loss="logistic")
    assert [float(kind) for kind in fit.classes] == [float(zero), float(one)]
    assert sum(model.rows for model in fit) == 58
    assert sf.fit({"client": list("abc") * 20, "z": x, "target": cells}, loss="logistic").classes == fit.classes
