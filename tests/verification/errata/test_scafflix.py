"""Errata of the Scafflix paper: both numbers, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.errata import scafflix as papers

ENTRIES = {entry.id.removeprefix("scafflix-"): entry for entry in papers.ERRATA}
ROUNDS = np.array([0.95, 0.5]) ** 10
"""What ten local steps of 0.05 leave of the distance to the minimiser, curvatures 1 and 10."""
P2 = 0.1 / 13.375
"""The released p^2 at L = (100, 1, ..., 1), mu = 0.1."""
EXACT = {  # id: (printed, measured), by hand
    "assumption-3-samples": (4 * 14.25 / 2, 4 * 14.25),  # D = |x|^2/2, |x|^2 = 14.25; E|g|^2 = 8 D
    "assumption-3-convexity": (10, 90.5),
    "algorithm-1-start": (0.8, 0.4),
    "initial-control-variates": (0, 0.4),
    "weight-zero": (12.5, 0),
    "smoothness-logistic": (5.6885, 0.935),
    "code-smoothness-logistic": (0.0022, 0.102),
    "code-smoothness-least-squares": (0.0088, 0.108),
    "code-local-optimum": (10 / 11, 0.5),
    "code-probability": (13.375**-0.5, 0.1),
    "code-coin": (0.8, 0.8**10),
    # x = ((.95^10 x) + (.5^10 (x - 1) + 1)) / 2, against the minimiser of the mean
    "code-control-reset": ((1 - ROUNDS[1]) / (2 - ROUNDS.sum()), 10 / 11),
    "code-labels": (1, 0.5),
}
GROWTH = "code-step"


def test_every_entry_is_known():
    assert set(ENTRIES) == {*EXACT, GROWTH}


@pytest.mark.parametrize("identifier", EXACT)
def test_both_numbers(identifier):
    found = ENTRIES[identifier].compute()
    np.testing.assert_allclose([found.printed, found.measured], EXACT[identifier], rtol=1e-11, atol=1e-13)


def test_the_released_step_multiplies_the_lyapunov_function():
    found = ENTRIES[GROWTH].compute()
    np.testing.assert_allclose(found.printed, 1 - P2, rtol=1e-12)
    # between communications the stiff client grows by (1 - 100/13.375)^2 = 41.95
    assert 0.9 < found.measured / ((1 - P2**0.5) * (1 - 100 / 13.375) ** 2) < 1.1
