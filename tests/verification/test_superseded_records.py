"""Superseded records against the sharper ones: what they say of them is exact, so that no constant can change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

from suffice.bounds import THEOREMS, find
from suffice.bounds.theorem import Sharper
from suffice.verification import Outcome
from suffice.verification.array_formula import Formulas
from suffice.verification.claim import EFFORTS
from suffice.verification.evidence import AGREEMENT
from suffice.verification.superseded_records import superseded

SUPERSEDED = [theorem for theorem in THEOREMS if theorem.superseded_by]
every = pytest.mark.parametrize("theorem", SUPERSEDED, ids=lambda theorem: theorem.key)


@every
def test_it_is_what_it_says_of_the_sharper_one(theorem):
    verdict = superseded(theorem).verify()
    assert verdict.outcome is Outcome.HOLDS, str(verdict)
    assert verdict.mutants >= 6
    assert verdict.instances > 4  # a decreasing step is rarely within both of its limits at typical arguments
    assert abs(verdict.worst_ratio - 1) < AGREEMENT


def moved_constants(node: Any) -> Iterator[tuple[str, Any]]:
    """Every number and every term of a sum moved by 5 % either way, 2 to 1.9 and 2.1; not the -1 of quotients."""
    for at, part in enumerate(node.args):
        changes = moved_constants(part)
        if (part.is_Number and part != -1) or node.is_Add:
            twentieth = sympy.Rational(1, 20)
            moved = ((f"{part} in {node} times {by}", by * part) for by in (1 - twentieth, 1 + twentieth))
            changes = (*moved, *changes)
        for change, variant in changes:
            yield change, node.func(*node.args[:at], variant, *node.args[at + 1 :])


@pytest.mark.share(3)
@every
def test_no_constant_of_it_can_change(theorem):
    claim, whole = superseded(theorem), theorem.expression()
    formulas = Formulas(whole, theorem.bound_keywords)
    pieces = claim.explored(EFFORTS["quick"], 0)
    points = [(piece, piece.counted(theorem), piece.bound(theorem)) for piece in pieces]
    tried, survivors = 0, []
    with sympy.evaluate(False):
        variants = list(moved_constants(whole))
    for change, variant in variants:
        bound = formulas.function(variant)
        differs = refuted = False
        for piece, counted, own in points:
            value = piece.bound(theorem, bound)
            ratio = piece.against(value, theorem.direction)
            differs |= bool((counted & (np.abs(value - own) > 1e-6 * np.abs(own))).any())
            refuted |= bool((counted & (np.abs(ratio - 1) > AGREEMENT) & (piece.measured != value)).any())
        tried += differs
        survivors += [change] if differs and not refuted else []
    assert tried >= 4
    assert tried > len(variants) / 2  # the rest changes what is 0 or not the maximum at typical arguments
    assert survivors == []


def test_an_old_condition_wider_than_the_new_one_is_violated():
    theorem = find("sample-optimal/theorem-5")
    fault = replace(theorem, conditions=lambda *, mu, beta: {"curvature mu <= beta": (mu, beta)})
    assert superseded(fault).verify().outcome is Outcome.VIOLATED


def test_a_record_whose_ratio_is_no_number_says_what_it_is():
    with pytest.raises(ValueError, match="exactly"):
        Sharper(key="cobo/theorem-1-star", ratio=(1, 2))
