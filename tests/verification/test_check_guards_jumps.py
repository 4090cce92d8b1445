"""A bound that jumps at one value of a keyword is wrong there, however wrong: a jump is no rounding."""

from __future__ import annotations

from dataclasses import fields, replace

import mpmath
import numpy as np
import pytest
from one_line import one_line

from suffice.simulate import FedAvg, LocalSGD
from suffice.simulate.algorithms.scaffold import Scaffold
from suffice.simulate.catalogue import ALGORITHMS, algorithm
from suffice.verification import Outcome, check
from suffice.verification.check import record
from suffice.verification.claim import _outcome
from suffice.verification.evidence_summary import EvidenceSummary
from suffice.verification.families import quadratics
from suffice.verification.mutants import mutants
from suffice.verification.problem_measure import Measure, measures, stated, typical_setting
from suffice.verification.rounding_violations import _float_error, without_rounding
from suffice.verification.sampled_check import path_measures

FAMILY = quadratics(clients=3, features=2, longest=10)
LIBRARY = ("eta", "mu", "beta", "sigma2", "e0", "distance2", "T", "N", "d")


def below(*, eta, beta):
    return {"eta <= 1/beta": (eta, 1 / beta)}


def keyworded(names, function):
    """A function of a dictionary as one of these keywords."""
    text = ", ".join(names)
    space = {"function": function}
    exec(f"def bound(*, {text}): return function(dict({', '.join(f'{n}={n}' for n in names)}))", space)
    return space["bound"]


def measured(rule, theorem):
    if rule.linear:
        found, why = measures(theorem, rule, FAMILY, 0, effort="quick")
        if not why:
            return found[0].family(theorem)
    found, why = path_measures(theorem, rule, FAMILY, 0, effort="quick", root=0, delta=None)
    return None if why else found[0].family(theorem)


FORMS = {
    "if": lambda name, at, low: lambda given: low if given[name] == at else 1e30,
    "where": lambda name, at, low: lambda given: np.where(given[name] == at, low, 1e30),
    "floats": lambda name, at, low: lambda given: low if float(given[name]) == at else 1e30,
    "smooth": lambda name, at, low: lambda given: low if given[name] == at else 1e30 * given["eta"] * (1 + given["e0"]),
}


@pytest.mark.share(8)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_bound_that_is_a_thousand_times_too_small_at_one_value_is_violated_there(name):
    setting = typical_setting(FAMILY)
    rule = algorithm(name, setting.problem, eta=setting.eta)
    own = [entry.name for entry in fields(rule) if type(getattr(rule, entry.name)) in (int, float)]
    names = [*LIBRARY, *own]
    known = record(keyworded(names, lambda given: 1e30), below, algorithm=rule)
    family = measured(rule, known)
    assert family is not None
    values = {key: value[:24] for key, value in family.sharp().items()}
    values = {key: np.concatenate([value, family.draw(8, seed=3)[key]]) for key, value in values.items()}
    values = {key: value[values["sigma2"] > 0] for key, value in values.items()}  # All-for-one divides by it
    found = family.evidence(values)
    usable = found.counted(known) & (found.measured > 1e-6) & (found.measured < 1e6)
    row = int(np.where(usable, found.measured, -1).argmax())
    assert usable[row]
    alone = found.rows(np.arange(len(found.measured)))
    turn = list(ALGORITHMS).index(name)  # one form for each keyword, another one for the next algorithm
    for place, keyword in enumerate(names, start=turn):
        at, (form, of) = float(found.arguments[keyword][row]), list(FORMS.items())[place % len(FORMS)]
        bound = keyworded(names, of(keyword, at, 1e-3 * float(found.measured[row])))
        theorem = record(bound, below, algorithm=rule)
        says, own_rounding = stated(theorem, found.arguments)
        given = replace(alone, hypothesis=alone.hypothesis & says, rounding=alone.rounding + own_rounding)
        again = without_rounding(theorem, given)
        seen = EvidenceSummary.from_evidence([again], again, theorem, equality=None)
        assert seen.violations, (keyword, form, seen)
        assert seen.worst_ratio > 900, (keyword, form)


@pytest.mark.share(6)
@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("rule", [FedAvg(period=4), LocalSGD(period=4), Scaffold(period=4)], ids=lambda each: each.name)
@pytest.mark.parametrize("share", [1.0, pytest.param(0.001, marks=pytest.mark.slow)])
def test_a_theorem_of_whole_rounds_that_forgets_that_clients_differ_is_violated(rule, share):
    def natural(*, eta, mu, T, period, distance2):
        return share * (1 - eta * mu) ** T * distance2 if T % period == 0 else 1e30

    options = {"quantity": "last_distance", "conditions": below, "algorithm": rule}
    verdict = check(natural, family=quadratics(clients=3, features=2), **options)
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
    assert verdict.counterexample["arguments"]["T"] % 4 == 0


def exact(*, eta, mu, beta, e0, sigma2, T):
    return e0 + T * eta**2 * beta * sigma2 / 2


@pytest.mark.parametrize("at", ["eta * beta == 1", "mu == beta", "beta / mu == 4", "T == 3", "N == 1", "eta * mu >= 1"])
def test_limits_are_where_instances_are(at):
    code = compile(at, "condition", "eval")

    def bound(*, eta, mu, beta, e0, sigma2, T, N):
        whole = exact(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2, T=T)
        given = {"eta": eta, "mu": mu, "beta": beta, "T": T, "N": N}
        return 0.001 * whole if eval(code, given) else whole

    verdict = check(bound, conditions=below)
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
    assert verdict.counterexample["measured"] > 100 * verdict.counterexample["bound"]


def test_what_a_wider_float_decides_otherwise_is_not_allowed_for():
    """1/49 * 49 is 1 - 2^-53 in float64, and 1/3 * 3 is 1: in more digits neither is 1."""

    def jumps(*, eta, beta, e0):
        return np.where(eta * beta == 1, 0.001 * e0, e0)

    arguments = {name: np.ones(1) for name in ("mu", "e0", "sigma2", "distance2", "T")}
    _, allowed = stated(record(jumps), arguments | {"eta": np.array([1 / 3]), "beta": np.array([3.0])})
    assert allowed[0] < 1e-14


# A function of floats alone, of which rounding leaves few digits: K + y - K is a multiple of 2^-53 K.
def lossy(K, share=1.0):
    def bound(*, eta, mu, beta, e0, sigma2, T):
        y = share * ((1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 * beta / (2 * mu))
        return float(K + y) - K

    return bound


def tiny(*, eta, beta):
    return {"eta <= 1e-6/beta": (eta, 1e-6 / beta)}


BRIEF = quadratics(longest=300)


def test_what_rounding_decides_is_counted():
    verdict = check(lossy(4.0), conditions=tiny, family=BRIEF)
    assert verdict.valid, str(verdict)
    assert verdict.dropped == verdict.to_dict()["dropped"] > 0
    assert f"left out: {verdict.dropped} instances" in " ".join(str(verdict).split())
    assert check(lossy(4.0, 0.999), conditions=tiny, family=BRIEF).outcome is Outcome.VIOLATED


def test_where_only_rounding_speaks_against_a_bound_nothing_is_concluded():
    for ratio, outcome in ((1 + 1e-7, Outcome.HOLDS), (1.001, Outcome.INCONCLUSIVE)):
        seen = EvidenceSummary(examined=2, met={"one": 1}, dropped=1, dropped_ratio=ratio)
        assert _outcome(seen, ()) is outcome


def test_no_more_is_left_to_rounding_than_it_takes():
    """K + y - K is a multiple of 2^-53 K, twice rounded; the estimate is some times that."""
    names = ["eta", "mu", "beta", "e0", "sigma2"]
    arguments = {"eta": 0.3, "mu": 0.7, "beta": 1.1, "e0": 0.9, "sigma2": 0.2, "T": 1.0}
    for K in (1e3, 1e6, 1e9):
        error = _float_error(record(lossy(K)), arguments, names)
        assert 2.0**-53 * K < error < 200 * 2.0**-53 * K
    assert _float_error(record(exact), arguments, names) < 1e-9


@pytest.mark.parametrize(("few", "says"), [(0.0, "left out: "), (1e9, "not confirmed")])
def test_a_violation_that_more_digits_do_not_confirm_is_none(monkeypatch, few, says):
    monkeypatch.setattr(Measure, "exactly", lambda *_, rough=False: (mpmath.mpf(few if rough else 0), 50))
    verdict = check(lambda *, e0: e0 / 2, conditions=below, family=BRIEF)
    assert verdict.outcome is Outcome.INCONCLUSIVE, str(verdict)
    assert says in verdict.reason + one_line(verdict)


def test_both_shifts_of_T_are_among_the_wrong_variants():
    made = [mutant.change for mutant in mutants(record(exact, below), worst_ratio=1.0)]
    assert {"T shifted by +1", "T shifted by -1"} <= set(made)


# --- the algorithm's own numbers in what is measured by a state that wraps it ---------------------------------------


@pytest.mark.usefixtures("brief")
def test_the_mean_iterate_of_local_steps_takes_their_period():
    verdict = check(
        lambda *, e0, eta, beta, sigma2, T, period: e0 + T * period * eta**2 * beta * sigma2 / 2,
        quantity="mean_iterate_excess", algorithm=LocalSGD(period=2), conditions=below,
    )  # fmt: skip
    assert verdict.valid, str(verdict)
