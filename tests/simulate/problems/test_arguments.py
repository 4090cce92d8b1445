"""Arguments of problems that are none, each refused by its name."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.simulate import LeastSquares, Logistic, Quadratics, Separable, StreamingLeastSquares, Well, generators

EYES, ROWS = np.stack([np.eye(2)] * 3), (12, 30, 19)
X = [np.random.default_rng(5).normal(size=(n, 3)) for n in ROWS]
SIGNS = [(x[:, 0] > 0).astype(int) for x in X]


def changed(index: tuple[int, ...], value: float) -> np.ndarray:
    A = EYES.copy()
    A[index] = value
    return A


KINDS = {
    "quadratics": (Quadratics.of, {"A": EYES, "xi": np.zeros((3, 2)), "sigma2": 1.0}),
    "a stream": (StreamingLeastSquares.of, {"H": EYES, "theta_star": np.zeros((3, 2))}),
    "least squares": (LeastSquares.of, {"X": X, "y": [x[:, 0] for x in X]}),
    "logistic": (Logistic.of, {"X": X, "y": SIGNS, "regularisation": 0.1}),
    "separable": (Separable.of, {"profile": Well(), "optimum": np.zeros((2, 2)), "sigma2": 1.0}),
    "clusters": (generators.clustered, {"sizes": [1, 1], "features": 2, "separation": 1.0}),
    "a continuum": (generators.continuum, {"clients": 3, "features": 2}),
    "conditioned": (generators.conditioned, {"clients": 2, "features": 2, "condition": 2.0}),
    "an example": (generators.cobo_example, {}),
    "regression": (generators.adaptive_regression, {"edition": "stated", "features": 2}),
}
REFUSED = [
    ("quadratics", "A[1]", {"A": changed((1, 0, 1), 0.5)}),
    ("quadratics", "smallest eigenvalue of A[2]", {"A": changed((2, 1, 1), 0.0)}),
    ("quadratics", "smallest eigenvalue of A[0]", {"A": changed((0, 1, 1), -1.0)}),
    ("quadratics", "A", {"A": changed((0, 0, 0), np.nan)}),
    ("quadratics", "A", {"A": [[[1.0, 0.0], [0.0]]]}),
    ("quadratics", "xi", {"xi": np.zeros((2, 2))}),
    ("quadratics", "xi", {"xi": np.full((3, 2), np.inf)}),
    ("quadratics", "sigma2", {"sigma2": [1.0, -1.0, 1.0]}),
    ("quadratics", "sigma2", {"sigma2": None}),
    ("quadratics", "sigma2", {"covariance": EYES}),
    ("quadratics", "covariance", {"sigma2": None, "covariance": changed((0, 0, 1), 0.5)}),
    ("quadratics", "covariance", {"sigma2": None, "covariance": EYES[:2]}),
    ("quadratics", "theta0", {"start": np.zeros((2, 2))}),
    ("quadratics", "theta0", {"start": [[0.0, 0.0], [0.0], [0.0, 0.0]]}),
    ("quadratics", "theta0", {"start": ["here", "there"]}),
    ("quadratics", "names", {"names": 3}),
    ("a stream", "smallest eigenvalue of H[0]", {"H": np.diag([1.0, 0.0])}),
    ("a stream", "H", {"H": EYES[:0], "theta_star": np.zeros((0, 2))}),
    ("a stream", "theta_star", {"theta_star": np.zeros((2, 2))}),
    ("a stream", "theta_star", {"theta_star": np.zeros((3, 3))}),
    ("a stream", "theta_star", {"bias": True}),
    ("a stream", "label_noise", {"label_noise": -1.0}),
    ("a stream", "batch", {"batch": 0}),
    ("least squares", "regularisation", {"regularisation": -0.1}),
    ("least squares", "regularisation", {"regularisation": "a"}),
    ("least squares", "batch", {"batch": True}),
    ("least squares", "theta0", {"start": np.zeros(2)}),
    ("least squares", "names", {"names": ("a",)}),
    ("logistic", "labels", {"y": [np.full(n, 2) for n in ROWS]}),
    ("logistic", "labels", {"y": [np.array([0, 1] * 6), np.array([-1, 1] * 15), np.ones(19)]}),
    ("logistic", "y of client 1", {"y": [SIGNS[0], np.full(30, np.nan), SIGNS[2]]}),
    ("logistic", "y of client 2", {"y": [*SIGNS[:2], np.ones(18)]}),
    ("logistic", "X of client 0", {"X": [np.full((12, 3), np.inf), *X[1:]]}),
    ("logistic", "X of client 1", {"X": [X[0], np.ones((30, 2)), X[2]]}),
    ("logistic", "rows of client 0", {"X": [np.ones((0, 3)), *X[1:]], "y": [np.ones(0), *SIGNS[1:]]}),
    ("logistic", "clients", {"X": [], "y": []}),
    ("logistic", "regularisation", {"regularisation": np.nan}),
    ("separable", "optimum", {"optimum": [[np.nan, 1.0]]}),
    ("separable", "scale", {"scale": 0.0}),
    ("separable", "scale", {"scale": [-1.0, 1.0]}),
    ("separable", "sigma2", {"sigma2": None}),
    ("separable", "covariance", {"sigma2": None, "covariance": -EYES[:2]}),
    ("separable", "theta0", {"start": np.zeros(3)}),
    ("separable", "names", {"names": ("a",)}),
    ("clusters", "sizes[1]", {"sizes": [2, 0], "features": 3}),
    ("clusters", "features", {"sizes": [1] * 4}),
    ("clusters", "spread", {"spread": -0.1}),
    ("clusters", "seed", {"seed": -1}),
    ("clusters", "curvature", {"curvature": [1.0] * 3}),
    ("a continuum", "clients", {"clients": 1}),
    ("a continuum", "length", {"length": -1.0}),
    ("conditioned", "condition", {"condition": 0.5}),
    ("conditioned", "features", {"features": 1}),
    ("an example", "curvatures", {"curvatures": (0.0, 1.0)}),
    ("regression", "edition", {"edition": "printed"}),
]


@pytest.mark.parametrize(("kind", "field", "change"), REFUSED)
def test_a_wrong_argument_is_named(kind, field, change):
    make, given = KINDS[kind]
    make(**given)
    with pytest.raises(InputError) as caught:
        make(**given | change)
    assert caught.value.field == field
