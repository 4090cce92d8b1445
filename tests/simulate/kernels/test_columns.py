"""The compiled logistic losses at many models, beside SciPy's functions row by row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit

from suffice.simulate.kernels import Unavailable, library, logistic_means


@pytest.mark.parametrize("models", [1, 16, 37])
def test_means_and_gradients_are_those_of_the_rows_one_by_one(models):
    import torch

    try:
        library(torch.float64, "columns")
    except Unavailable as reason:
        pytest.skip(str(reason))
    rng = np.random.default_rng(models)
    rows = rng.normal(size=(23, 5)) * (rng.random((23, 5)) < 0.5)
    rows[7] = 0  # a row without entries
    rows[8] *= 400  # margins far beyond what exp holds
    x = rng.normal(size=(models, 4)) * 3
    alpha, anchor, base, mu = rng.random(models), rng.normal(size=4), rng.integers(0, 2, size=4), 0.3

    def of(rows, times, *, value):
        flix = {"alpha": alpha, "anchor": anchor, "mu": mu}
        return logistic_means(csr_matrix(rows), x, times=times, base=base, **flix, value=value)

    def repeated(rows):  # more than the factors of one product
        return of(rows.repeat(30, axis=0), np.ones(30 * len(rows)), value=True)

    gradient, means = of(rows, np.ones(23), value=True)
    point = alpha[:, None] * x + (1 - alpha[:, None]) * anchor
    margin = np.column_stack((point @ base, point)) @ rows.T
    slope = -expit(-margin) @ rows / 23
    assert means is not None
    # a mean of 23 losses, each right to a few units in its last place
    np.testing.assert_allclose(means, np.logaddexp(0, -margin).mean(1) + mu / 2 * (point**2).sum(1), rtol=1e-14)
    expected = alpha[:, None] * (slope[:, 1:] + slope[:, :1] * base + mu * point)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-14)
    alone, none = of(rows, np.ones(23), value=False)
    assert none is None
    np.testing.assert_array_equal(alone, gradient)
    times = rng.integers(1, 4, size=23)
    several = rows.repeat(times, axis=0)
    for one, two in ((of(rows, times, value=True), repeated(several)), (repeated(rows), (gradient, means))):
        for ours, theirs in zip(one, two):
            assert ours is not None
            assert theirs is not None
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
