"""Solving a bound for a parameter: the answer satisfies the target and the next value does not."""

from __future__ import annotations

import contextlib
import math

import mpmath
import numpy as np
import pytest

import suffice as sf
from suffice.bounds import THEOREMS, SufficeError, check_conditions, find

CONSTANT = find("adaptive/theorem-2-constant")
BASE = {"mu": 0.5, "beta": 1.0, "q": 0.5, "e0": 5.0, "s2": 0.1}


@pytest.mark.parametrize("seed", range(40))
def test_smallest_number_of_iterations_suffices_and_one_less_does_not(seed):
    rng = np.random.default_rng(seed)
    mu, e0, s2 = np.exp(rng.uniform(-4, 0)), np.exp(rng.uniform(0, 5)), np.exp(rng.uniform(-6, -2))
    values = {"mu": mu, "beta": 1.0, "q": 0.5, "e0": e0, "s2": s2, "eta": 0.5 * rng.uniform(0.05, 1)}
    floor = values["eta"] * s2 / (2 * mu)
    target = floor * 1.05 + rng.uniform(0, 0.5) * e0
    found = sf.solve(CONSTANT, "T", target=target, **values)
    assert found.side == "smallest"
    T = int(found.value)
    assert sf.digits(CONSTANT, **values, T=T) <= found.bound <= target
    if T > 0:
        assert sf.evaluate(CONSTANT, **values, T=T - 1) > target
    # by hand: (1 - eta mu)^T (e0 - floor) + floor <= target
    exact = math.log((target - floor) / (e0 - floor)) / math.log1p(-values["eta"] * mu) if e0 > target else 0
    assert abs(T - max(exact, 0)) <= 1


LEMMA = {"b": 0.3, "mu": 0.5}
SIGNAL = {"mu": 1.0, "e0": 1.0, "sigma2": 1.0, "signal2": 2.0, "ball": 2.0}


@pytest.mark.parametrize(
    ("key", "name", "target", "values", "side", "value"),
    [
        (CONSTANT.key, "T", 6.0, BASE | {"eta": 0.2}, "smallest", 0),  # the start is below the target
        (CONSTANT.key, "eta", 0.2, BASE | {"T": 100}, "largest", 0.5),  # the limit of the condition
        ("adaptive/lemma-2", "eps", 0.5, LEMMA | {"c": 0.1}, "smallest", 0.09 / (2 * 0.5 * 0.4)),
        ("adaptive/lemma-2", "c", 0.5, LEMMA | {"eps": 1.0}, "largest", 0.41),
        # e0 times the risk at u^2 = 14 is 2.8e-4, and 9.8e-5 at 16
        ("sample-optimal/theorem-1-excess", "T", 2e-4, SIGNAL, "largest", 7),
        # .2127 sigma2/(mu eps near) >= 3.5 up to near = 12.15
        ("sample-optimal/theorem-1", "near", 3.5, {"mu": 0.5, "eps": 0.01, "sigma2": 1.0, "ball": 1.0}, "largest", 12),
    ],
)
def test_answers_and_limits_are_those_by_hand_and_meet_the_target(key, name, target, values, side, value):
    found = sf.solve(find(key), name, target=target, **values)
    assert found.side == side
    np.testing.assert_allclose(found.value, value, rtol=1e-11 if key == "adaptive/lemma-2" else 0)
    with mpmath.workdps(40):
        exact = sf.digits(find(key), **values, **{name: found.value})
        assert exact <= target if find(key).direction == "upper" else exact >= target


def test_largest_step_below_the_limit_is_sharp_to_the_last_digits():
    found = sf.solve(CONSTANT, "eta", target=0.02, T=1000, **BASE)
    assert found.value < 0.5
    assert sf.evaluate(CONSTANT, **BASE, T=1000, eta=found.value) <= 0.02
    assert sf.evaluate(CONSTANT, **BASE, T=1000, eta=found.value * (1 + 1e-12)) > 0.02
    # long horizon: eta beta s2 / (2 mu) = target
    np.testing.assert_allclose(found.value, 0.02 * 2 * 0.5 / 0.1, rtol=1e-9)


def test_a_target_that_only_a_short_interval_of_steps_reaches_is_found():
    # the best step of a short horizon: contraction against noise
    grid = np.geomspace(1e-3, 0.5, 200_001)
    best = sf.evaluate(CONSTANT, **BASE, T=25, eta=grid).min()
    found = sf.solve(CONSTANT, "eta", target=best * (1 + 1e-7), T=25, **BASE)
    assert found.bound <= best * (1 + 1e-7)
    assert sf.evaluate(CONSTANT, **BASE, T=25, eta=found.value * 1.01) > best * (1 + 1e-7)


def test_what_cannot_be_reached_says_how_close_one_gets():
    with pytest.raises(sf.InputError, match=r"target = 0\.01: no T reaches it; .* is 0\.02$"):
        sf.solve(CONSTANT, "T", target=0.01, eta=0.2, **BASE)


def test_conditions_that_never_hold_are_told_as_by_evaluate():
    with pytest.raises(sf.ConditionError, match=r"step size eta <= q/beta fails \(0\.8 > 0\.5\); use eta <= 0\.5"):
        sf.solve(CONSTANT, "T", target=0.1, eta=0.8, **BASE)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("theta", {}, r"^solve = 'theta': .* takes eta, mu"),
        ("mu", {}, r"^mu = 0\.5: it is solved for"),
        ("T", {"target": math.nan}, r"^target = nan"),
        ("T", {"target": "many"}, r"^target = 'many'"),
        ("T", {"eta": -1.0}, r"^eta = -1\.0"),
        ("T", {"eta": [0.1, 0.2]}, r"^eta = \[0\.1, 0\.2\]: give one number"),
        ("T", {"eta": [[0.1], [0.2, 0.3]]}, r"^eta = .*: give real numbers"),
        ("T", {"eta": "small"}, r"^eta = 'small'"),
        ("T", {"colour": 1.0}, r"^colour = 1\.0"),
    ],
)
def test_bad_requests_are_refused_by_name(name, change, message):
    with pytest.raises(sf.InputError, match=message):
        sf.solve(CONSTANT, name, **({"target": 0.1, "eta": 0.2} | BASE | change))


def test_a_missing_value_is_named():
    with pytest.raises(sf.InputError, match=r"^s2 = 'missing'"):
        sf.solve(CONSTANT, "T", target=0.1, eta=0.2, mu=0.5, beta=1.0, q=0.5, e0=5.0)


@pytest.mark.parametrize("value", [[[0.1], [0.2, 0.3]], "small", ["a", "b"], {"a": 1}, object()])
def test_what_is_no_number_is_refused_by_every_way_to_evaluate(value):
    for evaluated in (sf.evaluate, sf.digits, check_conditions):
        with pytest.raises(sf.InputError, match=r"^eta = "):
            evaluated(CONSTANT, eta=value, T=3, **BASE)


def test_a_key_stands_for_the_corrected_record_and_digits_are_counted():
    record, values = find(CONSTANT.key), BASE | {"eta": 0.1, "T": 3}
    assert sf.evaluate(CONSTANT.key, **values) == sf.evaluate(record, **values)
    assert sf.digits(CONSTANT.key, **values) == sf.digits(record, **values)
    assert sf.solve(CONSTANT.key, "T", target=4.0, **BASE, eta=0.1) == sf.solve(
        record, "T", target=4.0, **BASE, eta=0.1
    )
    assert sf.latex(CONSTANT.key) == sf.latex(record)
    with pytest.raises(sf.ConditionError):
        check_conditions(CONSTANT.key, **values | {"eta": 5.0})
    for evaluated in (sf.evaluate, sf.digits, check_conditions):
        with pytest.raises(sf.InputError, match=r"^theorem = 3: give a key, or a record"):
            evaluated(3)
        with pytest.raises(sf.InputError, match=r"^theorem = 'adaptive/lemma-9': did you mean adaptive/lemma-"):
            evaluated("adaptive/lemma-9", b=1.0)
    for text in ("adaptive/theorem-2", "adaptive/Theorem-2", "adaptive Theorem 2", "adaptive-theorem-2"):
        with pytest.raises(sf.InputError, match=f"^theorem = '{text}': say which: adaptive/theorem-2-constant, "):
            find(text)
    with pytest.raises(
        sf.InputError, match=r"say which: adaptive/theorem-2, sample-optimal/theorem-2, scafflix/theorem-2$"
    ):
        find("Theorem 2")
    with pytest.raises(sf.InputError, match=r"^theorem = 'cobo': a paper, not a key; `suffice theorem cobo`"):
        find("cobo")
    for text in ("Sample Optimal Theorem 5", "sample_optimal-theorem-5", " sample-optimal / theorem 5 "):
        assert find(text).key == "sample-optimal/theorem-5"
    with pytest.raises(
        sf.InputError, match=r"^theorem = 'adaptive/theorem-2': say which: adaptive/theorem-2-constant, "
    ):
        find("adaptive/theorem-2")
    for count in (0, 2.5, "many"):
        with pytest.raises(sf.InputError, match=r"^count = .*: give a whole number, at least 1"):
            sf.digits(CONSTANT, count, eta=0.1, T=3, **BASE)
    with pytest.raises(sf.InputError, match=r"^theorem = "):
        find(["adaptive/lemma-2"])


WHOLE = [
    (record, parameter)
    for record in THEOREMS
    if record.bound is not None and record.edition == "corrected"
    for parameter in record.parameters
    if parameter.integer
]


@pytest.mark.share(4)
@pytest.mark.parametrize(("record", "parameter"), WHOLE, ids=[f"{record.key}-{one.name}" for record, one in WHOLE])
def test_a_whole_number_that_meets_the_target_is_never_overlooked(record, parameter):
    """Up to 2,048 all are tried: some conditions hold for a few of them alone, and some bounds fall and rise again."""
    rng = np.random.default_rng(11)
    for _ in range(8):
        point = {}
        for entry in record.parameters:
            low, high = (max(end, 1.0 if entry.integer else 1e-3) for end in entry.typical)
            drawn = float(np.exp(rng.uniform(np.log(low), np.log(max(high, 2 * low)))))
            point[entry.name] = min(float(round(drawn)), 2000.0) if entry.integer else drawn
        known = point.pop(parameter.name)
        with contextlib.suppress(SufficeError):  # outside the domain or the conditions
            bound = float(sf.evaluate(record, **point, **{parameter.name: known}))
            if not np.isfinite(bound):
                continue
            try:
                found = sf.solve(record, parameter.name, target=bound, **point)
            except SufficeError as error:
                pytest.fail(f"{parameter.name} = {known} meets it: {error}")
            assert found.value <= known if found.side == "smallest" else found.value >= known
            assert found.bound <= bound if record.direction == "upper" else found.bound >= bound
            assert found.bound == sf.evaluate(record, **point, **{parameter.name: found.value})


def test_the_end_of_what_was_tried_is_no_limit():
    values = {"b": 0.0, "c": 0.1, "mu": 0.5}
    found = sf.solve("adaptive/lemma-2", "eps", target=0.5, **values)
    assert found.end
    assert sf.evaluate("adaptive/lemma-2", eps=found.value / 1e10, **values) >= 0.5  # beyond it the target is met too
    limit = sf.solve("adaptive/lemma-2", "eps", target=0.5, **values | {"b": 0.3})
    assert not limit.end
    assert sf.evaluate("adaptive/lemma-2", eps=limit.value * (1 - 1e-9), **values | {"b": 0.3}) < 0.5
