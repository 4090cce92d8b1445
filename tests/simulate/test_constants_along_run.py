"""Measured constants of a linear module beside those that least squares knows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

import suffice as sf

RNG = np.random.default_rng(43)
X = [RNG.normal(size=(n, 4)) * scale for n, scale in ((12, 1.0), (9, 2.0), (15, 0.5))]
Y = [x @ RNG.normal(size=4) + RNG.normal(size=len(x)) for x in X]


def test_a_linear_module_has_the_constants_of_least_squares():
    plain = sf.LeastSquares.of(X, Y, batch=3)
    module = nn.Linear(4, 1, bias=False).double()
    network = sf.Neural.of(module, X, Y, batch=3)
    found = sf.measured_constants(network, sf.Local(), iterations=4, eta=0.01, grid=[0, 4], samples=4000)
    largest = [2 * np.linalg.eigvalsh(x.T @ x / len(x))[-1] for x in X]
    assert_allclose(found.curvature, np.tile(largest, (2, 1)), rtol=1e-6)  # eigenvalues err by the square of vectors
    start = network.start[None]
    variance = plain.variance(network.start).diagonal().numpy()
    assert_allclose(found.variance[0], variance, rtol=0.1)  # 4000 samples: standard errors of 2 to 3 %
    assert_allclose(found.gap2[0], plain.gradient_gap(start)[0].numpy(), rtol=1e-9, atol=1e-12)
    bound = np.maximum(found.b[None] ** 2, 0)
    assert (found.gap2 <= bound * (1 + 1e-12)).all()
    assert (found.gap2 <= found.c * found.gradient2[..., None] * (1 + 1e-12)).all()


def test_known_constants_are_not_measured_and_measured_ones_are_no_plan():
    with pytest.raises(sf.InputError, match=r"ask problem\.constants"):
        sf.measured_constants(sf.LeastSquares.of(X, Y), sf.Local(), iterations=2, eta=0.1)
    network = sf.Neural.of(nn.Linear(4, 1, bias=False).double(), X, Y)
    found = sf.measured_constants(network, sf.Local(), iterations=2, eta=torch.tensor(0.01).item(), samples=2)
    for given in (network, found):
        with pytest.raises(sf.InputError, match="what was measured is no guarantee"):
            sf.plan(given, epsilon=0.1)
