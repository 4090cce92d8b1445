"""What a target is taken for: numbers, two classes or labels, and what is refused before the work."""

from __future__ import annotations

import time

import numpy as np
import pytest
from site_data import DATA

import suffice as sf
from suffice import InputError
from suffice.simulate.data.site_source import PENALTY

HEART = DATA / "heart_disease"


def rows(target):
    count = len(target)
    x = np.random.default_rng(0).normal(size=count)
    return {"client": [f"s{k % 4}" for k in range(count)], "x": x.tolist(), "target": target}


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "pair", [(0, 1), (-1, 1), (1, 2), (0.0, 1.0), (False, True), ("no", "yes"), ("3.7 mg", "9 mg")]
)
def test_two_codes_and_two_texts_are_classes(pair):
    table = rows([pair[k % 3 == 0] for k in range(40)])
    fit, problem = sf.fit(table), sf.read(table)
    assert fit.loss == "logistic"
    assert (type(problem), problem.regularisation) == (sf.Logistic, PENALTY)
    assert sum("two values" in note for note in problem.remarks) == 1
    assert len(fit.classes) == 2
    noted = any("taken as two classes; for numbers use loss least-squares" in note for note in fit.notes)
    assert noted == (set(pair) in ({-1, 1}, {1, 2}))


@pytest.mark.share(3)
@pytest.mark.parametrize("pair", [(3.7, 12.2), (0, 2), (5, 6), (-1, 0), (1, 3), (0.1, 1)])
def test_any_other_two_numbers_are_numbers_and_it_is_said(pair):
    table = rows([pair[k % 3 == 0] for k in range(40)])
    fit, problem = sf.fit(table), sf.read(table)
    assert fit.loss == "least-squares"
    assert (type(problem), problem.regularisation) == (sf.LeastSquares, 0)
    assert sum("taken as numbers" in note for note in problem.remarks) == 1
    predicted = fit.predict(table)
    assert (predicted.min(), predicted.max()) != (min(pair), max(pair))
    said = f"target is {min(pair):g} or {max(pair):g}, taken as numbers; for classes use loss logistic"
    assert said in " ".join(fit.notes)
    assert said in " ".join(str(fit).split())
    assert sf.fit(table, loss="logistic").classes == tuple(f"{value:g}" for value in sorted(pair))


def test_more_labels_than_anybody_means_are_refused_at_once():
    """60 labels in 100 rows took two minutes."""
    many = rows([f"p{k % 60}" for k in range(100)])
    began = time.monotonic()
    with pytest.raises(InputError, match="60 classes': so many take long: ask for them by loss multinomial"):
        sf.fit(many)
    with pytest.raises(InputError, match="60 classes in 100 rows': give 3 rows or more of each class"):
        sf.fit(many, loss="multinomial")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("classes", "count", "loss"), [(21, 400, "auto"), (3, 8, "auto"), (3, 8, "multinomial")])
def test_what_is_refused(classes, count, loss):
    with pytest.raises(InputError, match=f"{classes} classes"):
        sf.fit(rows([f"c{k % classes}" for k in range(count)]), loss=loss)


@pytest.mark.parametrize(("classes", "count", "loss"), [(20, 60, "auto"), (21, 63, "multinomial"), (3, 9, "auto")])
def test_what_is_fitted(classes, count, loss, monkeypatch):
    """Up to the limits themselves; the work is left out."""
    monkeypatch.setattr("suffice.fitting.classifiers.classified", lambda sites, *_: sites.classes)
    assert len(sf.fit(rows([f"c{k % classes}" for k in range(count)]), loss=loss)) == classes


def test_what_is_said_is_not_guessed():
    table = rows([float(k % 3 == 0) for k in range(60)])
    assert isinstance(sf.read(table, loss="least-squares"), sf.LeastSquares)
    assert isinstance(sf.read(table, standardise_target=True), sf.LeastSquares)
    named = sf.read(table, loss="logistic")
    assert (named.regularisation, named.remarks) == (0, ())
    assert sf.read(table, regularisation=0.5).regularisation == 0.5
    explicit = sf.read(table, loss="logistic", regularisation=PENALTY)
    np.testing.assert_array_equal(explicit.optimum.numpy(), sf.read(table).optimum.numpy())


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


def test_a_table_of_clients_alone_lacks_a_target():
    with pytest.raises(InputError, match="target = 'target': no such column; columns: client"):
        sf.fit({"client": ["a", "b"]})
