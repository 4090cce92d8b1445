"""What Scafflix runs on: smoothness, counts of iterations, refusals; and the published probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from records import definition_of  # tests/helpers
from site_data import DATA

from suffice.bounds import InputError
from suffice.bounds.scafflix_settings import initial_control_variates, released_steps

LIBSVM = DATA / "libsvm"


def define(key, edition="corrected", **values):
    return definition_of("scafflix")(key, edition)(**values)


def logistic_hessian(features, labels, x, r):
    """By central differences of the gradient."""

    def gradient(x):
        return -(labels / (1 + np.exp(labels * (features @ x)))) @ features / len(features) + r * x

    step = 1e-5
    return np.stack([(gradient(x + step * e) - gradient(x - step * e)) / (2 * step) for e in np.eye(len(x))])


@pytest.mark.parametrize("seed", range(5))
def test_smoothness_constants_bound_the_hessian_and_are_attained(seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(12, 4)) @ np.diag([3, 1, 1, 0.2])
    labels, r = rng.choice([-1.0, 1.0], 12), 0.1
    given = {"features": features, "regularisation": r}
    L = define("smoothness-logistic", **given)
    # differences: third derivatives (5) times 1e-10, rounding 1e-16 / 1e-5
    np.testing.assert_allclose(np.linalg.eigvalsh(logistic_hessian(features, labels, np.zeros(4), r))[-1], L, rtol=1e-8)
    for _ in range(20):
        x = rng.normal(size=4)
        assert np.linalg.eigvalsh(logistic_hessian(features, labels, x, r))[-1] <= L * (1 + 1e-8)
        one = rng.integers(12)
        sample = np.linalg.eigvalsh(logistic_hessian(features[one : one + 1], labels[one : one + 1], x, r))[-1]
        assert sample <= define("sample-smoothness-logistic", **given) * (1 + 1e-8)
    assert L < define("smoothness-logistic", "printed", **given) <= define("sample-smoothness-logistic", **given)
    hessian = features.T @ features / 12 + r * np.eye(4)
    np.testing.assert_allclose(define("smoothness-least-squares", **given), np.linalg.norm(hessian, 2), rtol=1e-13)
    largest = max(np.linalg.norm(np.outer(a, a) + r * np.eye(4), 2) for a in features)
    np.testing.assert_allclose(define("sample-smoothness-least-squares", **given), largest, rtol=1e-13)


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("mu", lambda: released_steps(L=[1.0, 3.0], mu=2.0, alpha=1.0)),
        ("alpha", lambda: initial_control_variates(np.ones((2, 1)), eta=1.0, alpha=[0.5, 1.5])),
        ("alpha", lambda: initial_control_variates(np.ones((2, 1)), eta=1.0, alpha=[0.0, 1.0])),
        ("gradients", lambda: initial_control_variates(np.ones(2), eta=1.0, alpha=1.0)),
        ("alpha", lambda: initial_control_variates(np.ones((2, 1)), eta=1.0, alpha=[0.5, [1.0]])),
    ],
)  # fmt: skip
def test_wrong_constants_are_refused_by_name(field, call):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.field == field


@pytest.mark.parametrize(("name", "published"), [("mushrooms", 0.16883865479367444), ("a6a", 0.2344113416108792)])
def test_the_released_probability_of_a_communication_is_the_published_one(name, published):
    if not (LIBSVM / name).exists():
        pytest.skip(f"no {DATA / 'libsvm' / name}: set SUFFICE_DATA to the folder with the data files")
    from sklearn.datasets import load_svmlight_file

    features = load_svmlight_file(str(LIBSVM / name))[0].toarray()
    parts = np.array_split(np.column_stack([np.ones(len(features)), features]), 8)
    L = [define("smoothness-logistic-released", "printed", features=part, regularisation=0.1) for part in parts]
    assert released_steps(L=np.array(L), mu=0.1, alpha=1.0).p == pytest.approx(published, rel=1e-13)
