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
        library(torch.float64, "sparse_logistic")
    except Unavailable as reason:
        pytest.skip(str(reason))
    rng = np.random.default_rng(models)
    rows = rng.normal(size=(23, 4)) * (rng.random((23, 4)) < 0.5)
    rows[7] = 0  # a row without entries
    rows[8] *= 400  # margins far beyond what exp holds
    x, mu = rng.normal(size=(models, 4)) * 3, 0.3

    def of(rows, times):
        return logistic_means(csr_matrix(rows), x, times=times, mu=mu)

    def repeated(rows):  # more than the factors of one product
        return of(rows.repeat(30, axis=0), np.ones(30 * len(rows)))

    gradient, means = of(rows, np.ones(23))
    margin = x @ rows.T
    # a mean of 23 losses, each right to a few units in its last place
    np.testing.assert_allclose(means, np.logaddexp(0, -margin).mean(1) + mu / 2 * (x**2).sum(1), rtol=1e-14)
    np.testing.assert_allclose(gradient, mu * x - expit(-margin) @ rows / 23, rtol=1e-12, atol=1e-14)
    times = rng.integers(1, 4, size=23)
    several = rows.repeat(times, axis=0)
    for one, two in ((of(rows, times), repeated(several)), (repeated(rows), (gradient, means))):
        for ours, theirs in zip(one, two):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
