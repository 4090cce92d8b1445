"""Rounds that fixed weights promise, against exact second moments of the run, written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import Constants, GradientDissimilarity
from suffice.bounds.all_for_all_plan import all_for_all_plan
from suffice.bounds.evaluate import evaluate
from suffice.planning.guaranteed.fixed_weights import AFFINE, OPTIMAL, UNIFORM, all_for_all_of_components, fixed_rounds

ROUNDING = 1 + 1e-9  # hundreds of steps of a recursion in float64
MOST = 300


def steps_of(stages):
    """(eta_t, whether the model before it is averaged) for every round."""
    for stage in stages:
        for t in range(stage["rounds"]):
            n = stage.get("offset", 0) + t
            yield (2 / (stage["mu"] * (n + 2)) if "mu" in stage else stage["eta"]), (n if "mu" in stage else None)


def exact_end(stages, curvature, centre, start, noise):
    """E (output - .)^2 by coordinate (d,) as mean and variance, of x+ = x - eta (curvature (x - centre) + noise).

    The output is the last model, or the mean of stage 2's models, its first and last included.
    """
    x = start - centre
    C = np.zeros((2, 2, len(x)))  # covariance of the model and of the weighted sum of models
    total, mean_sum, last = 0.0, np.zeros_like(x), None
    for eta, n in steps_of(stages):
        if n is not None:
            p = n * (n + 1) / (n + 2)
            total, mean_sum = total + p, mean_sum + p * x
            C[1, 1] += 2 * p * C[0, 1] + p**2 * C[0, 0]
            C[0, 1] += p * C[0, 0]
            last = n + 1
        a = 1 - eta * curvature
        C[0, 0] = a**2 * C[0, 0] + eta**2 * noise
        C[0, 1] *= a
        x = a * x
    if last is None:
        return x + centre, C[0, 0]
    p = last * (last + 1) / (last + 2)
    total, mean_sum = total + p, mean_sum + p * x
    return mean_sum / total + centre, (C[1, 1] + 2 * p * C[0, 1] + p**2 * C[0, 0]) / total**2


def one_hessian(rng):
    """Losses of one Hessian diag(h): b holds everywhere, no c."""
    n, kappa = int(rng.integers(2, 5)), np.exp(rng.uniform(0, 3))
    h = np.array([1.0, kappa]) * np.exp(rng.uniform(-2, 2))
    optima = rng.normal(size=(n, 2)) * np.exp(rng.uniform(-5, 0)) / h
    sigma2, start = np.exp(rng.uniform(-6, 0, n)), rng.normal(size=2)
    apart = h * (optima[:, None] - optima)
    excess = (h * (start - optima) ** 2).sum(-1) / 2
    pairs = GradientDissimilarity(b2=(apart**2).sum(-1), c=np.zeros((n, n)))
    constants = Constants(
        mu=np.full(n, h[0]), beta=np.full(n, h[1]), sigma2=sigma2, excess=excess, heterogeneity=pairs,
        strongly_convex=True,
    )  # fmt: skip
    return constants, h, optima, start


def ratio_of(found, h, optima, start, sigma2, along, client, epsilon):
    """The exact excess over epsilon; all noise is `along` one coordinate."""
    w = found["weights"]
    spread = np.eye(2)[along] * (w**2 @ sigma2)
    mean, variance = exact_end(found["stages"], h, w @ optima, start, spread)
    return ((h / 2) * ((mean - optima[client]) ** 2 + variance)).sum() / epsilon


@pytest.mark.parametrize("along", [0, 1])
def test_what_one_hessian_leaves_is_at_most_the_precision(along):
    rng, ratios, keys = np.random.default_rng(11 + along), [], set()
    for _ in range(30):
        constants, h, optima, start = one_hessian(rng)
        levels = constants.excess * np.exp(rng.uniform(-4, -0.5, constants.clients))
        for i, pair in enumerate(fixed_rounds(constants, levels)):
            for found in pair:
                if found["rounds"] < MOST:
                    keys.add(found["theorem"])
                    ratios.append(ratio_of(found, h, optima, start, constants.sigma2, along, i, levels[i]))
    assert max(ratios) <= ROUNDING
    assert max(ratios) > 0.3  # not vacuous: a tenth of the rounds would not do
    assert keys == {UNIFORM, OPTIMAL}


def test_what_different_curvatures_leave_is_at_most_the_precision():
    rng, ratios = np.random.default_rng(3), {AFFINE: [], UNIFORM: []}
    for _ in range(40):
        n = int(rng.integers(2, 6))
        h, optima = np.exp(rng.normal(size=n) * 0.3), rng.normal(size=n) * np.exp(rng.uniform(-5, 0))
        sigma2, start = np.exp(rng.uniform(-6, 0, n)), rng.normal() * 3
        s = np.exp(rng.normal(size=(n, n)))  # any split of the square is a pair of Assumption 3
        c = (1 + s) * (1 - h / h[:, None]) ** 2
        b2 = (1 + 1 / s) * (h * (optima - optima[:, None])) ** 2
        excess = h * (start - optima) ** 2 / 2
        constants = Constants(
            mu=h, beta=h * np.exp(rng.uniform(0, 1)), sigma2=sigma2, excess=excess,
            heterogeneity=GradientDissimilarity(b2=b2, c=c),
        )  # fmt: skip
        levels = excess * np.exp(rng.uniform(-4, -0.5, n))
        for i, pair in enumerate(fixed_rounds(constants, levels)):
            for found in (one for one in pair if one["rounds"] < MOST):
                w = found["weights"]
                curvature, centre = np.array([w @ h]), np.array([w @ (h * optima) / (w @ h)])
                mean, variance = exact_end(
                    found["stages"], curvature, centre, np.array([start]), np.array([w**2 @ sigma2])
                )
                end = h[i] / 2 * ((mean - optima[i]) ** 2 + variance)
                ratios[found["theorem"]].append(end.item() / levels[i])
    assert all(max(of) <= ROUNDING for of in ratios.values())
    assert min(max(of) for of in ratios.values()) > 0.3
    assert len(ratios[AFFINE]) > 20


def test_a_two_stage_plan_of_all_for_all_leaves_a_quarter_to_two_fifths_of_the_precision():
    """What the documentation says: on quadratics of curvature mu; less on those of a larger curvature."""
    found = []
    for kappa in (10.0, 100.0, 1000.0):
        for eps in (1e-2, 1e-3):
            plan = all_for_all_plan(
                mu=1.0, beta=kappa, eps=eps, e0=10.0, sigma2=0.2, lambda2=1.0, weight2=1.0, peer_excess=0.0
            )
            first = {"rounds": plan.first, "eta": plan.eta}
            second = {"rounds": plan.rounds - plan.first, "mu": 1.0, "offset": plan.offset}
            h = np.array([1.0, 3.0])
            mean, variance = exact_end((first, second), h, np.zeros(2), np.sqrt(20 / h), np.full(2, 0.2))
            found.append(h / 2 * (mean**2 + variance) / eps)
    least, *_, most = sorted(at_mu for at_mu, _ in found)
    assert round(least, 2) == 0.23
    assert round(most, 2) == 0.42
    assert all(at_mu > steeper for at_mu, steeper in found)


def test_all_for_all_keeps_what_it_promises_for_the_mean():
    rng, ratios = np.random.default_rng(5), []
    for _ in range(30):
        constants, h, optima, start = one_hessian(rng)
        epsilon = float(constants.excess.mean() * np.exp(rng.uniform(-4, -0.5)))
        found = all_for_all_of_components(constants, epsilon)
        if found is None or found["rounds"] > MOST:
            continue
        total = 0.0
        for i, w in enumerate(found["weights"]):  # a projection: component by component one run with equal weights
            spread = np.array([0.0, w**2 @ constants.sigma2])
            mean, variance = exact_end(found["stages"], h, w @ optima, start, spread)
            total += ((h / 2) * ((mean - optima[i]) ** 2 + variance)).sum() / constants.clients
        ratios.append(total / epsilon)
    assert len(ratios) >= 15
    assert 0.2 < max(ratios) <= ROUNDING


def test_a_row_takes_the_fewest_rounds_and_says_by_which_theorem():
    constants, *_ = one_hessian(np.random.default_rng(0))
    for row in sf.plan(constants, "5%"):
        told = row.to_dict()
        fixed, hitting = told["schedules"]["fixed_weights"], told["schedules"]["hitting"]["expected_iterations"]
        together, alone = row.both("guaranteed")
        assert together.iterations == min(fixed["rounds"], hitting) <= alone.iterations
        assert together.theorem == (
            fixed["theorem"] if fixed["rounds"] < hitting else "adaptive/corollary-1-expected-time"
        )
        np.testing.assert_allclose(sum(fixed["weights"]), 1, rtol=1e-14)
        assert sum(stage["rounds"] for stage in fixed["stages"]) == fixed["rounds"]


def test_alone_two_stages_are_the_record_itself():
    constants = Constants(
        mu=np.array([0.1]), beta=np.array([10.0]), sigma2=np.array([4.0]), excess=np.array([5.0]),
        heterogeneity=GradientDissimilarity(b2=np.zeros((1, 1)), c=np.zeros((1, 1))), strongly_convex=True,
    )  # fmt: skip
    ((_, found),) = fixed_rounds(constants, np.array([0.05]))
    bound = evaluate(
        OPTIMAL, mu=0.1, beta=10.0, eps=0.05, distance2=2 * 5 / 0.1, sigma2=4.0, lambda2=1.0, signal2=2 * 0.1 * 0.05
    )
    assert found["theorem"] == OPTIMAL
    assert bound - 2 <= found["rounds"] <= bound


def test_without_strong_convexity_no_second_stage_is_promised():
    constants, *_ = one_hessian(np.random.default_rng(0))
    loose = Constants(
        **{name: getattr(constants, name) for name in ("mu", "beta", "sigma2", "excess", "heterogeneity")}
    )
    levels = constants.excess / 20
    assert {found["theorem"] for pair in fixed_rounds(loose, levels) for found in pair} == {UNIFORM}
