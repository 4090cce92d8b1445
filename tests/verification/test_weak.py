"""Claims that are weak: the reason is stated beforehand, covers what survives, and excuses nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from inspect import signature

import numpy as np
from typer.testing import CliRunner

from suffice.bounds import find
from suffice.cli import load
from suffice.cli.app import app
from suffice.verification import Claim, Outcome, Weakness, claims
from suffice.verification.claims import all_claims
from suffice.verification.claims.adaptive.engines import aligned
from suffice.verification.instances.aligned_pair import Aligned, sharp_values
from suffice.verification.mutants import mutants

T2 = "adaptive/theorem-2-constant"


def test_no_claim_of_the_library_is_weak():
    assert [claim.theorem.key for claim in all_claims() if claim.weak is not None] == []


def superfluous(eta, mu, beta, e0, s2, T):
    """Theorem 2 and a term too many."""
    rest = (1 - eta * mu) ** T
    return rest * e0 + eta * beta * s2 / (2 * mu) * (1 - rest) + eta**2 * beta * s2


def attained():
    return aligned(Aligned.excess, sharp_values).evidence(sharp_values())


def weak_claim(weakness=None):
    return Claim(
        theorem=replace(find(T2), bound=superfluous),
        exact=lambda effort, root: [attained()],
        weak=weakness,
    )


def survivors():
    """The ids of the mutants that survive."""
    plain = weak_claim().verify()
    made = mutants(plain.theorem, worst_ratio=plain.worst_ratio)
    return tuple(mutant.id for mutant in made if mutant.change in plain.survivors)


def test_a_survivor_that_was_not_foreseen_is_not_excused():
    plain = weak_claim().verify()
    assert plain.outcome is Outcome.WEAK
    assert not plain.expected
    assert plain.weak == plain.note == ""
    names = survivors()
    assert len(names) == len(plain.survivors)
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
    evidence = attained()
    arguments = evidence.arguments
    bound = superfluous(**{name: arguments[name] for name in ("eta", "mu", "beta", "e0", "s2", "T")})
    counts = arguments["eta"] ** 2 * arguments["beta"] * arguments["s2"] >= 0.01 * bound
    expected = (evidence.measured / bound)[counts & evidence.counted(find(T2))].max()
    np.testing.assert_allclose(verdict.variants.survivor_ratios[at], expected, rtol=1e-12)
    assert expected < 0.9 < 0.999 < verdict.worst_ratio


def test_a_violated_claim_is_not_excused_by_its_weakness():
    def too_little(**values):
        return 0.9 * find(T2).bound(**values)

    too_little.__signature__ = signature(find(T2).bound)
    weakness = Weakness(reason="none", survivors=())
    verdict = replace(weak_claim(weakness), theorem=replace(find(T2), bound=too_little)).verify()
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
    assert not verdict.expected


def test_the_command_accepts_a_stated_weakness_and_fails_on_another(monkeypatch):
    load("verify")
    stated = weak_claim(Weakness(reason="a term too many", survivors=survivors()))
    monkeypatch.setattr(claims, "claim_of", lambda key, edition: stated)
    run = ["verify", T2, "--edition", "corrected"]
    done = CliRunner().invoke(app, [*run, "--json"])
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert row["verdict"] == "weak"
    assert row["weak"] == "a term too many"
    assert "is weak:" in CliRunner().invoke(app, run).output
    monkeypatch.setattr(Weakness, "covers", lambda self, survivors: False)
    assert CliRunner().invoke(app, [*run, "--json"]).exit_code == 1
