"""Verdicts on one's own bound: right ones hold, wrong ones come with a small counterexample at 50 digits."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache, partial
from importlib import import_module

import numpy as np
import pytest
from one_line import one_line

from suffice.bounds import InputError
from suffice.bounds.elementary import fall, survive
from suffice.simulate import FixedWeights, Local, LocalSGD, Quadratics, expected_excess
from suffice.simulate.moment_powers import ONE_STEP, Block, Cycle
from suffice.verification import Outcome, check, high_precision
from suffice.verification.check import record
from suffice.verification.families import quadratics
from suffice.verification.generated_instances import allowed_steps


def limit(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


def right(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, 2 * T) * e0 + eta * beta * sigma2 / (2 * mu) * fall(eta * mu, T)


def half_noise(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, T) * e0 + eta * beta * sigma2 / (4 * mu) * fall(eta * mu, T)


def no_square(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, 3 * T) * e0 + eta * beta * sigma2 / (2 * mu)


@cache
def checked(bound):
    return check(bound, conditions=limit)


def test_a_right_bound_holds_with_every_wrong_variant_refuted():
    verdict = checked(right)
    assert verdict.holds, str(verdict)
    assert verdict.mutants >= 6
    assert verdict.worst_ratio > 1 - 1e-9  # attained at mu = beta, eta = 1/beta
    # what speaks against a check need not be a variant: all of these are refuted still
    faults = ("two routes differ: here", "proof step not certified: there")
    apart = replace(verdict, variants=replace(verdict.variants, faults=faults))
    assert apart.refuted == verdict.mutants == apart.to_dict()["refuted_mutants"]
    assert f"{verdict.mutants} of {verdict.mutants} mutants refuted" in one_line(apart)


@pytest.mark.parametrize("options", [{}, {"delta": 0.1}])
@pytest.mark.parametrize(("outcome", "efforts"), [(Outcome.VIOLATED, ["quick"]), (Outcome.HOLDS, ["quick", "full"])])
def test_full_effort_begins_with_a_quick_check_and_stops_where_that_refutes(outcome, efforts, options, monkeypatch):
    tried, found = [], replace(checked(half_noise), outcome=outcome)

    def verdict_of(_, effort):
        tried.append(effort)
        return found

    monkeypatch.setattr(import_module("suffice.verification.check")._Check, "_on_instances", verdict_of)
    assert check(half_noise, conditions=limit, effort="full", **options) is found
    assert tried == efforts


@pytest.mark.parametrize("bound", [half_noise, no_square])
def test_a_wrong_bound_is_violated_with_a_simple_counterexample(bound):
    verdict = checked(bound)
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.tried.startswith("local on one quadratic in R^1, ")  # nothing else, once that violates
    assert "d > 1" in verdict.not_tried
    found = verdict.counterexample
    assert found is not None
    assert found["margin"] > 0
    assert found["margin"] == found["measured"] - found["bound"]
    values, point = found["values"], found["arguments"]
    assert values["T"] <= 2
    # by hand: one client, Hessian diag(curvature), e_t = sum_a h_a x_a^2 / 2, noise sigma2/d in each
    h, x = np.array(values["curvature"])[0], values["far"] * np.array(values["direction"])
    second, noise = x**2, values["sigma2"] / len(x)
    for _ in range(int(values["T"])):
        second = (1 - point["eta"] * h) ** 2 * second + point["eta"] ** 2 * noise
    np.testing.assert_allclose(float(found["measured"]), (h * second).sum() / 2, rtol=1e-12)
    # few bits: every number is a short dyadic fraction
    for number in np.ravel([*h, *x, values["sigma2"]]):
        assert number * 2**20 == np.round(number * 2**20)


@pytest.mark.parametrize(
    ("bound", "algorithm"),
    [
        (lambda *, eta, mu, e0, sigma2, d, beta: e0 + d * eta * beta * sigma2 / (4 * mu), Local()),  # right at d = 2
        (lambda *, eta, mu, beta, e0, sigma2, T: right(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2, T=T)
         * (1 - 0.5 * (T > 41)), Local()),
        (lambda *, eta, mu, beta, e0, sigma2: e0 + min(e0 * 1e4, eta * beta * sigma2 / (2 * mu)), Local()),
        (lambda *, eta, mu, beta, e0, sigma2, T, N: right(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2 / N, T=T),
         LocalSGD(period=3)),
    ],
    ids=["dimension", "late", "small start", "local steps"],
)  # fmt: skip
def test_what_is_wrong_in_a_corner_alone_is_found(bound, algorithm):
    limits = partial(lambda most, *, eta, beta: {"step": (eta, most / beta)}, 1)
    assert check(bound, conditions=limits, algorithm=algorithm).outcome is Outcome.VIOLATED


@pytest.mark.usefixtures("brief")
def test_without_its_condition_the_same_bound_is_violated():
    verdict = check(right, family=quadratics(steps=1.9))
    assert verdict.outcome is Outcome.VIOLATED


@pytest.mark.usefixtures("brief")
def test_a_bound_whose_conditions_nothing_meets_is_vacuous():
    none = {"conditions": lambda *, eta, beta: {"step size eta <= 0": (eta * beta, 0 * beta)}}
    verdict = check(right, **none, family=quadratics(features=1, longest=2))
    assert verdict.outcome is Outcome.VACUOUS


def tried_steps(verdict) -> tuple[float, float]:
    return verdict.ranges["eta beta"]


@pytest.mark.usefixtures("brief")
def test_steps_are_tried_up_to_what_the_conditions_allow_and_the_verdict_says_so():
    claimed = check(right)  # for every step
    assert claimed.outcome is Outcome.VIOLATED
    assert claimed.worst_ratio > 1000
    assert tried_steps(claimed)[1] == 4
    rest = {name: np.ones(2) for name in ("e0", "sigma2", "T")}
    for most in (0.01, 1.0, 1.5):
        limits = partial(lambda most, *, eta, beta: {"step": (eta, most / beta)}, most)
        _, most_allowed = allowed_steps(
            record(right, limits), {"beta": np.array([1.0, 0.3]), "mu": np.array([0.5, 0.1]), **rest}
        )
        np.testing.assert_array_equal(most_allowed * np.array([1.0, 0.3]), most)
    verdict = check(right, conditions=lambda *, eta, beta: {"step size eta <= 0.5/beta": (eta, 0.5 / beta)})
    assert tried_steps(verdict)[1] == 0.5
    for words in (
        "local on identical quadratics, ",
        "/beta to 0.5/beta",
        "T = 1 to 16,515,081",
    ):
        assert words in verdict.tried
        assert words in verdict._repr_html_()
        assert words in one_line(verdict)
    few = quadratics(features=1, longest=99)
    vacuous = check(right, conditions=lambda *, T: {"T >= 50": (50 + 0 * T, T), "T < 50": (T, 49)}, family=few)
    assert vacuous.outcome is Outcome.VACUOUS
    assert "T = 1 to" in one_line(vacuous)
    assert "none meets the hypotheses" in one_line(vacuous)


def test_a_violation_is_told_in_str_and_in_one_line_of_repr():
    verdict = checked(half_noise)
    found = verdict.counterexample
    assert found is not None
    lines = str(verdict).splitlines()
    assert lines[0] == verdict.summary
    assert 0 < verdict.violations < verdict.instances
    assert lines[0].startswith(f"violated on {verdict.violations} of {verdict.instances:,} instances, worst ratio ")
    assert lines[1].startswith("  at eta = 1, mu = 1, beta = 1, ")
    assert "sigma2 = 1, T = 1: measured 0.5 > bound 0.25" in one_line(verdict)
    assert len(repr(verdict)) < 240  # what pytest shows of an assertion's message
    assert repr(verdict).endswith("measured 0.5 > bound 0.25>")
    assert "measured 0.5 &gt; bound 0.25" in verdict._repr_html_()
    assert repr(found["measured"]) == "mpf('0.5')"
    assert found["digits"] == 50
    close = replace(verdict, counterexample=found | {"measured": found["bound"] * (1 + 2e-9)})
    assert "measured 0.2500000005 > bound 0.25" in one_line(close)  # as many digits as it takes
    left = replace(verdict.variants, standing=("sigma2 forgotten",) * 40)
    weak = replace(verdict, outcome=Outcome.WEAK, variants=left, counterexample=None)
    assert "sigma2 forgotten" in repr(weak)
    assert len(repr(weak)) < 240


@pytest.mark.usefixtures("brief")
def test_a_bound_that_is_not_a_number_somewhere_is_told_where():
    import math

    def rooted(*, eta, mu, beta, e0, sigma2):
        return math.sqrt(1 - 1.5 * eta * beta) * e0 + eta * beta * sigma2 / mu + 10 * e0

    verdict = check(rooted, conditions=limit)
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.violations == verdict.evidence.undefined > 0
    share = f"{verdict.evidence.undefined:,} of {verdict.instances:,} instances"
    assert str(verdict).startswith(f"violated on {share}\n")
    assert f"{share} the bound is not a number at eta = 1, mu = 1, beta = 1, " in one_line(verdict)
    assert f"({share})" in verdict.gap
    assert verdict.gap in repr(verdict)
    assert verdict.gap in verdict._repr_html_()
    found = verdict.counterexample
    assert found is not None
    assert found["arguments"]["eta"] * found["arguments"]["beta"] > 2 / 3

    def rooted_and_small(*, eta, mu, beta, e0, sigma2, T):
        return math.sqrt(1 - 1.5 * eta * beta) * half_noise(eta=eta, mu=mu, beta=beta, e0=e0, sigma2=sigma2, T=T)

    verdict = check(rooted_and_small, conditions=limit)
    assert verdict.violations > verdict.evidence.undefined > 0
    assert np.isfinite(verdict.worst_ratio)  # a violation in numbers comes first, and stays one as it is shrunk
    assert verdict.counterexample is not None
    assert verdict.counterexample["margin"] > 0
    assert "not a number at" in one_line(verdict)


@pytest.mark.usefixtures("brief")
def test_a_constant_bound_is_read_and_an_infinite_one_refused():
    few = quadratics(features=1, longest=2)
    for constant in (lambda *, e0: 1e30, lambda *, e0: 10**30, lambda: 1e30):
        verdict = check(constant, conditions=limit, family=few)
        assert verdict.outcome is Outcome.VALID
        assert verdict.mutants == 3  # the bound smaller, the condition wider by 5 and by 50 %
    import math

    for unbounded in (lambda *, e0: math.inf, lambda *, e0: (1 + e0) * np.inf):
        with pytest.raises(
            InputError, match=r"^bound = '<lambda>': it is infinite on all \d+ instances tried and says"
        ):
            check(unbounded, conditions=limit, family=few)
    partly = check(lambda *, eta, beta, e0: np.where(eta * beta < 0.5, np.inf, 1e30 + e0), conditions=limit, family=few)
    assert partly.instances > partly.evidence.unbounded > 0
    assert f"infinite on {partly.evidence.unbounded} of {partly.instances} instances" in one_line(partly)


@pytest.mark.usefixtures("brief")
def test_a_bound_that_gives_no_formula_is_checked_by_numbers_and_says_so():
    def unrolled(*, eta, mu, beta, e0, sigma2, T):
        left = e0
        for _ in range(int(T)):
            left = (1 - eta * mu) ** 2 * left + eta**2 * beta * sigma2 / 2 if eta * beta <= 1 else math.inf
        return left

    import math

    few = quadratics(features=2, longest=40)
    verdict = check(unrolled, conditions=limit, family=few)
    assert verdict.valid, str(verdict)
    assert verdict.refuted >= 5
    assert all("loosened" in each for each in verdict.survivors), str(verdict)  # infinite there: it says nothing
    assert "no formula can be read: it does more than arithmetic" in one_line(verdict)
    assert "no formula can be read: it does more than arithmetic" in verdict._repr_html_()
    wrong = check(lambda *, e0, T: e0 / 2 if T < 5 else e0, conditions=limit, family=few)
    assert wrong.outcome is Outcome.VIOLATED
    assert wrong.counterexample is not None
    assert wrong.counterexample["margin"] > 0


def test_a_counterexample_has_the_digits_it_says():
    problem = Quadratics.of(
        np.array([[[0.5, 0.1], [0.1, 0.3]], [[1.0, 0], [0, 0.2]], [[0.3, 0], [0, 0.4]]]), [[0, 1.0], [2, 0.3], [-1, 0]],
        covariance=[np.eye(2), [[2, 0.5], [0.5, 1]], 3 * np.eye(2)], start=[1.0, -1.0],
    )  # fmt: skip
    weights = [[0.5, 0.25, 0.25], [0.1, 0.9, 0.0], [0.2, 0.3, 0.5]]
    cycles = defaultdict(lambda: ONE_STEP, {"local-sgd": Cycle(blocks=tuple(Block(iterations=(t,)) for t in (1, 2)))})
    for algorithm, good in (
        (Local(), 50), (FixedWeights(alpha=weights), 50), (FixedWeights(alpha=np.array(weights)), 50),
        (LocalSGD(period=2), 15),
    ):  # fmt: skip
        exact = expected_excess(problem, algorithm, iterations=4, eta=0.3)[4]
        for client in range(3):
            value, count = high_precision.measured(
                problem, algorithm, iterations=4, eta=0.3, client=client, cycle=cycles[algorithm.name]
            )
            assert count == good
            np.testing.assert_allclose(float(value), exact[client], rtol=1e-12)


def test_requests_that_cannot_be_checked_are_named():
    for conditions, named in (
        ({"step": (1, 2)}, r"^conditions = .*: give a function of scalars that returns \{name: \(lhs, rhs\)\}"),
        (lambda *, eta, beta: {"step": eta <= 1 / beta}, r"^conditions\['step'\] = .*meaning lhs <= rhs, such as"),
        (lambda *, eta, beta: eta <= 1 / beta, r"^conditions = .*meaning lhs <= rhs"),
        (lambda *, eta, beta: {"step": ("eta", 1 / beta)}, r"^conditions\['step'\] = 'eta': return one number"),
    ):
        with pytest.raises(InputError, match=named):
            check(right, conditions=conditions)
    with pytest.raises(InputError, match=r"^bound = .*: return one number"):
        check(lambda *, eta: [1.0, eta])
    with pytest.raises(InputError, match=r"it fails at eta=.* \(AttributeError: .*; use arithmetic and exp, "):
        check(lambda *, eta: eta.nothing)
    with pytest.raises(InputError, match=r"^alpha = "):
        FixedWeights(alpha=[[1.0], [2.0, 3.0]])
    with pytest.raises(InputError, match="quantity = 'gradient'"):
        check(right, quantity="gradient")
    with pytest.raises(InputError, match="client = 1: the family one quadratic in R\\^2 has clients 0 to 0"):
        check(right, client=1, family=quadratics())
    with pytest.raises(InputError, match="client = -1"):
        check(right, client=-1)
    with pytest.raises(InputError, match="longest = 0"):
        quadratics(longest=0)
    for change in ({"clients": 2.5}, {"features": "two"}, {"longest": [3]}, {"clients": 0}, {"steps": [1.0, [2.0]]},
                   {"steps": "long"}, {"steps": 0.0}):  # fmt: skip
        with pytest.raises(InputError, match=f"{next(iter(change))} = "):
            quadratics(**change)
    with pytest.raises(InputError, match="algorithm = 'local'"):
        check(right, algorithm="local")
    with pytest.raises(InputError, match=r"bound = 0\.5: give a function"):
        check(0.5)
    with pytest.raises(InputError, match="family = 'quadratics': give a ProblemFamily"):
        check(right, family="quadratics")
    with pytest.raises(InputError, match=r"client = 0\.5"):
        check(right, client=0.5)
    with pytest.raises(InputError, match="effort = 'heroic'"):
        check(right, effort="heroic")
    with pytest.raises(InputError, match="parameter = 'colour'"):
        check(lambda *, eta, colour: eta * colour)
    with pytest.raises(InputError, match="parameter = 'share'"):
        check(lambda *, eta, share: eta * share)
