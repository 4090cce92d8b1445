"""Ten runs of the quick verification with different roots of the random numbers: the same verdicts."""

from __future__ import annotations

import pytest

from suffice.verification import verify
from suffice.verification.claims import all_claims


@pytest.mark.slow
def test_verdicts_of_ten_roots_are_the_same():
    found = [
        {(verdict.theorem.key, verdict.theorem.edition): verdict for verdict in verify(root=root, jobs=2)}
        for root in range(10)
    ]
    assert len(found[0]) == sum(claim.theorem.superseded_by is None for claim in all_claims())
    for name in found[0]:
        verdicts = [verdicts[name] for verdicts in found]
        assert {verdict.outcome for verdict in verdicts} == {verdicts[0].outcome}, name
        for verdict in verdicts:
            assert verdict.expected, str(verdict)


def test_other_roots_try_other_instances():
    """That the verdicts of two roots agree says something only if they rest on different random numbers."""
    one, other = (verify(["worst-case/one-step"], root=root)[0] for root in (3, 4))
    assert one.outcome is other.outcome
    assert one.points != other.points
