"""What every claim keeps: its verdict, a record with a bound, sharp instances that count, conditions needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffice.bounds import THEOREMS
from suffice.bounds.saved_verdicts import known
from suffice.verification import Outcome
from suffice.verification.claims import all_claims, unchecked, verify
from suffice.verification.evidence import sides
from suffice.verification.mutants import mutants
from suffice.verification.widened_conditions import FURTHEST, violates_beyond, widened

CLAIMS = {f"{claim.theorem.key} {claim.theorem.edition}": claim for claim in all_claims()}
CURRENT = [name for name, claim in CLAIMS.items() if claim.theorem.superseded_by is None]


def test_every_corrected_record_that_gives_a_number_has_one_claim():
    assert len(CLAIMS) == len(all_claims())
    assert [record.key for record in unchecked() if record.edition == "corrected" and record.bound is not None] == []
    assert {claim.theorem.key for claim in CLAIMS.values()} <= {record.key for record in THEOREMS}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", CLAIMS)
def test_its_instances_are_measured(name):
    claim = CLAIMS[name]
    theorem = claim.theorem
    assert theorem.bound is not None
    assert claim.families or claim.exact is not None
    for family in claim.families:
        values = family.draw(4, seed=5)
        assert set(values) == set(family.domains)
        batches = [("drawn", values)] if family.sharp is None else [("drawn", values), ("sharp", family.sharp())]
        for kind, batch in batches:
            evidence = family.evidence(batch)
            assert evidence.engine
            assert evidence.label
            counted = evidence.counted(theorem)  # refuses NaN
            assert {parameter.name for parameter in theorem.parameters} <= set(evidence.arguments)
            assert all(np.shape(value) == counted.shape for value in evidence.arguments.values())
            assert kind == "drawn" or counted.any() or not theorem.guarantee


# Fewer mutants than three: one product, of which only the whole, or the whole and an exchange, can be made wrong.
FEW_MUTANTS = {
    "adaptive/definition-1-weights", "adaptive/definition-1-effective-local", "adaptive/largest-variance-continuous",
    "adaptive/corollary-1-variance", "adaptive/section-4-variance", "sample-optimal/assumption-3-peer",
    "sample-optimal/section-5-bias", "sample-optimal/theorem-1", "sample-optimal/theorem-1-sum",
    "sample-optimal/theorem-2-threshold", "scafflix/corollary-2-iterations", "scafflix/equalised-iterations",
    "scafflix/equalised-sharp-iterations",
    "cobo/selection-radius", "worst-case/sharp-step", "worst-case/contraction",
}  # fmt: skip


@pytest.mark.share(6)
@pytest.mark.parametrize("name", CURRENT)
def test_its_verdict_is_the_kept_one_whatever_the_random_numbers(name):
    """Kept are those of full effort at root 0; here the effort is quick and the root is another."""
    claim, theorem = CLAIMS[name], CLAIMS[name].theorem
    kept, verdict = known()[theorem.key, theorem.edition], claim.verify(root=1)
    assert verdict.outcome.value == kept["verdict"], str(verdict)
    assert verdict.expected
    if verdict.outcome is Outcome.VACUOUS:
        assert verdict.instances == 0
    elif verdict.outcome is Outcome.VIOLATED:
        assert verdict.worst_ratio > 1.3
    else:
        assert verdict.instances > 20
        assert verdict.survivors == ()
        assert verdict.mutants >= (1 if theorem.key in FEW_MUTANTS else 3)
        # the sharp instances, which do not depend on the root, come within 1 % of the worst one known
        assert 0.99 * kept["worst_ratio"] < verdict.worst_ratio <= 1 + 1e-9
        assert verdict.necessity == dict.fromkeys(claim.outside_conditions, True)


GUARANTEES = {name: claim for name, claim in CLAIMS.items() if claim.theorem.guarantee}
IMPLIED = {
    "curvature mu <= beta": "implied: 2 mu e <= |grad|^2 <= 2 beta e of every loss that is not constant",
    "curvatures mu_i <= A_i: contraction <= reach": "implied: mu_i is at most the smoothness in Assumption 3's A_i",
    "curvatures mu_i <= L_i: contraction <= wide_reach": "implied: no loss is more curved below than above",
    "smoothness beta <= beta_max": "implied: a mean of beta_max-smooth losses is beta_max-smooth",
    "similarities at most 1, similar_mass <= mass": "implied: a similarity is 1 minus a square",
    "similarities at least lambda, threshold mass <= similar_mass": "implied: clients count from similarity lambda on",
    "share <= 1": "implied: 1/sigma_i^2 is one of the terms of the sum that it is divided by",
    "pull <= weight": "implied: pull is the sum of the weights, each times 1 - sqrt(1 - r) <= 1",
    "agreement <= sharp_mass": "implied: it is a sum of the same terms, each times a number of at most 1",
    "own share 4 mu eps <= signal2": "implied: b_ii = 0, so that agent i is one term of the sum",
    "agent i's own share 2 mu eps <= signal2": "implied: b_ii = 0, so that agent i is one term of the sum",
    "agent i's own share 2 mu e0 <= signal2": "implied: b_ii = 0, so that agent i is one term of the sum",
    "eigenvalues smin <= smax": "implied: both are eigenvalues of one matrix",
    "top eigenvalue nu2 <= proxy_trace": "implied: a trace is the sum of eigenvalues of at least 0",
    "own noise (1 - own_weight)^2 own_variance <= apart2": "implied: the distance has it beside bias and others' noise",
    "horizon 1 <= T": "T is whole: at T = 0 there is no average",
    "iterations 1 <= T": "T is whole: at T = 0 there is no average",
    "one round 1 <= T": "T is whole: at T = 0 there is no average, and no step size to choose",
    "two clusters 2 size <= N": "implied: there are two clusters of `size` agents at least",
    "two agents 2 <= N": "N is whole: one agent has no pair to be judged",
}
"""Conditions that follow from what the parameters are: they refuse inputs that belong to no instance."""
CONDITIONED = [name for name, claim in GUARANTEES.items() if claim.theorem.condition_names()]


@pytest.mark.share(2)
@pytest.mark.parametrize("name", CONDITIONED)
def test_every_condition_is_broken_just_beyond_or_says_why_not(name):
    claim, theorem = GUARANTEES[name], GUARANTEES[name].theorem
    names, excused = set(theorem.condition_names()), {**IMPLIED, **claim.unrefuted_conditions}
    assert set(claim.outside_conditions) | set(claim.unrefuted_conditions) <= names
    assert names - set(claim.outside_conditions) - set(excused) == set()
    assert set(claim.outside_conditions) & set(excused) == set()
    assert all(len(reason.split()) > 4 for reason in claim.unrefuted_conditions.values())
    for condition, instances in claim.outside_conditions.items():
        evidence = instances()
        assert violates_beyond(theorem, widened(theorem, condition, FURTHEST), evidence), condition
        assert not violates_beyond(theorem, theorem, evidence)


@pytest.mark.share(3)
@pytest.mark.parametrize("name", CONDITIONED)
def test_a_condition_that_is_said_to_be_implied_holds_of_every_instance(name):
    claim = GUARANTEES[name]
    for family in claim.families if claim.theorem.superseded_by is None else ():
        arguments = family.evidence(family.draw(16, seed=9)).arguments
        for condition, (lhs, rhs) in sides(claim.theorem, arguments).items():
            if condition in IMPLIED:
                assert (lhs <= np.asarray(rhs) * (1 + 1e-12)).all(), condition


def test_every_implied_condition_is_one_of_a_claim():
    assert set(IMPLIED) <= {name for claim in GUARANTEES.values() for name in claim.theorem.condition_names()}


def test_variants_that_are_said_to_be_true_are_made_and_nothing_refutes_them():
    stated = {name: claim for name, claim in CLAIMS.items() if claim.true_variants}
    running = ("adaptive/theorem-2-constant-running", "adaptive/theorem-2-multiplicative-constant-running")
    cancelling = "averaged-sgd/theorem-1-finite"  # seems stronger at tiny eta mu alone, which quick does not reach
    loose = "sample-optimal/theorem-2 printed"
    rows = "sample-optimal/theorem-5-rows"
    corrected = [f"{key} corrected" for key in (*running, cancelling, rows)]
    assert sorted(stated) == sorted([*corrected, loose])
    for claim in stated.values():
        made = {mutant.id: mutant.change for mutant in mutants(claim.theorem, worst_ratio=1.0)}
        stated_words = tuple(made[name] for name in claim.true_variants)
        surviving = replace(claim, true_variants={}).verify().survivors
        assert surviving == (() if claim.theorem.key == cancelling else stated_words)


def test_a_superseded_record_is_checked_only_where_its_own_key_is_given():
    checked = {verdict.theorem.key for verdict in verify(["sample-optimal/corollary-*"], edition="corrected")}
    assert checked == {f"sample-optimal/corollary-{part}-sharp" for part in ("1", "1-general", "2")}
    (verdict,) = verify(["Sample-optimal corollary 1"], edition="corrected")
    assert verdict.theorem.superseded_by is not None
    assert verdict.theorem.key not in {record.key for record in unchecked()}
