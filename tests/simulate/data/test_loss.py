"""One guess of the loss, and of its penalty, for all that read a table; what one reads, the other does."""

from __future__ import annotations

import numpy as np
import pytest
from site_data import DATA

import suffice as sf
from suffice.simulate.data.loss import PENALTY

HEART = DATA / "heart_disease"


def table(low, high):
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    y = np.where(x + rng.normal(size=60) > 0, high, low)
    return {"client": ["a", "b", "c"] * 20, "x": x.tolist(), "target": y.tolist()}


def test_what_is_said_is_not_guessed():
    rows = table(0.0, 1.0)
    assert isinstance(sf.read(rows, loss="least-squares"), sf.LeastSquares)
    assert isinstance(sf.read(rows, standardise_target=True), sf.LeastSquares)
    named = sf.read(rows, loss="logistic")
    assert (named.regularisation, named.remarks) == (0, ())
    assert sf.read(rows, regularisation=0.5).regularisation == 0.5
    explicit = sf.read(rows, loss="logistic", regularisation=PENALTY)
    np.testing.assert_array_equal(explicit.optimum.numpy(), sf.read(rows).optimum.numpy())


@pytest.mark.skipif(not HEART.is_dir(), reason="the archive's files are not here")
def test_the_hospitals_are_read_by_a_fit_too():
    problem, fit = sf.read(HEART), sf.fit(HEART)
    assert isinstance(problem, sf.Logistic)
    assert fit.loss == "logistic"
    assert tuple(model.name for model in fit) == problem.names
    assert tuple(model.rows for model in fit) == problem.row_counts
    assert len(next(iter(fit)).coefficients) == problem.features - 1


def test_a_column_of_an_embedded_set_names_the_clients_for_every_command(command):
    options = ["sklearn:diabetes", "--client", "sex"]
    for line in (["plan", *options, "--numbers"], ["simulate", *options, "--algorithm", "local", "--seeds", "2"]):
        assert "-0.04" in command(*line).stdout  # the name of a client
    assert len(sf.fit("sklearn:diabetes", client="sex")) == len(sf.read("sklearn:diabetes", client="sex").names) == 2
