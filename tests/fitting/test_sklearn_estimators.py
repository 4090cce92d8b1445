"""The estimators by scikit-learn's own checks, in pipelines and grids with site labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from populations import draw
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice as sf
from suffice import InputError


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([sf.CollaborativeRegressor()])
def test_scikit_learn_s_own_checks_of_the_regressor(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([sf.CollaborativeClassifier()])
def test_scikit_learn_s_own_checks_of_the_classifier(estimator, check):
    check(estimator)


@pytest.fixture
def rows():
    sites = draw(0, np.array([[1.0, 0.0], [1.1, 0.1], [-2.0, 1.0]]), 40)
    X, y = np.concatenate([X for X, _ in sites]), np.concatenate([y for _, y in sites])
    return X, y, np.repeat(["a", "b", "c"], 40)


def test_sites_have_models_of_their_own_and_new_ones_the_population_s(rows):
    X, y, client = rows
    model = sf.CollaborativeRegressor().fit(X, y, client=client)
    one = np.array([[1.0, 0.0]])
    by_site = [model.predict(one, client=[site])[0] for site in "abc"]
    np.testing.assert_allclose(by_site, [2.0, 2.1, -1.0], atol=0.4)
    elsewhere = model.predict(one, client=["z"])
    np.testing.assert_allclose(elsewhere, model.predict(one), rtol=1e-12)
    assert by_site[2] < elsewhere[0] < by_site[0]
    assert set(model.fit_.by_name) == {"a", "b", "c"}
    with pytest.raises(InputError, match="one site per row"):
        model.predict(one, client=["a", "b"])


def test_a_column_of_sites_passes_through_a_grid_and_a_pipeline(rows):
    X, y, client = rows
    coded = np.column_stack((X, np.searchsorted(["a", "b", "c"], client)))
    order = np.random.default_rng(0).permutation(len(y))
    grid = GridSearchCV(sf.CollaborativeRegressor(), {"client_column": [None, 2]}, cv=3)
    grid.fit(coded[order], y[order])
    assert grid.best_params_ == {"client_column": 2}
    assert grid.best_score_ > 0.8
    labels = np.where(y > np.median(y), "high", "low")
    pipeline = make_pipeline(sf.CollaborativeClassifier(client_column=-1)).fit(coded, labels)
    assert (pipeline.predict(coded) == labels).mean() > 0.85
    np.testing.assert_allclose(pipeline.predict_proba(coded).sum(1), 1, rtol=1e-12)
    assert pipeline[-1].classes_.tolist() == ["high", "low"]


def test_labels_in_a_pipeline_by_arguments(rows):
    from sklearn.preprocessing import StandardScaler

    X, y, client = rows
    pipeline = make_pipeline(StandardScaler(), sf.CollaborativeRegressor())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipeline.fit(X, y, collaborativeregressor__client=client)
    np.testing.assert_allclose(
        pipeline.predict(X, client=client),
        sf.CollaborativeRegressor().fit(X, y, client=client).predict(X, client=client),
        rtol=1e-7,
    )


def test_categories_are_refused_in_one_line():
    rows, y = np.array([["a", 1.0, "C"], ["b", 2.0, "D"]] * 10, dtype=object), np.arange(20.0)
    with pytest.raises(InputError, match=r"^X = 'C': make numbers of categories first") as caught:
        sf.CollaborativeRegressor(client_column=0).fit(rows, y)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="say which column it is by client_column"):
        sf.CollaborativeClassifier().fit(rows, y > 9)
