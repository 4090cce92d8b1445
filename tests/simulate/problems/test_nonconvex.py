"""Profiles of losses: their constants and the distance of two slopes are bounds, nearly attained; some are not PL."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import Ripple, Separable, Well
from suffice.simulate.problems import Kink, LogisticPiece

PROFILES = {
    "ripple": Ripple(3.0),
    "gentle ripple": Ripple(1.2),
    "steep ripple": Ripple(4.55),
    "well": Well(),
    "kink inside": Kink(inner=1.0, outer=0.25, width=0.5),
    "kink outside": Kink(inner=0.25, outer=2.0, width=1.0),
    "Huber": Kink(inner=1.0, outer=0.0, width=1.0),
    "logistic and ridge": LogisticPiece(ridge=0.1),
    "logistic": LogisticPiece(),
}
CONVEX = [name for name, profile in PROFILES.items() if isinstance(profile, (Kink, LogisticPiece))]
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
    if name in CONVEX:
        np.testing.assert_allclose(curvature.min(), profile.mu, rtol=1e-6, atol=1e-7)
    else:
        assert curvature.min() < -0.3


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


@pytest.mark.parametrize(
    ("field", "make"),
    [
        *(("amplitude", lambda amplitude=amplitude: Ripple(amplitude)) for amplitude in (1.0, 0.5, 4.61, -2.0, np.nan)),
        ("inner", lambda: Kink(inner=-1.0)),
        ("inner", lambda: Kink(inner=0.0, outer=0.0)),
        ("width", lambda: Kink(width="wide")),
    ],
)
def test_shapes_outside_their_range_are_refused(field, make):
    with pytest.raises(InputError, match=field):
        make()


def test_small_values_keep_their_digits():
    u = torch.tensor([1e-9], dtype=torch.float64)
    np.testing.assert_allclose(LogisticPiece().value(u), u**2 / 2, rtol=1e-9)


def test_a_well_is_bounded_and_not_pl():
    profile = PROFILES["well"]
    assert profile.value(GRID).max() <= 1
    far = torch.tensor([1e4], dtype=torch.float64)
    assert profile.slope(far) ** 2 < 1e-6 * profile.value(far)
    problem = Separable.of(profile, [[0.0, 1.0]], sigma2=1.0)
    assert not problem.mu.any()
    with pytest.raises(InputError, match="not PL"):
        problem.constants()


@pytest.mark.share(2)
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize(("w", "other"), [(1.0, 1.0), (2.0, 0.5)])
def test_distance_of_slopes_is_bounded_and_where_claimed_attained(name, w, other):
    profile = PROFILES[name]
    for shift in (0.0, 0.1, 1.3, 4.0):
        bound = profile.apart(np.array(w), np.array(other), np.array(shift))
        apart = (w * profile.slope(GRID) - other * profile.slope(GRID + shift)).abs()
        measured = apart.max().item()
        if np.isinf(bound):
            assert measured > 1.4 * apart[GRID.abs() < 15].max()  # grows with the range
            continue
        assert measured <= bound * (1 + 1e-12)
        if name in CONVEX:
            assert bound <= 3 * measured
        elif name != "well":
            np.testing.assert_allclose(measured, bound, rtol=1e-7, atol=1e-12)


def test_constants_scale_with_the_weights_of_the_coordinates():
    scale = np.array([[1.0, 0.5], [2.0, 4.0]])
    problem = Separable.of(Ripple(3.0), [[0.0, 1.0], [1.0, 1.0]], scale=scale, sigma2=[1.0, 2.0], start=[3.0, 3.0])
    constants = problem.constants()
    np.testing.assert_allclose(constants.beta, [8.0, 32.0], rtol=1e-14)
    np.testing.assert_allclose(constants.mu, [Ripple(3.0).mu * 0.5, Ripple(3.0).mu * 2], rtol=1e-14)
    np.testing.assert_allclose(constants.sigma2, [1.0, 2.0], rtol=1e-14)
    np.testing.assert_allclose(constants.excess[0], 9 + 3 * np.sin(3) ** 2 + 0.5 * (4 + 3 * np.sin(2) ** 2), rtol=1e-14)
    assert constants.heterogeneity.c.any()
    equal = Separable.of(Ripple(3.0), [[0.0, 1.0], [1.0, 1.0]], sigma2=1.0)
    np.testing.assert_allclose(equal.heterogeneity().b2[0, 1], (2 + 6 * np.sin(1)) ** 2, rtol=1e-14)
    assert not equal.heterogeneity().c.any()
