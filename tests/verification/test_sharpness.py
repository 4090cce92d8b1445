"""Sharpness in the regime: closed forms of quadratics with noise, what counts as the regime, what is kept and shown."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.bounds import find
from suffice.bounds.saved_verdicts import attained, sharpness_of, write_verdicts
from suffice.verification import verify
from suffice.verification.check import record
from suffice.verification.claim import EFFORTS, Claim
from suffice.verification.evidence import Evidence
from suffice.verification.family import Domain, Family
from suffice.verification.regime import outside, where_attained
from suffice.verification.sharpness import sharpness

THEOREM_2 = "adaptive/theorem-2-constant"
INSIDE = {"eta": 0.1, "mu": 0.01, "beta": 1.0, "e0": 60.0, "s2": 1.0, "T": 15_000.0, "q": 1.0}


def evidence(theorem, measured=None, **given):
    given = {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in given.items()}
    count = max(map(len, given.values()))
    arguments = {name: np.broadcast_to(value, count) for name, value in given.items()}
    zero = Evidence(engine="none", measured=np.zeros(count), arguments=arguments)
    share = 0.5 if measured is None else np.asarray(measured)
    return replace(zero, measured=share * zero.bound(theorem))


def followed(*, mu, eta, e0, s2, T):
    """E[e_T] of SGD on mu theta^2/2 step by step."""
    e = e0
    for _ in range(int(T)):
        e = (1 - eta * mu) ** 2 * e + eta**2 * mu * s2 / 2
    return e


def quadratic():
    """One client, told its own curvature as mu, 100 times as much as beta: within the hypotheses of Theorem 2."""

    def measure(values):
        mu, T = values["beta"] / values["kappa"], values["T"]
        eta = values["ratio"] / values["beta"]
        arguments = {"eta": eta, "mu": mu, "q": np.ones_like(T)} | {n: values[n] for n in ("beta", "e0", "s2", "T")}
        r = (1 - eta * mu) ** 2
        moments = r**T * values["e0"] + eta**2 * mu * values["s2"] / 2 * (1 - r**T) / (1 - r)
        return Evidence(engine="closed form", measured=moments, arguments=arguments, values=values)

    domains = {
        "beta": Domain(low=0.5, high=2, log=True),
        "kappa": Domain(low=1, high=3),
        "ratio": Domain(low=0.02, high=1, log=True),
        "s2": Domain(low=0.1, high=10, log=True),
        "e0": Domain(low=0.1, high=100, log=True),
        "T": Domain(low=1, high=40, integer=True),
    }
    return Family(name="quadratic", domains=domains, measure=measure)


def test_theorem_2_on_a_quadratic_with_noise_is_a_hundredth_of_its_bound():
    found = sharpness(Claim.on(THEOREM_2, quadratic()))
    at = dict(found.at)
    eta, mu, beta, kept = at["eta"], at["mu"], at["beta"], (1 - at["eta"] * at["mu"]) ** at["T"]
    bound = kept * at["e0"] + eta * beta * at["s2"] / (2 * mu) * (1 - kept)
    assert_allclose(found.ratio, followed(**{n: at[n] for n in ("mu", "eta", "e0", "s2", "T")}) / bound, rtol=1e-7)
    assert_allclose(beta / mu, 100, rtol=1e-9)
    floor = (eta * at["s2"] / (2 * (2 - eta * mu))) / (eta * beta * at["s2"] / (2 * mu))  # 1/(kappa (2 - eta mu))
    assert floor * (1 - 1e-9) < found.ratio < floor + 0.005  # what is left of the start may count for as much


@pytest.mark.parametrize(
    "change",
    [
        {"mu": 0.02}, {"mu": 0.005}, {"eta": 0.3}, {"s2": 1e-4}, {"T": 900.0, "eta": 0.19}, {"e0": 5.0}, {"T": 3000.0},
    ],
    ids=str,
)  # fmt: skip
def test_one_scalar_elsewhere_leaves_the_regime(change):
    theorem = find(THEOREM_2)
    assert outside(theorem, evidence(theorem, **INSIDE)) == 0
    assert outside(theorem, evidence(theorem, **INSIDE | change)) > 0


def test_a_family_of_short_paths_is_not_asked_for_long_ones():
    short = replace(quadratic(), domains=quadratic().domains | {"T": Domain(low=1, high=4, integer=True)})
    asked = replace(short, measure=lambda values: pytest.fail("long paths were asked for"))
    assert sharpness(Claim.on(THEOREM_2, asked)).ratio is None


def test_lower_bounds_are_compared_the_other_way_round():
    theorem = record(lambda *, sigma2, T: sigma2 / T)
    lower = replace(theorem, direction="lower")
    domains = {"sigma2": Domain(low=1, high=2), "T": Domain(low=1, high=40, integer=True)}

    def measure(values):
        return Evidence(engine="formula", measured=4 * values["sigma2"] / values["T"], arguments=values)

    claim = Claim(theorem=lower, families=(Family(name="four times", domains=domains, measure=measure),))
    assert_allclose(sharpness(claim).ratio, 0.25, rtol=1e-12)


def told(theorem, ratios, **given):
    return where_attained(theorem, evidence(theorem, ratios, **given))


def test_a_worst_ratio_says_in_which_simple_cases_alone_it_is_reached():
    theorem = find(THEOREM_2)
    assert told(theorem, [1, 0.3], **INSIDE | {"s2": [0, 1]}) == ("zero noise",)
    assert told(theorem, [1, 0.3], **INSIDE | {"T": [0, 50]}) == ("T = 0",)
    assert told(theorem, [1, 1, 0.3], **INSIDE | {"s2": [0, 1, 1], "mu": [0.1, 1, 0.1]}) == ("zero noise", "kappa = 1")
    assert told(theorem, [1, 1], **INSIDE | {"s2": [0, 1]}) == ()
    alone = find("adaptive/corollary-1-variance")
    assert told(alone, [1, 0.5], sigma2=2, near=[1, 4], least_psi=0.5) == ("near = 1",)


def test_a_claim_that_is_attained_without_noise_only_says_so_in_its_verdict():
    noiseless = replace(quadratic(), domains=quadratic().domains | {"s2": Domain(low=0, high=0)})
    still = replace(noiseless, domains=noiseless.domains | {"T": Domain(low=0, high=0)})
    seen = Claim.on(THEOREM_2, still).verify(effort=EFFORTS["quick"])
    assert seen.worst_ratio == 1
    assert seen.sharpness.attained == ("T = 0",)


def test_full_effort_computes_and_keeps_the_ratio(tmp_path):
    (quick,) = verify(["averaged-sgd/theorem-1-finite"])
    assert quick.to_dict()["regime"] is None
    (full,) = verify(["averaged-sgd/theorem-1-finite"], effort="full")
    write_verdicts(tmp_path / "kept.json", [full], "full")
    (row,) = json.loads((tmp_path / "kept.json").read_text())
    assert row["regime"] == full.sharpness.to_dict() == full.to_dict()["regime"]
    assert row["regime"]["ratio"] is not None
    assert row["attained"] == list(full.sharpness.attained) == ["zero noise", "kappa = 1"]


def test_words_say_what_is_lacking_and_what_is_unknown():
    regime = {"parts": ["kappa = 100"], "lacks": ["no noise"], "ratio": None, "at": None}
    assert (
        sharpness_of({"regime": regime})
        == "not known at kappa = 100; no noise in this statement: no instance found there"
    )
    found = sharpness_of({"regime": regime | {"ratio": 0.25, "at": {"mu": 1.0}}})
    assert found == "measured/bound reaches 0.25 at kappa = 100; no noise in this statement (found: mu = 1)"
    assert sharpness_of({"regime": regime | {"parts": []}}).startswith("the regime does not concern it; no noise")
    assert sharpness_of({}) == sharpness_of(None) == ""
    assert attained({"attained": ["T = 0", "zero noise"]}) == " (only at T = 0 or zero noise)"


def test_what_measures_0_in_the_regime_is_found_there():
    silent = quadratic()
    nothing = replace(silent, measure=lambda values: replace(silent.measure(values), measured=0 * values["T"]))
    assert sharpness(Claim.on(THEOREM_2, nothing)).ratio == 0
