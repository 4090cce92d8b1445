"""The sample-optimality paper's errata: each computes its two numbers, and they are those known from elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suffice.verification.errata.sample_optimal import ERRATA

PREFIX = "sample-optimal-"
# printed, measured, relative tolerance of both; by hand unless the comment says more
KNOWN = {
    "theorem-1-infimum": (1e4 * 32, 4, 1e-12),
    "theorem-1-count": (1, 3, 0),
    "theorem-1-quarter": (1, 3, 0),
    "theorem-1-matching": (1, 1000, 0),
    "theorem-2-bias": (1, 0.5, 1e-12),  # b^2/mu and b^2/(2 mu)
    "theorem-2-threshold": (1, 6.25, 1e-12),  # b^2/(8 mu), b^2 = 1/2, mu = 0.01
    "theorem-2-normaliser": (1, 2, 0),
    "theorem-2-rounds": (0, math.ceil(-math.log(1e4) / (2 * math.log(0.99))), 0),
    "theorem-3-rate": (math.exp(-15), 0.0088, 0.01),  # a scan over step sizes with all eigenvectors of W, 2 digits
    "theorem-3-sketch-transpose": (0.75, 0.5, 1e-12),
    "theorem-3-sketch-step": (-1, 0.5, 1e-12),
    "theorem-3-sketch-mean": (0.95, 0.5, 1e-12),
    "corollary-1-graph": (28, 5945, 0),  # between 3000 and 10000 by the same scan
    "corollary-1-start": (2 * math.log(1.05), 1, 1e-12),
    "corollary-1-mean": (115, 196, 0),  # ceil(ln 100/r)/2 and ceil(ln 50.5/r), r = -2 ln 0.99; 4.61 and 7.84 in 1/2r
    "corollary-1-speedup": (0.1, 10, 1e-9),
    "linear-dissimilarity": (0.1 * math.sqrt(0.08), 0.2, 1e-12),
    "linear-noise": (1, 2 * 100**2 + 1, 1e-12),
    "assumption-4-centred": (math.sqrt(0.08), 0, 1e-12),
    "assumption-4-dimension": (1, 10, 1e-12),
    "assumption-4-tail": (1, 2 + 2 * math.log(2), 1e-9),  # the quadrature ends at u = 13
    "theorem-5-exponent": (100, 1, 1e-12),
    "theorem-5-indicator": (0, 0.15**2 / 8, 1e-12),
    "theorem-5-bias": (4, 100 * 2**2 / 8, 1e-12),
    # q = 0.01 at z = 2.326; E k/(k + 1) = 1 - (1 - (1 - q)^M)/(M q) of a binomial k of M - 1
    "theorem-5-clusters": (0.01, 1 - (1 - 0.99**400) / 4, 1e-9),
    "theorem-5-rows": (math.exp(-15), 0.0024, 0.01),  # as for theorem-3-rate
    "theorem-4-size": (1e4, 2, 1e-12),
    "section-5-bias": (4, 16, 1e-12),  # means of (0, 8, 8, 0) and of half their squares
}
# how far apart the two numbers are at least: the larger over the smaller
FACTOR = dict.fromkeys(KNOWN, 1.7) | {"theorem-3-sketch-transpose": 1.5}
BY_ID = {entry.id.removeprefix(PREFIX): entry for entry in ERRATA}


def test_every_erratum_is_known():
    assert set(BY_ID) == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_both_numbers_are_computed_and_differ(name):
    printed, measured, tolerance = KNOWN[name]
    found = BY_ID[name].compute()
    np.testing.assert_allclose(found.printed, printed, rtol=tolerance, atol=1e-200)
    np.testing.assert_allclose(found.measured, measured, rtol=tolerance, atol=0)
    small, large = sorted((abs(found.printed), abs(found.measured)))
    assert large >= FACTOR[name] * small
