"""Errata on steps and rates: both numbers, by hand or as known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from suffice.verification.errata.adaptive import descent, experiments, gradient, rates
from suffice.verification.errata.erratum import declared

ENTRIES = {entry.id: entry for entry in declared(descent, rates, gradient, experiments)}
EXACT = {  # id: (printed, measured), by hand
    "adaptive-lemma-1-index": (0.625, 1.25),
    "adaptive-lemma-1-correlated-noise": (0.0125, 0.125),
    "adaptive-appendix-noise-factor": (0.9, 4.05),
    "adaptive-appendix-positive-part": (-1.25 / 2.5625, 0),
    "adaptive-appendix-sum-index": (1 / 1.5625, 1.75 / 1.5625),
    "adaptive-theorem-2-horizon-negative": (
        50 * (1 + np.log(2e-4)),
        0.01 * (1 - np.log(2e-4)) ** 2 + 5 * np.log(2e-4) ** 2,
    ),
    "adaptive-theorem-2-decreasing-step": (2, 3),
    "adaptive-theorem-2-decreasing-start": (0.1, (198 * 199 / (208 * 209)) ** 2),
    "adaptive-appendix-horizon-logarithm": (0.002 * (1 + np.log(100)), 0.002 * (1 + np.log(500))),
    "adaptive-appendix-criterion-name": (4 / 3, 0.8),
    "adaptive-corollary-1-start": (0.02, 40),  # (18 * 19)^2 <= 0.01 (58 * 59)^2, and not at 57 * 58
    "adaptive-theorem-3-minimum": (2 * np.sqrt(2e-9), 0.01 * (1 - 0.9801**5) / (5 * 0.0199)),
    "adaptive-theorem-3-pl": (1 / 1.9801, 1),
    "adaptive-section-5-bounded-variance": (440, 44000),
    "adaptive-section-5-sublinear": (0.5, 0.625**10),
    "adaptive-code-figure-2-step": (0.90625**200, 0.9375**200),
}
DIGITS = {  # known to a few digits, from quadrature; the tolerances are half a unit of the last one
    "adaptive-theorem-1-random": (0.0056, 5e-5, 0.19685, 5e-6),
    "adaptive-theorem-1-step-limit": (0.9999, 5e-5, 0.2078, 5e-5),
    "adaptive-theorem-2-expectation": (0.00546, 5e-6, 0.19685, 5e-6),
    "adaptive-theorem-2-every-step": (0.00526, 5e-6, 0.0307, 5e-5),
    "adaptive-corollary-1-reached": (0.006, 1e-12, 0.0335, 5e-5),
    "adaptive-theorem-3-expectation": (0.0253, 5e-5, 0.1478, 5e-5),
}


def test_every_entry_is_known():
    assert set(ENTRIES) == {*EXACT, *DIGITS}


@pytest.mark.parametrize("identifier", EXACT)
def test_both_numbers(identifier):
    found = ENTRIES[identifier].compute()
    np.testing.assert_allclose([found.printed, found.measured], EXACT[identifier], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("identifier", DIGITS)
def test_known_digits(identifier):
    found = ENTRIES[identifier].compute()
    printed, loose, measured, tolerance = DIGITS[identifier]
    assert abs(found.printed - printed) <= loose
    assert abs(found.measured - measured) <= tolerance


def test_the_limit_of_the_step_by_hand():
    theta, r = 100.0, 1 - 1e-4
    limit = (1 + 99 * r**2) / (1 + 99 * r)
    theta -= 0.999 * limit * (theta + 99 * r * (theta - 1)) / (1 + 99 * r**2)
    later = 1 - 1 / theta**2
    found = ENTRIES["adaptive-theorem-1-step-limit"].compute()
    np.testing.assert_allclose(found.printed, limit, rtol=1e-12)
    np.testing.assert_allclose(found.measured, (1 + 99 * later**2) / (1 + 99 * later), rtol=1e-9)


def test_the_excess_after_the_printed_iterations_by_all_paths_written_out():
    """Client i among 99 peers, as two of 1/49.5 of the variance; noise +-sigma: every sequence of four outcomes."""
    eps, gap, total = 0.006, 0.02, 0.0
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    sigma2 = np.array([1, 1 / 49.5, 1 / 49.5])
    gamma = 2 / 0.901 - 1
    for outcomes in product(range(4), repeat=4):
        theta = np.sqrt(2 * eps)
        for t, outcome in enumerate(outcomes):
            gradient = np.array([theta, theta - gap, theta - gap])
            r = np.maximum(1 - (gradient - theta) ** 2 / theta**2, 0)
            weight = (r >= 0.9) / sigma2
            alpha = weight / (weight * r).sum()
            theta -= 2 / (t + 1 + gamma) * (alpha * (gradient + np.sqrt(sigma2) * signs[outcome])).sum()
        total += theta**2 / 2 / 4**4
    found = ENTRIES["adaptive-corollary-1-reached"].compute()
    np.testing.assert_allclose(found.measured, total, rtol=1e-9)
