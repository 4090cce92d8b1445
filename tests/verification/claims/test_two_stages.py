"""Two stages: planted faults in the plan and in the weights are seen."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification import Outcome
from suffice.verification.claims.sample_optimal import two_stages


def rounds():
    return next(claim for claim in two_stages.claims() if claim.theorem.key.endswith("two-stage-rounds"))


@pytest.mark.parametrize(("stage", "share"), [("T1", 0.5), ("T2", 0.6)])
def test_a_plan_with_fewer_rounds_in_one_stage_misses_the_precision(stage, share, monkeypatch):
    made = two_stages.plan
    monkeypatch.setattr(
        two_stages, "plan", lambda known: (found := made(known)) | {stage: np.floor(share * found[stage])}
    )
    assert rounds().verify().outcome is Outcome.VIOLATED
