"""What is no step for a certificate is refused for its reason; what is wrong in one, `test_recheck` has."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

from suffice.verification.claims import claim_of
from suffice.verification.identities import Identity, Step, Vector, vectors
from suffice.verification.identities.vector import scalars

a, b, eta, x = scalars("a b eta x")
g, h = vectors("g h")
FALSE_PRODUCT = (g @ h) ** 2 - 1 - (g @ g) * (h @ h)
CORNER = sympy.Symbol("x", positive=True)
INTEGER = sympy.Symbol("n", integer=True)
WRONG = {
    "1 <= 0 by a zero of the multiplier": (
        dict(left=1, right=0, terms=[((a - b) / (b - a), 1)], atoms=[a - b, b - a], facts=[1]),
        "no product of hypotheses",
    ),
    "1 <= 0 by -1 >= 0": (dict(left=1, right=0, terms=[(1, -1)], facts=[-1]), "no numbers are known"),
    "a negative multiplier": (
        dict(left=eta * (g @ g), right=0, terms=[(-eta, g)], atoms=[eta]),
        "the multiplier -eta is no product of hypotheses",
    ),
    "a cancelled divisor": (
        dict(left=0, right=1, terms=[(sympy.Mul(x, 1 / x, evaluate=False), 1)], atoms=[x], facts=[1]),
        "no product of hypotheses",
    ),
    "two vectors against Cauchy and Schwarz": (
        dict(left=0, right=FALSE_PRODUCT, terms=[(1, FALSE_PRODUCT)], facts=[FALSE_PRODUCT]),
        "no numbers are known",
    ),
    "|x| = x by an assumption of SymPy's": (
        dict(left=0, right=sympy.sqrt(CORNER**2), terms=[(1, CORNER)], facts=[CORNER]),
        "x is not one of `scalars` or `vectors`",
    ),
    "cos(pi n)^2 = 1 by another": (
        dict(left=sympy.cos(sympy.pi * INTEGER) ** 2, right=INTEGER, terms=[(1, INTEGER - 1)], facts=[INTEGER - 1]),
        "n is not one of `scalars` or `vectors`",
    ),
    "two symbols of one name": (
        dict(left=0, right=x, terms=[(1, sympy.Symbol("x"))], facts=[sympy.Symbol("x")]),
        "x is not one of `scalars` or `vectors`",
    ),
    "matrices that commute": (
        dict(left=sympy.Symbol("A", commutative=False) * x, right=0, terms=[]),
        "is not one of `scalars` or `vectors`",
    ),
    "a vector of two names": (
        dict(left=0, right=Vector({"a, b": 1}) @ Vector({"c": 1}), terms=[(1, Vector({"a": 1}) @ Vector({"b, c": 1}))])
        | dict(facts=[Vector({"a": 1}) @ Vector({"b, c": 1})]),
        "<a, b, c> is not one of `scalars` or `vectors`",
    ),
    "a root": (dict(left=0, right=sympy.sqrt(x), terms=[(sympy.sqrt(x), 1)], atoms=[x], facts=[1]), "no rational"),
    "infinity": (dict(left=x, right=sympy.oo, terms=[(sympy.oo, 1)], facts=[1]), "no rational expression"),
    "a float in a vector": (dict(left=0, right=0.01 * (g @ g), terms=[(1, 0.1 * g)]), "no rational expression"),
    "text": (dict(left="0", right=1, terms=[(1, 1)], facts=[1]), "no expression"),
    "a vector as a number": (dict(left=0, right=g, terms=[(1, g)]), "no expression"),
    "a negative term read once": (dict(left=g @ g, right=0, terms=iter([(-1, g)])), "multiplier -1 is no product"),
    "a contradiction read once": (
        dict(left=0, right=x, terms=[(x, 1)], atoms=[x], facts=iter([1, -1 - x])),
        "no numbers are known that meet all hypotheses",
    ),
    "a fact that no hypothesis states": (dict(left=0, right=x, terms=[(1, x)], atoms=[x]), "x is not among the facts"),
    "a point that does not meet the hypotheses": (
        dict(left=0, right=x, terms=[(1, x)], facts=[x], point={"x": -1}),
        "no numbers are known that meet all hypotheses",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_step_is_refused_for_its_reason(name):
    fields, reason = WRONG[name]
    step = Step(**fields)
    assert reason in step.refusal()
    assert not step.certified()


def test_a_point_may_be_given_where_the_search_finds_none():
    step = Step(left=0, right=x - 1000, terms=[(1, x - 1000)], facts=[x - 1000])
    assert step.refusal() == "no numbers are known that meet all hypotheses"
    assert replace(step, point={"x": 1000}).certified()


def test_a_rational_factor_that_sympy_multiplies_out_makes_no_difference():
    step = Step(left=0, right=(1 - eta) / 2 * (g @ g), terms=[((1 - eta) / 2, g)], atoms=[1 - eta])
    assert step.certified()
    assert replace(step, atoms=[3 - 3 * eta]).certified()
    assert "no product" in replace(step, atoms=[eta - 1]).refusal()


def test_a_claim_says_why_a_step_is_not_certified(monkeypatch):
    wrong = Identity(
        key="worst-case/sharp-step", says="from -1 >= 0", step=lambda: Step(**WRONG["1 <= 0 by -1 >= 0"][0])
    )
    monkeypatch.setattr("suffice.verification.claim.identities", lambda key: [wrong])
    verdict = claim_of("worst-case/sharp-step").verify()
    assert verdict.survivors == (
        "proof step not certified: from -1 >= 0: no numbers are known that meet all hypotheses",
    )
    assert verdict.outcome.value == "weak"
