"""Claims that are weak: the reason is stated beforehand, covers what survives, and excuses nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from inspect import signature

import numpy as np
from typer.testing import CliRunner

from suffice.bounds import THEOREMS, find
from suffice.cli import load
from suffice.cli.app import app
from suffice.verification import Claim, Outcome, Weakness
from suffice.verification.claims import all_claims, claim_of
from suffice.verification.instances import exact
from suffice.verification.instances.aligned_pair import Aligned

T2 = "adaptive/theorem-2-constant"
T4 = "sample-optimal/theorem-4"


def test_superseded_claims_and_no_others_are_said_to_be_weak():
    weak = {claim.theorem.key for claim in all_claims() if claim.weak is not None}
    assert weak == {theorem.key for theorem in THEOREMS if theorem.superseded_by} > {T4}


def superfluous(eta, mu, beta, e0, s2, T):
    """Theorem 2 and a term too many."""
    rest = (1 - eta * mu) ** T
    return rest * e0 + eta * beta * s2 / (2 * mu) * (1 - rest) + eta**2 * beta * s2


def weak_claim(weakness=None):
    return Claim(
        theorem=replace(find(T2), bound=superfluous),
        exact=lambda effort, root: [exact.aligned(Aligned.excess, hitting=False)],
        weak=weakness,
    )


def test_a_survivor_that_was_not_foreseen_is_not_excused():
    plain = weak_claim().verify()
    assert plain.outcome is Outcome.WEAK
    assert not plain.expected
    assert plain.weak == plain.note == ""
    names = plain.survivors
    stated = weak_claim(Weakness(reason="a term too many", survivors=names)).verify()
    assert stated.expected
    assert stated.to_dict()["weak"] == "a term too many"
    assert str(stated).endswith("a term too many")
    partly = weak_claim(Weakness(reason="a term too many", survivors=names[1:])).verify()
    assert partly.outcome is Outcome.WEAK
    assert not partly.expected


def test_the_looseness_of_a_survivor_is_that_of_the_bound_where_it_counts():
    """The superfluous term counts where it is 1 % of the bound or more; elsewhere the bound is attained."""
    verdict = weak_claim().verify()
    (at,) = (at for at, name in enumerate(verdict.survivors) if name.startswith("s2*(beta*eta**2) dropped"))
    evidence = exact.aligned(Aligned.excess, hitting=False)
    arguments = evidence.arguments
    bound = superfluous(**{name: arguments[name] for name in ("eta", "mu", "beta", "e0", "s2", "T")})
    counts = arguments["eta"] ** 2 * arguments["beta"] * arguments["s2"] >= 0.01 * bound
    expected = (evidence.measured / bound)[counts & evidence.counted(find(T2))].max()
    np.testing.assert_allclose(verdict.survivor_ratios[at], expected, rtol=1e-12)
    assert expected < 0.9 < 0.999 < verdict.worst_ratio


def test_a_violated_claim_is_not_excused_by_its_weakness():
    def too_few(**values):
        return 0.9 * find(T4).bound(**values)

    too_few.__signature__ = signature(find(T4).bound)
    claim = replace(claim_of(T4), theorem=replace(find(T4), bound=too_few))
    verdict = claim.verify()
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
    assert not verdict.expected


def test_the_command_accepts_a_stated_weakness_and_fails_on_another(monkeypatch):
    load("verify")
    done = CliRunner().invoke(app, ["verify", T4, "--json"])
    assert done.exit_code == 0, done.output
    (row,) = (row for row in json.loads(done.stdout) if row["edition"] == "corrected")
    assert row["verdict"] == "weak"
    assert row["weak"].startswith("sample-optimal/theorem-4-sharp is sharper")
    assert "is weak:" in CliRunner().invoke(app, ["verify", T4]).output
    monkeypatch.setattr(Weakness, "covers", lambda self, survivors: False)
    assert CliRunner().invoke(app, ["verify", T4, "--json"]).exit_code == 1
