"""The plan of fewest rounds, the table of the documentation, and the conditions that fail."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import ConditionError, evaluate
from suffice.bounds.all_for_all_plan import ONE, STAGES, TWO, all_for_all_plan

GIVEN = {"mu": 1.0, "eps": 1e-4, "e0": 10.0, "sigma2": 0.2, "lambda2": 1.0, "weight2": 1.0, "peer_excess": 5e-5}
# kappa: corollary-1-sharp, theorem-3-two-stage-rounds, and the plan; the first two rounded up
TABLE = {
    1: (12_900, 8_003, 7_999),
    10: (128_993, 8_019, 7_994),
    100: (1_289_922, 8_232, 7_996),
    1000: (12_899_213, 10_880, 8_968),
}


@pytest.mark.parametrize("kappa", TABLE)
def test_kappa_leaves_the_noise(kappa):
    given = {**GIVEN, "beta": float(kappa)}
    older = {name: given[name] for name in ("mu", "beta", "eps", "e0", "sigma2", "lambda2")}
    closed = {name: value for name, value in given.items() if name != "weight2"} | {"smin": 1.0, "smax": 1.0}
    plan = all_for_all_plan(**given)
    counts = (evaluate("sample-optimal/corollary-1-sharp", **older), evaluate(TWO, **closed), plan.rounds)
    assert tuple(int(np.ceil(count)) for count in counts) == TABLE[kappa]
    # the plan keeps its promise, and one round less in stage 2 would not
    run = {name: closed[name] for name in ("mu", "beta", "smin", "smax", "sigma2", "lambda2", "peer_excess")}
    run |= {"offset": plan.offset, "T1": plan.first, "start2": 20.0}
    assert evaluate(STAGES, **run, T2=plan.rounds - plan.first) <= 1e-4
    assert evaluate(STAGES, **run, T2=plan.rounds - plan.first - 1) > 1e-4


def test_without_noise_the_older_count_is_less():
    plan = all_for_all_plan(**GIVEN | {"beta": 100.0, "sigma2": 0.0})
    assert (plan.key, plan.offset, plan.rounds) == (ONE, None, plan.first)
    assert plan.eta == pytest.approx(2 / 101, rel=1e-15)


def test_little_noise_and_starts_near_the_precision_leave_no_stage_shorter_than_no_rounds():
    """Where stage 2 is one model for some lengths of stage 1 and not for others."""
    rng, last = np.random.default_rng(9), []
    for rise in (0.0, *10 ** rng.uniform(-3, 4, 60)):
        given = {"mu": 1.0, "beta": 10 ** rng.uniform(0, 3), "eps": 1.0, "e0": rise, "lambda2": 1.0,
                 "sigma2": 10 ** rng.uniform(-3, 1), "peer_excess": rng.uniform(0, 0.9)}  # fmt: skip
        plan = all_for_all_plan(**given, weight2=1.0)
        assert plan.rounds >= plan.first >= 0
        if plan.key == TWO:
            run = {name: given[name] for name in ("mu", "beta", "sigma2", "lambda2", "peer_excess")}
            last.append(plan.rounds - plan.first)
            run |= {"offset": plan.offset, "T1": plan.first, "T2": last[-1], "start2": 2 * rise}
            assert evaluate(STAGES, **run, smin=1.0, smax=1.0) <= 1
    assert 0 in last
    assert max(last) > 0


@pytest.mark.parametrize("change", [{"peer_excess": 1e-4}, {"peer_excess": 2e-4}, {"beta": 0.5}])
def test_a_precision_within_the_bias_and_kappa_below_one_are_refused_with_both_sides(change):
    with pytest.raises(ConditionError) as refused:
        all_for_all_plan(**{**GIVEN, "beta": 10.0} | change)
    assert "<=" in str(refused.value)


@pytest.mark.share(2)
@pytest.mark.parametrize("seed", range(4))
def test_rounds_beyond_2_to_the_53_are_found_and_keep_the_promise(seed):
    """Whole numbers lie further apart than 1 there, so that no bisection ends at neighbours."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        mu = 10 ** rng.uniform(-12, 2)
        given = {"mu": mu, "beta": mu * 10 ** rng.uniform(0, 9), "eps": 10 ** rng.uniform(-16, -12), "e0": 10.0}
        noise = {"sigma2": 10 ** rng.uniform(0, 12), "lambda2": 0.5, "peer_excess": 0.0}
        plan = all_for_all_plan(**given, **noise, weight2=0.5)
        assert plan.rounds > 2**40
        if plan.key == TWO:
            run = {"mu": mu, "beta": given["beta"], "smin": 1.0, "smax": 1.0, "offset": plan.offset, **noise}
            T2 = plan.rounds - plan.first
            assert evaluate(STAGES, **run, start2=2 * given["e0"] / mu, T1=plan.first, T2=T2) <= given["eps"] * (
                1 + 1e-14
            )  # roundings
