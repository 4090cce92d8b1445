"""Errata of the paper's tables and of the branch on related works: both numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.errata.adaptive import related_works, tables
from suffice.verification.errata.erratum import declared

ENTRIES = {entry.id: entry for entry in declared(related_works, tables)}
EXACT = {  # id: (printed, measured)
    "adaptive-code-branch-ditto": (0.9, 1 - 0.1 * (1 + 1000)),  # a step of 0.1 against x + 1000 x at x = 1
    "adaptive-code-branch-cobo": (0.9, 1 - 0.1 * (1 + 1000)),
    "adaptive-code-branch-wga-bc": (19 / 400, 1),
    "adaptive-code-branch-ratio": (0, 0.75),
    "adaptive-table-2-text": (28.9, 30.8),
    "adaptive-table-s2-loss": (-4.1, 0),
    "adaptive-definition-s1-labels": (11, 10),
    "adaptive-equation-1-samples": (1.01, 0.011953125),
}


def test_every_entry_is_known():
    assert set(ENTRIES) == set(EXACT)


@pytest.mark.parametrize("identifier", EXACT)
def test_both_numbers(identifier):
    found = ENTRIES[identifier].compute()
    # evaluate rounds outward by 4.5e-13
    np.testing.assert_allclose([found.printed, found.measured], EXACT[identifier], rtol=1e-12, atol=1e-13)
