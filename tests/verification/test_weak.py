"""A claim that does not refute some wrong variant is weak, and the command fails on it."""

from __future__ import annotations

import json
from dataclasses import replace

from typer.testing import CliRunner

from suffice.bounds import find
from suffice.cli import load
from suffice.cli.app import app
from suffice.verification import Claim, Outcome, claims
from suffice.verification.claims.adaptive.families import aligned
from suffice.verification.instances.aligned_pair import Aligned, sharp_values

T2 = "adaptive/theorem-2-constant"


def superfluous(eta, mu, beta, e0, s2, T):
    """Theorem 2 and a term too many."""
    rest = (1 - eta * mu) ** T
    return rest * e0 + eta * beta * s2 / (2 * mu) * (1 - rest) + eta**2 * beta * s2


def attained():
    return aligned(Aligned.excess, sharp_values).evidence(sharp_values())


def weak_claim():
    return Claim(theorem=replace(find(T2), bound=superfluous), exact=lambda effort, root: [attained()])


def test_the_command_fails_on_a_claim_that_is_weak_and_names_what_survives(monkeypatch):
    load("verify")
    verdict = weak_claim().verify()
    assert verdict.outcome is Outcome.WEAK
    assert not verdict.expected
    assert any(name.startswith("s2*(beta*eta**2) dropped") for name in verdict.survivors)
    monkeypatch.setattr(claims, "claim_of", lambda key, edition: weak_claim())
    done = CliRunner().invoke(app, ["verify", T2, "--edition", "corrected", "--json"])
    assert done.exit_code == 1, done.output
    (row,) = json.loads(done.stdout)
    assert (row["verdict"], row["survivors"]) == ("weak", list(verdict.survivors))
    assert "not refuted: " in CliRunner().invoke(app, ["verify", T2, "--edition", "corrected"]).output
