"""Sharpness in the regime as it is kept and shown: computed, in the regime, on the page with the loosest first."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pages import verdicts

from suffice.bounds import THEOREMS, find
from suffice.bounds.saved_verdicts import known
from suffice.verification.claims import claim_of
from suffice.verification.evidence import Evidence
from suffice.verification.regime import outside, parts_of
from suffice.verification.sharpness import sharpness

THEOREM_2 = "adaptive/theorem-2-constant"


@pytest.mark.parametrize("key", [THEOREM_2, "averaged-sgd/theorem-1-finite", "sample-optimal/theorem-3-sharp"])
def test_kept_ratios_are_computed_and_lie_in_the_regime(key):
    row = known()[key, "corrected"]["regime"]
    found = sharpness(claim_of(key)).to_dict()
    assert_allclose(found["ratio"], row["ratio"], rtol=1e-5)
    assert found["parts"] == row["parts"]
    theorem = find(key)
    at = {name: np.array([value]) for name, value in row["at"].items()}
    seen = Evidence(engine="none", measured=np.zeros(1), arguments=at)
    assert outside(theorem, seen)[0] < 1e-4  # six digits are kept


def test_every_corrected_record_with_a_verdict_has_one_and_the_loosest_comes_first():
    wanted = {(t.key, t.edition) for t in THEOREMS if t.guarantee and not t.superseded_by} & known().keys()
    for name in wanted:
        regime = known()[name]["regime"]
        assert list(parts_of(find(*name))[0]) == regime["parts"], name
        assert (regime["ratio"] is None) == (regime["at"] is None)
        assert regime["ratio"] is None or 0 <= regime["ratio"] <= 1 + 1e-6, name
    lines = [line.split(" | ") for line in verdicts.sharpness().splitlines()[2:]]
    ratios = [float(cells[2]) for cells in lines if cells[2] != "-"]
    assert len(ratios) > 60
    assert ratios == sorted(ratios)
    assert [cells[2] for cells in lines[len(ratios) :]] == ["-"] * (len(lines) - len(ratios))
