"""Every pair of clients and features up to 8 x 8 is tried, or the verdict says which was not."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.bounds.elementary import fall, survive
from suffice.simulate import FedAvg, Local
from suffice.verification import Outcome, check, dimension_sweep, sampled_check
from suffice.verification.check import record
from suffice.verification.claim import EFFORTS
from suffice.verification.dimension_sweep import PAIRS, Sweep, in_words
from suffice.verification.families import quadratics
from suffice.verification.problem_measure import measures


def limit(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


def right(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, 2 * T) * e0 + eta * beta * sigma2 / (2 * mu) * fall(eta * mu, T)


def shrunk(where, by, *, eta, mu, beta, e0, sigma2, T, N, d):
    """The true bound, too small by a factor on some pairs."""
    return right(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2, T=T) * np.where(where(N, d), by, 1.0)


PLACES = {
    "N >= 2 and d >= 3": lambda N, d: (N >= 2) & (d >= 3),
    "(8, 8) alone": lambda N, d: N * d == 64,
}


# Whoever finds a pair that is alone finds it among others too.
@pytest.mark.usefixtures("few")
def test_a_bound_that_is_false_on_one_pair_alone_is_violated_there():
    place = "(8, 8) alone"
    verdict = check(partial(shrunk, PLACES[place], 0.98), conditions=limit)
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
    found = verdict.counterexample
    assert found is not None
    assert PLACES[place](*(found["arguments"][name] for name in ("N", "d")))
    assert found["margin"] > 0


@pytest.mark.slow
def test_pairs_are_tried_by_paths_too(monkeypatch):
    monkeypatch.setattr(sampled_check, "SHAPES", {"quick": ((1, 1), (3, 2))})
    monkeypatch.setitem(sampled_check.LONGEST, "quick", 15)
    monkeypatch.setattr(sampled_check, "_CERTIFIED", (2**11, 2**13))
    monkeypatch.setattr(sampled_check, "_CHOSEN", 4)
    amounts = {"instances": 4, "restarts": 1, "ascents": 0}
    monkeypatch.setitem(EFFORTS, "quick", EFFORTS["quick"].__class__(**{**vars(EFFORTS["quick"]), **amounts}))
    options = {"conditions": limit, "algorithm": Local(linear=False)}
    wrong = check(partial(shrunk, PLACES["N >= 2 and d >= 3"], 0.5), **options)
    assert wrong.outcome is Outcome.VIOLATED, str(wrong)
    assert wrong.counterexample is not None
    assert wrong.counterexample["arguments"]["N"] >= 2
    assert wrong.counterexample["arguments"]["d"] >= 3


@pytest.mark.usefixtures("few")
def test_only_pairs_that_met_the_hypotheses_are_listed(monkeypatch):
    monkeypatch.setattr(dimension_sweep, "PAIRS", [(n, d) for n, d in PAIRS if max(n, d) <= 4])
    few = check(right, conditions=lambda *, eta, beta, N: {"step": (eta, 1 / beta), "N >= 3": (3, N)})
    assert "N = 3 to 4 with d = 1 to 4" in few.tried
    assert few.met["2 identical quadratics in R^3"] == 0 < few.met["3 identical quadratics in R^3"]


@pytest.mark.usefixtures("few")
def test_pairs_that_are_too_expensive_are_named(monkeypatch):
    monkeypatch.setitem(dimension_sweep._NUMBERS, "quick", 2e3)
    verdict = check(right, conditions=limit, algorithm=FedAvg(period=2))
    assert verdict.valid
    assert verdict.not_tried.startswith("N = ")
    assert "with d = " in verdict.not_tried.split(" (their moments take too long")[0]
    assert "N = 8 with d = 8" not in verdict.tried
    assert "all pairs" not in verdict.tried


@pytest.mark.parametrize("pair", [(2, 5), (4, 8), (7, 1)])
def test_an_instance_keeps_its_scalars_in_a_larger_problem(pair):
    """What came from one quadratic in R^2 has the same constants, start and number of iterations."""
    theorem = record(right, limit)
    base = [each for each in measures(theorem, Local(), None, 0, effort="quick")[0] if "R^2" in each.problems.name][:1]
    known = [base[0].family(theorem).evidence(quadratics(features=2).sharp())]
    pieces = Sweep(theorem, base, 0, "quick").evidence(known, 0)
    found = next(piece for piece in pieces if piece.label == f"{pair[0]} identical quadratics in R^{pair[1]}")
    names = ("sigma2", "T") if pair[1] == 1 else ("mu", "beta", "sigma2", "e0", "T")
    before = {tuple(f"{known[0].arguments[name][at]:.12g}" for name in names) for at in range(len(known[0].measured))}
    after = [tuple(f"{found.arguments[name][at]:.12g}" for name in names) for at in range(len(found.measured))]
    assert sum(each in before for each in after) == len(after) - 4  # all but those that were drawn
    assert_allclose(found.arguments["N"], pair[0])
    assert_allclose(found.arguments["d"], pair[1])


def test_pairs_in_words():
    assert in_words(PAIRS) == "all pairs (N, d) up to 8 x 8"
    assert in_words([(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (8, 1)]) == (
        "N = 1 to 2 with d = 1 to 3 and N = 8 with d = 1"
    )
