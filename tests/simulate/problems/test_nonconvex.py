"""Non-convex losses: the stated constants are bounds, nearly attained; they are not convex; some are not PL."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import Ripple, Separable, Well

PROFILES = {
    "ripple": Ripple(3.0),
    "gentle ripple": Ripple(1.2),
    "steep ripple": Ripple(4.55),
    "well": Well(),
}
GRID = torch.linspace(-30, 30, 600_001, dtype=torch.float64)


@pytest.mark.parametrize("name", PROFILES)
def test_slope_and_curvature_are_the_derivatives_and_the_smoothness_is_attained(name):
    profile = PROFILES[name]
    u = GRID.clone().requires_grad_()
    (slope,) = torch.autograd.grad(profile.value(u).sum(), u)
    np.testing.assert_allclose(profile.slope(GRID), slope, rtol=1e-11, atol=1e-12)
    assert profile.value(torch.zeros(1)) == 0
    assert profile.value(GRID).min() >= 0
    (curvature,) = torch.autograd.grad(profile.slope(u).sum(), u)
    np.testing.assert_allclose(curvature.abs().max(), profile.smoothness, rtol=1e-8)
    assert curvature.min() < -0.3  # not convex


@pytest.mark.parametrize("amplitude", [1.01, 1.5, 3.0, 4.0, 4.6])
def test_ripple_is_pl_with_a_constant_that_is_tight_and_safe(amplitude):
    profile = Ripple(amplitude)
    u = GRID[GRID > 0]
    ratio = profile.slope(u) ** 2 / (2 * profile.value(u))
    at = u[ratio.argmin()]
    near = torch.linspace(at.item() - 1e-3, at.item() + 1e-3, 200_001, dtype=torch.float64)
    least = (profile.slope(near) ** 2 / (2 * profile.value(near))).min()
    assert profile.mu <= least <= profile.mu * (1 + 3e-6)
    assert (profile.slope(u) > 0).all()  # one stationary point


@pytest.mark.parametrize("amplitude", [1.0, 0.5, 4.61, -2.0, np.nan])
def test_amplitudes_outside_the_range_are_refused(amplitude):
    with pytest.raises(InputError, match="amplitude"):
        Ripple(amplitude)


def test_a_well_is_bounded_and_not_pl():
    profile = PROFILES["well"]
    assert profile.value(GRID).max() <= 1
    far = torch.tensor([1e4], dtype=torch.float64)
    assert profile.slope(far) ** 2 < 1e-6 * profile.value(far)
    problem = Separable.of(profile, [[0.0, 1.0]], sigma2=1.0)
    assert not {"PL", "strongly convex"} & problem.assumptions
    assert not problem.mu.any()
    with pytest.raises(InputError, match="not PL"):
        problem.constants()


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize(("w", "other"), [(1.0, 1.0), (2.0, 0.5)])
def test_distance_of_slopes_is_bounded_and_where_claimed_attained(name, w, other):
    profile = PROFILES[name]
    for shift in (0.0, 0.1, 1.3, 4.0):
        bound = profile.apart(np.array(w), np.array(other), np.array(shift))
        measured = (w * profile.slope(GRID) - other * profile.slope(GRID + shift)).abs().max().item()
        if np.isinf(bound):
            assert measured > 50  # grows with the range
            continue
        assert measured <= bound * (1 + 1e-12)
        if name != "well":
            np.testing.assert_allclose(measured, bound, rtol=1e-7, atol=1e-12)


def test_constants_scale_with_the_weights_of_the_coordinates():
    scale = np.array([[1.0, 0.5], [2.0, 4.0]])
    problem = Separable.of(Ripple(3.0), [[0.0, 1.0], [1.0, 1.0]], scale=scale, sigma2=[1.0, 2.0], start=[3.0, 3.0])
    constants = problem.constants()
    np.testing.assert_allclose(constants.beta, [8.0, 32.0], rtol=1e-14)
    np.testing.assert_allclose(constants.mu, [Ripple(3.0).mu * 0.5, Ripple(3.0).mu * 2], rtol=1e-14)
    np.testing.assert_allclose(constants.sigma2, [1.0, 2.0], rtol=1e-14)
    np.testing.assert_allclose(constants.excess[0], 9 + 3 * np.sin(3) ** 2 + 0.5 * (4 + 3 * np.sin(2) ** 2), rtol=1e-14)
    assert "bounded heterogeneity" not in problem.assumptions
    equal = Separable.of(Ripple(3.0), [[0.0, 1.0], [1.0, 1.0]], sigma2=1.0)
    np.testing.assert_allclose(equal.heterogeneity().b2[0, 1], (2 + 6 * np.sin(1)) ** 2, rtol=1e-14)
    assert not equal.heterogeneity().c.any()
    assert "bounded heterogeneity" in equal.assumptions
