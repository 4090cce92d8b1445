"""Errata on similarity, criteria and released code: both numbers, by hand or as known."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import GradientDissimilarity
from suffice.verification.errata.adaptive import criteria, released, similarity
from suffice.verification.errata.erratum import declared

ENTRIES = {entry.id: entry for entry in declared(similarity, criteria, released)}
EXACT = {  # id: (printed, measured), by hand
    "adaptive-property-1-constant": (2, 4),
    "adaptive-property-1-symmetric": (8 * 0.3**2, 1 + 0.4**2),
    "adaptive-definition-1-above-one": (1, 5000 / 2500.5),
    "adaptive-definition-1-zero-criterion": (1, 0),
    "adaptive-definition-2-square": (0.25, 0),
    "adaptive-definition-2-limit": (1 / (0.5 + 4 * 0.25), 1 / (0.5 + 0.25 / 4)),
    "adaptive-definition-2-jump": (1 / (0.5 + 0.25), 2),
    "adaptive-definition-2-name": (1, 0.5),
    "adaptive-lemma-2-index": (100 / (1 + (23 / 24) ** 2), 100),
    "adaptive-lemma-2-expectation": (0.64, 1),
    "adaptive-lemma-2-models": (0, 1),
    "adaptive-remark-3-phi": (1 / 1.25, 1 / 1.5),
    "adaptive-definition-3-least-psi": (0.5, 0.25),
    "adaptive-definition-3-continuous": (1 / (3 * 1e-4), 1 / 1.3601),
    "adaptive-corollary-1-index": (1 / 3, 1 / (1 + 0.9**2 + 0.3**2)),
    "adaptive-section-4-strict": (1, 0),
    "adaptive-lemma-2-chain": (1 / (1 + 0.5**2), 1),
    "adaptive-code-figure-1-constant": (2, 4),
    "adaptive-code-figure-1-translation": (9, 0),
    "adaptive-code-figure-1-threshold": (2, 0),
    "adaptive-code-ratio-opposite": (0.8, 0),
    "adaptive-code-ratio-alike": (0, 0.96),
    "adaptive-code-weights-variances": (101 / 4, 100 / 101),
    "adaptive-code-weights-normalised": (1.5625 / 1.75, 1),
    "adaptive-code-no-threshold": (1.19 / 20, 0.525),
    "adaptive-code-figure-2-clusters": (2, 20),
    "adaptive-code-figure-2-batch": (2, 1),
}
DIGITS = {  # known to three digits, from simulation (the first) and quadrature; the tolerance is of the last one
    "adaptive-equation-1-identical": (1, 0.377, 2e-3),
    "adaptive-equation-1-dissimilar": (0, 0.099, 5e-4),
}


def test_every_entry_is_known():
    assert set(ENTRIES) == {*EXACT, *DIGITS}


@pytest.mark.parametrize("identifier", EXACT)
def test_both_numbers(identifier):
    found = ENTRIES[identifier].compute()
    np.testing.assert_allclose([found.printed, found.measured], EXACT[identifier], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("identifier", DIGITS)
def test_both_numbers_of_the_estimator(identifier):
    printed, measured, tolerance = DIGITS[identifier]
    found = ENTRIES[identifier].compute()
    assert found.printed == printed
    np.testing.assert_allclose(found.measured, measured, rtol=0, atol=tolerance)


def test_identical_clients_are_dropped_as_often_in_a_simulation():
    rng = np.random.default_rng(1)
    own, peer = 0.1**0.5 + rng.normal(size=(2, 400_000))
    often = (np.abs(own - peer) < np.abs(own)).mean()
    # five standard errors of 400,000 draws
    np.testing.assert_allclose(ENTRIES["adaptive-equation-1-identical"].compute().measured, often, rtol=0, atol=4e-3)


def measured(identifier):
    return ENTRIES[identifier].compute().measured


def test_numbers_follow_the_engine(monkeypatch):
    """Were the released script's constant right, the entry would show no difference."""
    honest = released.released_code
    monkeypatch.setattr(
        released,
        "released_code",
        lambda A, xi: GradientDissimilarity(b2=2 * honest(A, xi).b2, c=np.zeros_like(honest(A, xi).c)),
    )
    found = ENTRIES["adaptive-code-figure-1-constant"].compute()
    assert found.printed == found.measured == 4
