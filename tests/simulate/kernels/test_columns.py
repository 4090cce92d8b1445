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
    x = rng.normal(size=(models, 5)) * 3
    gradient, means = logistic_means(csr_matrix(rows), x, value=True)
    margin = x @ rows.T
    assert means is not None
    # a mean of 23 losses, each right to a few units in its last place
    np.testing.assert_allclose(means, np.logaddexp(0, -margin).mean(1), rtol=1e-14)
    np.testing.assert_allclose(gradient, -expit(-margin) @ rows / 23, rtol=1e-12, atol=1e-14)
    alone, none = logistic_means(csr_matrix(rows), x)
    assert none is None
    np.testing.assert_array_equal(alone, gradient)
    times = rng.integers(1, 4, size=23)
    many, some = (
        logistic_means(csr_matrix(of), x, times=count, value=True)
        for of, count in ((rows, times), (rows.repeat(times, axis=0), None))
    )
    for ours, repeated in zip(many, some):
        assert ours is not None
        assert repeated is not None
        np.testing.assert_allclose(ours, repeated, rtol=1e-12, atol=1e-14)
