"""Definition 1's criteria and the step ratio q <= rbar = 1 / sum_k alpha_k that each guarantees."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import Binary, Continuous, Criterion, Custom, InputError, Sharp, collaboration_weights

PHI = {  # written anew, one number at a time
    "binary-0.2": (Binary(threshold=0.2), lambda x: 0.2 if x >= 0.2 else 0.0),
    "binary-0.7": (Binary(threshold=0.7), lambda x: 0.7 if x >= 0.7 else 0.0),
    "binary-1": (Binary(threshold=1.0), lambda x: 1.0 if x >= 1 else 0.0),
    "continuous": (Continuous(), lambda x: x),
    "sharp": (Sharp(), lambda x: 1 - (1 - x) ** 0.5),
    "square": (Custom(function=lambda x: x**2), lambda x: x**2),
    "identity": (Custom(function=lambda x: x), lambda x: x),
}
each = pytest.mark.parametrize(("criterion", "phi"), PHI.values(), ids=PHI)


def rbar(phi, mass, similarity):
    """1 / sum_k alpha_k of Definition 1; client i comes first, with similarity 1."""
    weights = [a * phi(r) for a, r in zip(mass, similarity)]
    return sum(w * r for w, r in zip(weights, similarity)) / sum(weights)


@each
def test_phi_and_psi_are_the_definition(criterion, phi):
    x = np.array([0, 1e-6, 0.1, 0.2, 0.5, 0.69, 0.7, 0.9, 1])
    expected = np.array([phi(float(value)) for value in x])
    # Sharp: 1 - sqrt(1 - x) cancels near 0, an absolute error of one unit of 1
    np.testing.assert_allclose(criterion.phi(x), expected, rtol=1e-15, atol=2e-16)
    np.testing.assert_allclose(criterion.psi(x), x * expected, rtol=1e-15, atol=2e-16)
    assert isinstance(criterion, Criterion)


@each
def test_step_ratio_is_never_above_the_realised_ratio_and_attained(criterion, phi):
    rng = np.random.default_rng(1)
    for _ in range(15):
        mass = np.exp(rng.uniform(-4, 4, rng.integers(2, 7)))
        q = float(criterion.step_ratio(mass[0] / mass.sum()))
        for _ in range(60):
            similarity = [1.0, *rng.choice([0, 0.2, 0.7, 1, *rng.uniform(0, 1, 4)], len(mass) - 1)]
            assert rbar(phi, mass, similarity) >= q * (1 - 1e-13)  # rounding of a few sums
        # every peer adds phi(r)(r - q) a_k: the worst r is the same for all
        worst = min(rbar(phi, mass, [1.0] + [r] * (len(mass) - 1)) for r in [0.2, 0.7, *np.linspace(0, 1, 501)])
        assert q <= worst * (1 + 1e-13)
        np.testing.assert_allclose(q, worst, rtol=0, atol=1e-3)


@each
def test_step_ratio_takes_arrays_of_shares_and_is_1_for_a_client_alone(criterion, phi):
    shares = np.array([0.05, 0.4, 1.0])
    got = criterion.step_ratio(shares)
    np.testing.assert_array_equal(got, [float(criterion.step_ratio(share)) for share in shares])
    assert got[2] == 1
    assert (np.diff(got) >= 0).all()


@pytest.mark.parametrize(
    ("function", "remedy"),
    [
        (lambda x: 0.5 * x + 0.1, r"phi\(0\) = 0"),
        (lambda x: 0 * x, r"phi\(1\) > 0"),
        (lambda x: x * (1 - x) + 0.1 * x, "nondecreasing"),
        (lambda x: np.sqrt(x), r"phi\(x\) <= x"),
        (lambda x: x[:5], "one finite number per similarity"),
        (lambda x: np.where(x > 0.9, np.nan, x), "one finite number per similarity"),
    ],
)
def test_custom_criterion_outside_definition_1_is_refused(function, remedy):
    with pytest.raises(InputError, match=f"^criterion = .*{remedy}"):
        Custom(function=function)


@pytest.mark.parametrize("bad", [0, 1.5, -0.1, float("nan"), "x", np.array([0.5, 0.0])])
def test_binary_threshold_outside_its_interval_is_refused(bad):
    with pytest.raises(InputError, match=r"^threshold = "):
        Binary(threshold=bad)


@pytest.mark.parametrize("threshold", [0.1, 0.3, 1 / 3, 0.7, 1.0])
def test_binary_threshold_is_inclusive_up_to_rounding(threshold):
    x = np.array([threshold, np.nextafter(threshold, 0), threshold * (1 - 1e-12)])
    np.testing.assert_array_equal(Binary(threshold=threshold).phi(x), [threshold, threshold, 0])


@each
def test_torch_and_numpy_agree_in_double_precision(criterion, phi):
    x = np.array([[1, 0.05, 0.2, 0.75], [1, 0.9, 0.0, 1.0]])
    sigma2 = np.array([1.0, 0.5, 3.0, 2.0])
    tensor = torch.from_numpy(x)
    for function in (criterion.phi, criterion.psi):
        assert function(tensor).dtype == torch.float64
        np.testing.assert_allclose(function(tensor).numpy(), function(x), rtol=1e-15)
    weights = collaboration_weights(criterion, similarity=tensor, sigma2=torch.from_numpy(sigma2))
    assert weights.dtype == torch.float64
    expected = collaboration_weights(criterion, similarity=x, sigma2=sigma2)
    np.testing.assert_allclose(weights.numpy(), expected, rtol=1e-14)  # sums of four terms in another order
