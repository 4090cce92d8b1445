"""The HTML page of verdicts: one section per claim, self-contained, violations above the line."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from suffice.figures.report import save_report
from suffice.verification import Outcome, verify

KEYS = ["adaptive/property-1", "adaptive/theorem-2-decreasing"]


@pytest.fixture(scope="module")
def verdicts():
    return verify(KEYS)


@pytest.fixture(scope="module")
def text(verdicts, tmp_path_factory):
    return save_report(verdicts, tmp_path_factory.mktemp("report") / "report.html").read_text(encoding="utf-8")


def test_every_claim_has_its_row_section_and_picture(verdicts, text):
    for verdict in verdicts:
        anchor = f"{verdict.theorem.key}-{verdict.theorem.edition}".replace("/", "-")
        assert f'href="#{anchor}"' in text
        assert f'id="{anchor}"' in text
        assert str(verdict.instances) in text.replace(",", "")
    pictures = text.count("<svg")
    assert pictures == sum(verdict.outcome is not Outcome.VACUOUS for verdict in verdicts) == 3
    assert "1 violated" in text
    assert "1 vacuous" in text


def test_nothing_is_loaded_from_elsewhere(text):
    addresses = set(re.findall(r'(?:src|href)="([^"#][^"]*)"', text))
    assert not addresses
    assert "<script" not in text


def test_kept_points_include_the_worst_instance(verdicts):
    tried = [verdict for verdict in verdicts if verdict.instances]
    assert len(tried) == 3  # all but the vacuous one
    for verdict in tried:
        ratios = [measured / bound for bound, measured in verdict.points if bound > 0]
        assert max(ratios) == pytest.approx(verdict.worst_ratio, rel=1e-12)
        assert len(verdict.points) <= 200


def test_text_from_claims_is_escaped(verdicts, tmp_path):
    odd = replace(verdicts[0], survivors=("<b> & co",))
    text = save_report([odd], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<b> & co" not in text
    assert "&lt;b&gt; &amp; co" in text
