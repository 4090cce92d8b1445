"""Superseded records against the sharper ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suffice.bounds import THEOREMS, find
from suffice.verification import Outcome
from suffice.verification.superseded import superseded

SUPERSEDED = [theorem for theorem in THEOREMS if theorem.superseded_by]


@pytest.mark.parametrize("theorem", SUPERSEDED, ids=lambda theorem: theorem.key)
def test_it_is_nowhere_sharper(theorem):
    verdict = superseded(theorem).verify()
    assert verdict.expected, str(verdict)
    assert verdict.instances > 4  # a decreasing step is rarely within both of its limits at typical arguments
    low, high = theorem.superseded_by.ratio
    assert 1 / high < verdict.worst_ratio * (1 + 1e-9)
    assert verdict.worst_ratio * low <= 1 + 1e-9


def test_an_old_bound_below_the_new_one_is_violated():
    theorem = find("sample-optimal/corollary-1")
    fault = replace(theorem, bound=lambda *, mu, beta, eps, e0, sigma2, lambda2: 0.9 * beta / mu + 0 * eps)
    assert superseded(fault).verify().outcome is Outcome.VIOLATED


def test_an_old_condition_wider_than_the_new_one_is_violated():
    theorem = find("sample-optimal/theorem-5")
    fault = replace(theorem, conditions=lambda *, mu, beta: {"curvature mu <= beta": (mu, beta)})
    assert superseded(fault).verify().outcome is Outcome.VIOLATED
