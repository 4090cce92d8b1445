"""What `check` measures beside the excess: other quantities that second moments determine, lower bounds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from one_line import one_line

from suffice.bounds import InputError
from suffice.bounds.elementary import survive
from suffice.simulate import Local
from suffice.simulate.algorithms import Momentum
from suffice.simulate.mean_loss import scalars as of_mean
from suffice.verification import Outcome, check
from suffice.verification.check import record
from suffice.verification.check_extent import not_tried
from suffice.verification.evidence_summary import EvidenceSummary
from suffice.verification.families import curves, quadratics
from suffice.verification.problem_measure import measures, prepared
from suffice.verification.quantity import quantity_of
from suffice.verification.sampled_check import path_measures
from suffice.verification.verdict import Verdict

pytestmark = pytest.mark.usefixtures("brief")


def right(*, eta, mu, e0, sigma2, T):
    return survive(eta * mu, 2 * T) * e0 + eta * sigma2 / 2


def within(*, eta, beta):
    return {"step": (eta, 1 / beta)}


def test_quantities_and_directions_that_are_none_are_named():
    with pytest.raises(InputError, match=r"^quantity = 'samples': use excess, last_distance, last_gradient"):
        check(right, quantity="samples")
    with pytest.raises(InputError, match=r"^direction = 'sideways': use upper or lower"):
        check(right, direction="sideways")


class Second(Local):
    """Client 1 tells all: not for one client."""

    def step(self, problem, state, draw, eta):
        after = super().step(problem, state, draw, eta)
        return {"models": after["models"][:, [1]].expand_as(after["models"])}


class Dragged(Local):
    drag = delta = 0.25  # delta means a confidence only where one is asked for


def test_an_algorithm_s_own_number_may_be_asked_for_and_its_exceptions_are_named():
    family = quadratics(features=1, longest=3)
    bounds = {"weight": lambda *, weight: weight, "drag": lambda *, drag: drag, "delta": lambda *, delta: delta}
    for name, chosen in (("weight", Momentum(weight=0.25)), ("drag", Dragged()), ("delta", Dragged())):
        theorem = record(bounds[name], algorithm=chosen)
        for given in (family, None):
            measured, reason = measures(theorem, chosen, given, 0, effort="quick")
            assert reason == ""
            drawn = measured[0].family(theorem)
            evidence = drawn.evidence(drawn.draw(3, seed=0))
            assert set(evidence.arguments[name]) == {0.25}
            seen = EvidenceSummary(ranges={name: (0.25, 0.25), "mu": (0.25, 0.25)})
            verdict = replace(Verdict.inconclusive(theorem, ""), evidence=seen)
            assert f"other values of the algorithm's {name} than 0.25; " in not_tried(measured, verdict)
            assert "mu than" not in not_tried(measured, verdict)
    with pytest.raises(InputError, match=r"^parameter = 'drag': name it as in suffice\.PARAMETERS"):
        record(lambda *, drag: drag, algorithm=Local())


def test_an_algorithm_of_two_clients_is_tried_on_as_many():
    """Without a family: shapes on which its step fails are left out."""
    for linear in (True, False):
        chosen = Second()
        object.__setattr__(chosen, "linear", linear)
        given = record(right), chosen, None, 0
        found, _ = (
            measures(*given, effort="quick") if linear else path_measures(*given, effort="quick", root=0, delta=None)
        )
        assert len(found) >= 2
        assert not any("one quadratic" in each.problems.name for each in found)


def test_a_counterexample_of_several_clients_is_printed_whole():
    found = {"arguments": {"e0": 1.0}, "measured": 2.0, "bound": 1.0, "clients": 2, "digits": 15,
             "values": {"minimiser": [[0.0], [1 / 3]], "T": 2.0}}  # fmt: skip
    seen = EvidenceSummary(met={"a": 3}, violations=1, worst_ratio=2.0, worst_instance={"e0": 1.0, "measured": 2.0})
    options = {"theorem": record(right), "outcome": Outcome.VIOLATED, "evidence": seen}
    options["tried"] = "local on quadratics"
    text = str(Verdict(counterexample=found, **options)).splitlines()
    assert text[2:] == ["  built from minimiser = [[0], [0.333333]], T = 2", "  tried: local on quadratics"]
    assert "built from" not in str(Verdict(counterexample={**found, "clients": 1}, **options))


def test_conditions_that_no_instance_meets_are_named():
    line = quadratics(features=1, longest=3)
    never = check(
        right, conditions=lambda *, eta, beta: {"fine": (eta * beta, 1), "long": (2 / beta, eta)}, family=line
    )
    assert one_line(never).startswith(
        "vacuous: no instance meets the hypotheses: fine and long contradict each other; "
    )
    assert "long holds at none of " in never.evidence.unmet
    assert "(nearest: 2 <= 1)" in never.evidence.unmet

    apart = check(right, conditions=lambda *, T: {"low": (T, 1), "high": (2, T), "any": (0, T)}, family=line)
    assert (
        "low and high and any contradict each other; no condition fails everywhere, but some does at each"
        in one_line(apart)
    )


def test_what_numbers_meet_is_not_vacuous():
    """A band of 1e-7 of the noise is found; steps that no instance has are told from those that contradict others."""
    line = quadratics(features=1, longest=3)

    def band(low):
        return lambda *, eta, beta, sigma2: {"fine": (eta, 1 / beta), "from": (low, sigma2), "to": (sigma2, 0.3700001)}

    assert check(right, conditions=band(0.37), family=line).valid
    assert check(right, conditions=band(0.38), family=line).outcome is Outcome.VACUOUS
    beyond = check(right, conditions=lambda *, eta, beta: {"long": (8, eta * beta)}, family=line)
    assert beyond.outcome is Outcome.INCONCLUSIVE
    assert "numbers do (eta = " in str(beyond)


def test_a_counterexample_says_what_the_bound_does_not_have():
    wrong = check(lambda *, mu, e0, sigma2: e0 + sigma2 / (2 * mu), family=quadratics(features=1, longest=2))
    assert "(and eta = " in wrong.violation
    assert "which the bound does not have)" in wrong.violation


@pytest.mark.parametrize("family", [quadratics(clients=2, features=1, longest=5), curves(clients=2)])
def test_constants_of_the_clients_are_given_by_what_the_bound_takes(family):
    """Of a client's own excess e0 is its own; consensus is of no loss, and e0 with a constant that of the mean loss."""
    for kind, own in (("excess", True), ("last_consensus", False)):
        theorem = replace(record(lambda *, e0, zeta2, Gamma: e0 + zeta2 + Gamma), quantity=quantity_of(kind))
        problems = prepared(theorem, Local(), family, family)
        values = {name: value[-8:] for name, value in problems.sharp().items()}
        for each in problems.settings(values | {"eta": values["step"]}):
            whole = of_mean(each.problem)
            first = float(each.problem.excess(each.problem.start[None])[0, 0])
            wanted = [first if own else whole["e0"], whole["zeta2"], whole["Gamma"]]
            found = [each.arguments[name] for name in ("e0", "zeta2", "Gamma")]
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def test_a_bound_that_is_no_number_where_a_condition_turns_is_of_a_strict_one():
    def bound(*, eta, mu, beta, e0, sigma2, T, c=1.0):
        room = 1 / beta - eta
        return c * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / mu * room / room)

    def inside(*, eta, beta):
        return {"eta < 1/beta": (eta, 1 / beta)}

    line = quadratics(features=1, longest=20)
    assert check(bound, conditions=inside, family=line).valid
    holes = lambda *, eta, beta, e0, sigma2: (e0 + sigma2) * np.sqrt(0.5 - eta * beta)  # noqa: E731
    for wrong in (partial(bound, c=0.5), holes):  # which is no number on half of the interval
        assert check(wrong, conditions=inside, family=line).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    ("bound", "hint"),
    [
        (lambda *, eta, L: eta * L, 'L.: did you mean names={"L": "beta"}'),
        (lambda *, gamma: gamma, 'gamma.: did you mean names={"gamma": "eta"}'),
        (lambda *, kappa: kappa, 'kappa.: did you mean names={"kappa": lambda'),
    ],
)
def test_letters_of_papers_are_guessed(bound, hint):
    with pytest.raises(InputError, match=f"^parameter = .{hint}"):
        check(bound)
