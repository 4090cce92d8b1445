"""A verdict consists of few parts, and what people asked of it they find still."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from one_line import one_line

from suffice.bounds import PARAMETERS
from suffice.verification import Outcome, Verdict
from suffice.verification.check import record
from suffice.verification.evidence import Evidence
from suffice.verification.evidence_summary import EvidenceSummary
from suffice.verification.verdict import Variants


def doubled(*, e0):
    return 2 * e0


def of_outcome(outcome, **parts):
    seen = {"examined": 1000, "met": {"a": 900}, "worst_ratio": 0.5} | parts.pop("seen", {})
    variants = Variants(**parts.pop("variants", {"mutants": 4}))
    return Verdict(
        theorem=record(doubled), outcome=outcome, evidence=EvidenceSummary(**seen), variants=variants, **parts
    )


def test_the_second_line_says_what_survivors_mean():
    holds = str(of_outcome(Outcome.HOLDS)).splitlines()
    assert holds == [
        "holds on 900 instances, worst ratio 0.5, 4 of 4 mutants refuted",
        "  nothing refutes the bound, and no wrong variant of it is left standing",
    ]
    left, wider = ("T shifted by +1", "mu and beta exchanged"), ("condition 'step' loosened by 5%",)

    def judged(survivors, outcome=Outcome.VALID):
        return of_outcome(outcome, variants={"mutants": 4, "standing": survivors}).judgement

    assert judged(left).startswith("valid, but 2 wrong variants survive: the bound may be improvable there (T shifted")
    assert judged(wider).startswith("valid, but 1 wrong variant survives: a condition may be improvable there (cond")
    assert judged(left + wider).startswith(
        "valid, but 3 wrong variants survive: bound and conditions may be improvable"
    )
    assert judged(left, Outcome.VIOLATED) == ""
    faulty = {"mutants": 4, "faults": ("two routes differ: here",), "standing": left}
    found = of_outcome(Outcome.INCONCLUSIVE, variants=faulty).judgement
    assert found == "inconclusive, because of the check itself: two routes differ: here"
    assert of_outcome(Outcome.VALID, seen={"met": {}}).judgement == ""


def test_few_instances_are_said_in_the_first_line_and_what_makes_them_few_below():
    seen = {"examined": 378, "met": {"a": 40, "b": 3}, "unmet": "low noise holds at 75 of 378 instances tried"}
    few = of_outcome(Outcome.VALID, seen=seen)
    assert few.summary.startswith("valid: only 43 of 378 instances met the conditions, worst ratio 0.5, 4 of 4")
    assert str(few).splitlines()[0].startswith("valid: only 43 of 378 instances met the conditions, ")
    assert "few instances: low noise holds at 75 of 378 instances tried" in one_line(few)
    for examined, instances, told in ((43, 43, False), (10_000, 999, True), (10_000, 1001, False), (120, 99, True)):
        verdict = of_outcome(Outcome.HOLDS, seen={"examined": examined, "met": {"a": instances}})
        assert ("only" in verdict.summary) is told
    assert "only" not in of_outcome(Outcome.VIOLATED, seen=seen).summary


def test_what_makes_instances_few_is_the_condition_that_the_fewest_meet():
    def conditions(*, e0, sigma2):
        return {"far": (1, e0), "little noise": (sigma2, 0.1), "noise": (0, sigma2)}

    e0, sigma2 = np.linspace(0, 2, 200), np.linspace(0, 1, 200)
    evidence = Evidence(engine="by hand", measured=e0, arguments={"e0": e0, "sigma2": sigma2[::-1]})
    theorem = record(doubled, conditions)
    seen = EvidenceSummary.from_evidence([evidence], evidence, theorem, equality=None)
    assert (seen.examined, seen.instances) == (200, 20)
    assert seen.unmet == "little noise holds at 20 of 200 instances tried, no condition at fewer"
    everywhere = EvidenceSummary.from_evidence([evidence], evidence, record(doubled), equality=None)
    assert everywhere.unmet == ""


def test_a_worst_ratio_of_nothing_is_explained():
    for direction, words in (("upper", "nothing above 0 and above rounding was measured"), ("lower", "at most 0")):
        theorem = replace(record(doubled), direction=direction)
        verdict = replace(of_outcome(Outcome.VALID, seen={"worst_ratio": 0.0}), theorem=theorem)
        assert words in one_line(verdict)
        assert words in verdict._repr_html_()
    assert "worst ratio 0:" not in one_line(of_outcome(Outcome.VALID))


@pytest.mark.parametrize("columns", ["", "50", "200"])
def test_lines_are_as_wide_as_the_terminal_and_values_stay_with_their_names(columns, monkeypatch):
    def none(*of):
        raise OSError

    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("os.get_terminal_size", none)
    tried = ", ".join(f"{name} = {at} to {10**at:,}" for at, name in enumerate(PARAMETERS) if at < 16)
    verdict = of_outcome(Outcome.VALID, tried=tried, not_tried="losses that are not quadratic, " * 9)
    lines = str(verdict).splitlines()
    most = int(columns or 79)
    assert max(map(len, lines)) <= most
    assert max(map(len, lines)) > most - 20
    assert all(line.startswith("  ") for line in lines[1:])
    for pair in tried.split(", ")[:6]:
        assert any(pair in line for line in lines), pair
    assert one_line(verdict).count("losses that are not quadratic") == 9
