"""What Scafflix runs on: constants, starts, steps; and the published probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from records import definition_of  # tests/helpers
from site_data import DATA

from suffice.bounds.scafflix_settings import initial_control_variates, released_steps

LIBSVM = DATA / "libsvm"


def define(key, edition="corrected", **values):
    return definition_of("scafflix")(key, edition)(**values)


def test_definitions_of_the_corollaries_are_the_largest_and_the_mean_they_say():
    A, C, mu = np.array([2.0, 6.0, 3.0]), np.array([4.0, 1.0, 0.0]), np.array([1.0, 2.0, 0.5])
    assert define("condition-number", A=A, mu=mu) == 6
    assert define("largest-noise", C=C, mu=mu) == 4
    assert define("mean-noise", C=C, mu=mu) == 1.5


def drawn(seed, n):
    """Constants mu, L, C (n,) of clients, condition numbers up to 30."""
    rng = np.random.default_rng(seed)
    L = np.exp(rng.uniform(-1.5, 1.5, n))
    return L * np.exp(-rng.uniform(0, np.log(30), n)), L, np.exp(rng.uniform(-6, 2, n)), rng


def test_initial_control_variates_are_the_nearest_point_whose_weighted_sum_is_0():
    for seed in range(200):
        _, L, _, rng = drawn(seed, 3)
        eta, alpha, g = rng.uniform(0.01, 1, 3) / L, rng.uniform(0.1, 1, 3), 3 * rng.normal(size=(3, 2))
        h = initial_control_variates(g, eta=eta, alpha=alpha)
        np.testing.assert_allclose(alpha @ h, 0, atol=1e-13 * np.abs(g).sum())
        # in the norm sum eta_i |h_i|^2, by least squares on a basis
        basis = np.linalg.svd(alpha[None])[2][1:].T
        root = np.sqrt(eta)[:, None]
        nearest = basis @ np.linalg.lstsq(root * basis, root * g, rcond=None)[0]
        np.testing.assert_allclose(h, nearest, rtol=1e-9, atol=1e-10 * np.abs(g).max())
        model, control, p = *rng.uniform(0, 1, (2, 3)), 0.3
        Psi = define("lyapunov", model_distance2=model, control_distance2=control, eta=eta, p=p)
        np.testing.assert_allclose(Psi, eta.min() * (model / eta + eta / p**2 * control).mean(), rtol=1e-13)


def test_constants_of_the_mixed_objective_bound_its_hessian():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        root, alpha = rng.normal(size=(3, 2, 2)), rng.uniform(0.1, 1, 3)
        H = root @ root.swapaxes(1, 2) + 0.1 * np.eye(2)
        mu, L = np.linalg.eigvalsh(H).T
        low, high = np.linalg.eigvalsh(np.einsum("i,ijk->jk", alpha**2, H) / 3)
        assert define("flix-strong-convexity", alpha=alpha, mu=mu) <= low * (1 + 1e-12)
        assert high <= define("flix-smoothness", alpha=alpha, beta=L) * (1 + 1e-12)
    assert define("flix-smoothness", alpha=np.ones(3), beta=np.full(3, 2.0)) == 2


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


@pytest.mark.parametrize(("name", "published"), [("mushrooms", 0.16883865479367444), ("a6a", 0.2344113416108792)])
def test_the_released_probability_of_a_communication_is_the_published_one(name, published):
    if not (LIBSVM / name).exists():
        pytest.skip(f"no {DATA / 'libsvm' / name}: set SUFFICE_DATA to the folder with the data files")
    from sklearn.datasets import load_svmlight_file

    features = load_svmlight_file(str(LIBSVM / name))[0].toarray()
    parts = np.array_split(np.column_stack([np.ones(len(features)), features]), 8)
    L = [define("smoothness-logistic-released", "printed", features=part, regularisation=0.1) for part in parts]
    assert released_steps(L=np.array(L), mu=0.1, alpha=1.0).p == pytest.approx(published, rel=1e-13)
