"""scikit-learn estimators: `fit(X, y, client=...)`, `predict(X, client=...)`; rows without a site belong to one.

Site labels go beside X, as an array or as the first or named column of it (`client_column`), which is how they pass
through pipelines and `GridSearchCV` whatever is cut into folds.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from suffice.support.errors import InputError

from .fit import fit as make
from .fitted import Fit
from .site_models import POPULATION

ONLY = "all"
"""The site of rows that name none."""


class _Collaborative(BaseEstimator):
    """The part that both estimators share.

    client_column   a column of X that names the site of each row (its name in a data frame, its position in an array),
                    or None: sites are given to `fit` and `predict` by `client`
    """

    fit_: Any

    def __init__(self, client_column: str | int | None = None) -> None:
        self.client_column = client_column

    def _divided(self, X: Any, client: Any, y: Any = None, **checks: Any) -> tuple[np.ndarray, np.ndarray, Any]:
        """Predictors (n, d), sites (n,) and the target (n,), where one is given to learn from, by scikit-learn's own
        checks; `InputError` for predictors that hold categories."""
        if self.client_column is not None:
            if client is not None:
                raise InputError("client", "given twice", "sites are a column of X already; drop one of them")
            X, client = _without(X, self.client_column)
        try:
            if y is None and checks:
                validate_data(self, X, y)  # says that y is missing
            if y is None:
                X = validate_data(self, X, reset=False, dtype=np.float64)
            else:
                X, y = validate_data(self, X, y, dtype=np.float64, **checks)
        except ValueError as error:
            found = re.match("could not convert string to float: '(.*)'", str(error))
            if found is None:
                raise
            remedy = "make numbers of categories first, as by OneHotEncoder in a pipeline; suffice.fit does so itself"
            remedy += ". If this names a site, say which column it is by client_column"
            raise InputError("X", found[1], remedy) from None
        if client is None:
            return X, np.full(len(X), ONLY, dtype=object), y
        sites = np.asarray(client)
        if sites.shape != (len(X),):
            raise InputError("client", f"array of shape {sites.shape}", f"give one site per row, {len(X)}")
        return X, np.array([str(site) for site in sites.tolist()], dtype=object), y

    def _fitted(self, X: np.ndarray, y: np.ndarray, sites: np.ndarray, loss: str) -> Fit:
        columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(X.shape[1])}
        return make({"(site)": sites, **columns, "(target)": y}, client="(site)", target="(target)", loss=loss)

    def _scores(self, X: Any, client: Any) -> np.ndarray:
        check_is_fitted(self, "fit_")
        X, sites, _ = self._divided(X, client)
        if client is None and self.client_column is None and len(self.fit_) > 1:
            sites[:] = POPULATION
        return self.fit_.scores(self.fit_.encoding.encoded(X), sites)


class CollaborativeRegressor(RegressorMixin, _Collaborative):
    """Least squares with one model per site; `fit_` is the `suffice.Fit`. Sites not seen in `fit`, and rows
    without a site, get the population's model."""

    def fit(self, X: Any, y: Any, client: Any = None) -> CollaborativeRegressor:
        X, sites, y = self._divided(X, client, y, y_numeric=True)
        self.constant_ = float(y[0]) if (y == y[0]).all() else None
        self.fit_ = self._fitted(X, y, sites, "least-squares") if self.constant_ is None else None
        return self

    def predict(self, X: Any, client: Any = None) -> np.ndarray:
        check_is_fitted(self, "constant_")
        if self.constant_ is not None:
            return np.full(len(self._divided(X, client)[0]), self.constant_)
        return self._scores(X, client)[:, 0]


class CollaborativeClassifier(ClassifierMixin, _Collaborative):
    """Logistic regression has one model per site, multinomial for three classes or more; it sets `classes_`, `fit_`."""

    def fit(self, X: Any, y: Any, client: Any = None) -> CollaborativeClassifier:
        X, sites, y = self._divided(X, client, y, multi_output=False)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("y", f"{len(self.classes_)} class", "a classifier needs at least two classes")
        loss = "logistic" if len(self.classes_) == 2 else "multinomial"
        self.fit_ = self._fitted(X, codes.astype(float), sites, loss)
        return self

    def predict(self, X: Any, client: Any = None) -> np.ndarray:
        probable = self.predict_proba(X, client)
        return self.classes_[probable.argmax(1)]

    def predict_proba(self, X: Any, client: Any = None) -> np.ndarray:
        scores = self._scores(X, client)
        return self.fit_.shares(scores)


def _without(X: Any, column: str | int) -> tuple[Any, np.ndarray]:
    """X without a column, and that column."""
    if hasattr(X, "columns") and hasattr(X, "drop"):
        names = list(X.columns)
        at = column if isinstance(column, int) else names.index(column) if column in names else len(names)
        if not -len(names) <= at < len(names):
            from suffice.simulate.data.table import no_column

            raise no_column("client_column", str(column), list(map(str, names)))
        return X[[other for other in names if other != names[at]]], np.asarray(X[names[at]])
    array = np.asarray(X)
    if array.ndim != 2 or not isinstance(column, int) or not -array.shape[1] <= column < array.shape[1]:
        raise InputError("client_column", column, "give the position of a column of X")
    return np.delete(array, column, axis=1), array[:, column]
