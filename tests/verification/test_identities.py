"""Proof steps are certified exactly, and what is no step is refused for its reason."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy

from suffice.bounds import find
from suffice.verification.claims import claim_of
from suffice.verification.identities import IDENTITIES, Identity, Step, Vector, vectors
from suffice.verification.identities.adaptive import gradient_time, jensen, lemma_1, telescoping
from suffice.verification.identities.cobo import cluster_dissimilarity
from suffice.verification.identities.scafflix import coin
from suffice.verification.identities.vector import scalars
from suffice.verification.identities.worst_case import one_step, one_step_beyond, sharp_step

every = pytest.mark.parametrize("identity", IDENTITIES, ids=lambda entry: f"{entry.key}: {entry.says}")


@pytest.mark.share(2)
@every
def test_a_step_is_certified_and_rests_on_each_of_its_hypotheses(identity):
    step = identity.step()
    assert step.refusal() == ""
    assert step.certified()
    assert find(identity.key).guarantee
    for kind in ("atoms", "facts"):
        hypotheses = getattr(step, kind)
        for at in range(len(hypotheses)):
            assert not replace(step, **{kind: [*hypotheses[:at], *hypotheses[at + 1 :]]}).certified()
    for at in range(len(step.terms)):
        assert not replace(step, terms=[*step.terms[:at], *step.terms[at + 1 :]]).certified()
    # no step holds on the edge of its hypotheses alone
    inside = replace(step, positive=[*step.positive, *step.atoms, *step.facts])
    assert inside.rational_point() is not None


@pytest.mark.share(2)
@every
def test_a_step_that_is_slightly_else_is_refused_for_its_reason(identity):
    step = identity.step()
    for term in sympy.Add.make_args(sympy.expand(step.right)):
        assert not replace(step, right=step.right - term / 100).certified(), term
    for at, (multiplier, fact) in enumerate(step.terms):
        moved = [*step.terms[:at], (multiplier * sympy.Rational(101, 100), fact), *step.terms[at + 1 :]]
        assert replace(step, terms=moved).refusal() == "right - left is not the sum of the terms"
        # a negative multiplier, though the identity is exact
        turned = [*step.terms[:at], (-multiplier, fact), *step.terms[at + 1 :]]
        lost = 2 * multiplier * (fact @ fact if isinstance(fact, Vector) else fact)
        assert "no product of hypotheses" in replace(step, terms=turned, right=step.right - lost).refusal()
    for at, divisor in enumerate(step.positive):
        others = [*step.positive[:at], *step.positive[at + 1 :]]
        reason = replace(step, positive=others, atoms=[*step.atoms, divisor]).refusal()
        assert reason in ("a divisor is not declared positive", "no product of hypotheses")  # below, or in a multiplier
    (extra,) = scalars("extra,")
    hypothesis = [*step.positive, *step.atoms, *step.facts, extra][0]
    for kind in ("positive", "atoms", "facts"):
        worse = replace(step, **{kind: [*getattr(step, kind), hypothesis, -1 - hypothesis]})
        assert worse.refusal() == "no numbers are known that meet all hypotheses"


# --- Boundaries, and sums over any number of clients or steps ----------------------------------------------


def test_one_step_covers_a_pull_equal_to_the_weight():
    """Of one client, or of alike ones, the ball of peers is a point: r = 0, which no step may divide by."""
    near, beyond = one_step(), one_step_beyond()
    values = {"beta": 1, "r": 0, "p": 1, "g": 1, "y": 1}
    assert replace(near, point=values | {"eta": Fraction(1, 2)}).certified()
    assert replace(beyond, point=values | {"eta": 2}).certified()


def _at(expression, values):
    found = sympy.sympify(expression).xreplace({s: sympy.sympify(values[s.name]) for s in expression.free_symbols})
    return Fraction(int(found.p), int(found.q))


def _clients(seed, count):
    """Rational weights and vectors of dimension 2 of `count` clients."""
    rng = np.random.default_rng(seed)
    draw = lambda *shape: np.vectorize(lambda n: Fraction(int(n), 7))(rng.integers(1, 30, size=shape))  # noqa: E731
    return draw, draw(count), draw(count, 2), draw(2)


def _gram(weights, **families):
    """<x, y> = sum_k w_k <x_k, y_k> for all pairs; a vector is the family of its copies."""
    whole = {name: np.broadcast_to(family, (len(weights), 2)) for name, family in families.items()}
    return {f"<{p}, {q}>": (weights * (whole[p] * whole[q]).sum(1)).sum() for p in whole for q in whole}


counts = pytest.mark.parametrize("count", [1, 2, 3, 5])


@counts
def test_lemma_1_and_jensen_are_about_sums_over_any_number_of_clients(count):
    draw, weight, h, g = _clients(0, count)
    eta, beta, V, e = draw(4)
    A, mixed = weight.sum(), weight @ h
    m = mixed / A
    values = {"eta": eta, "beta": beta, "A": A, "V": V, "e": e, **_gram(weight, g=g, m=m, y=h - m)}
    assert values["<m, y>"] == values["<g, y>"] == 0
    step, similar = lemma_1(), ((h - g) ** 2).sum(1)
    assert _at(step.left, values) == e - eta * (g @ mixed) + eta**2 * beta / 2 * (mixed @ mixed + V)
    assert _at(step.right, values) == e - eta / 2 * (A * (g @ g) - weight @ similar) + eta**2 * beta / 2 * V
    assert _at(jensen().left, values) == (mixed @ mixed) / A
    assert _at(jensen().right, values) == weight @ (h**2).sum(1)


@counts
def test_cluster_dissimilarity_is_about_clusters_of_any_size(count):
    draw, _, gradients, _ = _clients(1, count)
    (M,) = draw(1)
    mean = gradients.sum(0) / count
    values = {"M": M, "c": Fraction(count), **_gram(np.full(count, Fraction(1, count)), g=mean, y=gradients - mean)}
    step = cluster_dissimilarity()
    pairs = [M**2 * ((p + q) @ (p + q)) - (p - q) @ (p - q) for p, q in combinations(gradients, 2)]
    assert _at(step.facts[0], values) == sum(pairs)
    assert _at(step.left, values) == sum((p - mean) @ (p - mean) for p in gradients) / count
    share = Fraction(2 * (count - 1)) * M**2 / (count - (count - 2) * M**2)
    assert _at(step.right, values) == share * (mean @ mean)


@counts
def test_the_coin_is_about_any_number_of_clients(count):
    draw, gamma, x, _ = _clients(2, count)
    p = Fraction(3, 10)
    k = draw(count, 2)
    k = k - k.sum(0) / count  # sum_i k_i = 0
    m = (1 / gamma) @ x / (1 / gamma).sum()
    values = {"p": p, **_gram(1 / gamma, m=m, y=x - m, k=gamma[:, None] * k)}
    assert values["<k, m>"] == values["<m, y>"] == 0
    # communicated with probability p: all models become m, and h_i moves by (p/gamma_i)(m - x_i)
    moved = k + (p / gamma)[:, None] * (m - x)
    norm = lambda family, weights: weights @ (family**2).sum(1)  # noqa: E731
    after = p * (norm(np.broadcast_to(m, x.shape), 1 / gamma) + norm(moved, gamma) / p**2)
    after += (1 - p) * (norm(x, 1 / gamma) + norm(k, gamma) / p**2)
    assert _at(coin().left, values) == after
    before = norm(x - gamma[:, None] * k, 1 / gamma) + (1 / p**2 - 1) * norm(k, gamma)
    assert _at(coin().right, values) == before == after  # an equality


@counts
def test_the_sharp_step_is_about_any_number_of_clients(count):
    draw, s, _, _ = _clients(3, count)
    beta, G = draw(2)
    p = draw(count)
    Y = (p**2 / s).sum()
    values = {"beta": beta, "G": G, "<v, v>": Y}
    x = G * p / (beta * s * (1 + G * Y))
    assert _at(sharp_step().left, values) == G / (2 * beta) * (1 - beta * (p @ x)) ** 2 + beta / 2 * (x**2 @ s)
    assert _at(sharp_step().right, values) == G / (2 * beta * (1 + G * Y))


@pytest.mark.parametrize("steps", [1, 2, 4, 9])
def test_telescoping_is_about_any_number_of_steps(steps):
    draw = _clients(4, 1)[0]
    eta, beta, s2, level = draw(4)
    u, v, G, P = draw(4, steps + 1)
    now, before = slice(1, None), slice(None, -1)
    values = {"eta": eta, "beta": beta, "s2": s2, "level": level, "first": u[0], "last": u[-1]}
    values |= {"u": u[now].sum(), "v": v[now].sum(), "G": G[now].sum(), "P": P[now].sum()}
    descent = (v[now] - u[now] + eta**2 * beta * s2 / 2 * P[now] - eta / 2 * G[now]).sum()
    inclusion = (u[before] - v[now]).sum()
    assert [_at(fact, values) for fact in telescoping().facts] == [descent, inclusion, u[-1]]
    steep = (G[now] - level * P[now]).sum()
    assert [_at(fact, values) for fact in gradient_time().facts] == [descent, inclusion, steep, u[-1]]


# --- What a step says ----------------------------------------------------------------------------------------


def test_inner_products_are_bilinear_and_symmetric():
    rng = np.random.default_rng(0)
    u, v, w = vectors("u v w")
    numbers = {name: rng.normal(size=4) for name in "uvw"}
    gram = {
        sympy.Symbol(f"<{a}, {b}>", real=True): float(numbers[a] @ numbers[b])
        for a, b in ("uu", "uv", "uw", "vv", "vw", "ww")
    }
    left, right = 2 * u - 3 * v + w, v - w
    expected = (2 * numbers["u"] - 3 * numbers["v"] + numbers["w"]) @ (numbers["v"] - numbers["w"])
    np.testing.assert_allclose(float((left @ right).subs(gram)), expected, rtol=1e-12)
    assert sympy.expand(left @ right - right @ left) == 0


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
