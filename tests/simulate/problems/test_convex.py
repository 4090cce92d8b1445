"""Convex profiles: slopes are derivatives, curvatures lie between mu and the smoothness, both attained."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate.problems import Kink, LogisticPiece

PROFILES = (
    Kink(inner=1.0, outer=0.25, width=0.5),
    Kink(inner=0.25, outer=2.0, width=1.0),
    Kink(inner=1.0, outer=0.0, width=1.0),
    LogisticPiece(ridge=0.1),
    LogisticPiece(),
)


@pytest.mark.parametrize("profile", PROFILES)
def test_slopes_and_constants(profile):
    u = torch.linspace(-20, 20, 40_001, dtype=torch.float64, requires_grad=True)
    value = profile.value(u)
    (slope,) = torch.autograd.grad(value.sum(), u)
    np.testing.assert_allclose(slope.detach(), profile.slope(u).detach(), rtol=1e-11, atol=1e-13)
    assert float(value.detach().min()) >= 0
    assert float(profile.value(torch.zeros(1))) == 0
    curvature = np.diff(profile.slope(u).detach().numpy()) / np.diff(u.detach().numpy())
    np.testing.assert_allclose(curvature.max(), profile.smoothness, rtol=1e-6)
    np.testing.assert_allclose(curvature.min(), profile.mu, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("w", "other", "shift"), [(1.0, 1.0, 0.7), (0.5, 1.5, 2.0)])
def test_gradients_of_two_clients_are_apart_by_no_more_than_it_says(profile, w, other, shift):
    u = torch.linspace(-20, 20, 4001, dtype=torch.float64)
    gap = float((w * profile.slope(u) - other * profile.slope(u + shift)).abs().max())
    stated = float(profile.apart(np.array(w), np.array(other), np.array(shift)))
    assert gap <= stated * (1 + 1e-12)
    assert stated <= 3 * gap or np.isinf(stated)


def test_small_values_keep_their_digits():
    u = torch.tensor([1e-9], dtype=torch.float64)
    np.testing.assert_allclose(LogisticPiece().value(u), u**2 / 2, rtol=1e-9)


@pytest.mark.parametrize("wrong", [{"inner": -1.0}, {"inner": 0.0, "outer": 0.0}, {"width": "wide"}])
def test_refused(wrong):
    with pytest.raises(InputError):
        Kink(**wrong)
