"""What the sample-optimality claims measure, by a second route, and planted faults in it and in the simulator."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import chi2, norm

from suffice.bounds import evaluate, find
from suffice.bounds.elementary import survive
from suffice.bounds.spectral_gap import spectrum
from suffice.simulate import AllForAll, FixedWeights, Quadratics, StreamingLeastSquares, expected_excess
from suffice.verification import Outcome
from suffice.verification.claims.sample_optimal import (
    all_for_all,
    all_for_one,
    claims,
    estimated,
    flat,
    growing,
    lower_bound,
    samples,
    simulated,
    star,
    two_stages,
    weak,
)
from suffice.verification.claims.sample_optimal.last_iterate import KINKED, _kinked
from suffice.verification.claims.sample_optimal.moments import geometric, last_missed, power
from suffice.verification.family import Domain, Family

KEY = "sample-optimal/"
CLAIMS = {(claim.theorem.key.removeprefix(KEY), claim.theorem.edition): claim for claim in claims()}


def test_powers_and_sums_of_contractions():
    x, T = np.array([0.0, 1e-9, 0.3, 1.0, 1.9]), np.array([7.0, 7, 7, 7, 7])
    np.testing.assert_allclose(power(x, T), (1 - x) ** 7, rtol=1e-14)
    np.testing.assert_allclose(geometric(x, T), sum((1 - x) ** (2 * t) for t in range(7)), rtol=1e-13)
    np.testing.assert_array_equal(power(x, 0 * T), 1)
    np.testing.assert_array_equal(geometric(x, 0 * T), 0)


def test_the_last_missed_round():
    eps = np.array([0.5, 1e-9, 2.0, 1.0])
    rate = np.array([0.1, 1e-6, 0.1, 0.3])

    def excess(T):
        return np.exp(-rate * T)

    expected = [int(np.floor(-np.log(0.5) / 0.1)), int(np.floor(-np.log(1e-9) / 1e-6)), 0, 0]
    np.testing.assert_array_equal(last_missed(excess, eps), expected)


def family(key: str, at: int = 0, edition: str = "corrected"):
    return CLAIMS[key, edition].families[at]


SIZES = np.array([[1, 2, 3], [4, 1, 2], [3, 4, 1], [2, 3, 4], [1, 1, 1], [4, 4, 4]])
"""Agents of the three groups of six instances: every group has every size from 1 to 4."""


def shared(values, n, groups):
    """Quadratics of one Hessian."""
    model = all_for_one.network(values, values["fraction"] / values["beta"])
    A, covariance = (np.stack([np.diag(row) for row in rows[n]])[groups] for rows in (model.h / 2, model.v))
    return Quadratics.of(A, -model.m[n][groups], covariance=covariance, start=values["start"][n])


def bent(values, n, groups):
    """Quadratics of different curvatures."""
    h = (values["beta"][n] / values["kappa"][n] * values["kappa"][n] ** values["bend"][n])[groups]
    m = (values["spread"][n] * np.append(0, values["place"][n]))[groups]
    start = np.full((len(groups), 1), values["start"][n])
    return Quadratics.of(h[:, None, None] / 2, -m[:, None], sigma2=values["sigma2"][n][groups], start=start)


def streams(values, n, groups):
    """Least squares, whose noise grows."""
    H = np.diag([values["beta"][n] / values["kappa"][n], values["beta"][n]])
    m = values["spread"][n] * np.vstack([np.zeros(2), values["place"][n]])[groups]
    noise = np.sqrt(values["tau2"][n] / 2)[groups]
    return StreamingLeastSquares.of(H / 2, m, label_noise=noise, start=values["start"][n])


@pytest.mark.parametrize(
    ("of", "seed", "longest", "problem"),
    [
        (family("theorem-2"), 5, 20, shared),
        (weak.claims()[0].families[0], 6, 20, bent),
        (growing.growing().families[0], 7, 12, streams),
    ],
)
def test_all_for_one_agrees_with_the_simulator(of, seed, longest, problem):
    values = of.draw(6, seed=seed)
    values["count"], values["T"] = SIZES.astype(float), np.minimum(values["T"], longest)
    evidence = of.evidence(values)
    for n in range(6):
        groups = np.repeat(range(3), SIZES[n])
        alpha = values["weight"][n][groups] / values["weight"][n][groups].sum()
        rule = FixedWeights(alpha=torch.from_numpy(np.tile(alpha, (len(groups), 1))))
        T, eta = int(values["T"][n]), float(evidence.arguments["eta"][n])
        exact = expected_excess(problem(values, n, groups), rule, iterations=T, eta=eta)[-1, 0]
        np.testing.assert_allclose(evidence.measured[n], exact, rtol=1e-9)


def test_all_for_all_agrees_with_the_simulator():
    values = family("theorem-3-sharp").draw(8, seed=8)
    values["kind"] = np.arange(8.0) % 4
    values["T"] = np.minimum(values["T"], 25)
    model, _ = all_for_all.network(values)
    measured = model.average(values["T"])
    for n in range(8):
        rule, start = AllForAll(Lambda=torch.from_numpy(model.Lambda[n])), np.full((3, 1), model.start[n])
        problem = Quadratics.of(model.h[n][:, None, None] / 2, -model.m[n][:, None], sigma2=model.v[n], start=start)
        exact = expected_excess(problem, rule, iterations=int(values["T"][n]), eta=float(model.eta[n]))
        np.testing.assert_allclose(measured[n], exact[-1].mean(), rtol=1e-8)


def test_the_mean_of_the_iterates_by_a_recursion_of_model_and_sum():
    values = family("theorem-3-sharp").draw(8, seed=9)
    values["kind"], values["T"] = np.arange(8.0) % 4, np.maximum(values["T"], 1)
    model, _ = all_for_all.network(values)
    measured = model.averaged(values["T"])
    for n in range(8):
        h, m, T = model.h[n], model.m[n], int(values["T"][n])
        W = model.Lambda[n] @ model.Lambda[n].T
        step = np.eye(3) - model.eta[n] * W * h
        move = np.block([[step, np.zeros((3, 3))], [step, np.eye(3)]])  # (x - m, sum of x - m)
        push = model.eta[n] * np.vstack([W, W])
        mean, cov = np.concatenate((model.start[n] - m, np.zeros(3))), np.zeros((6, 6))
        for _ in range(T):
            mean, cov = move @ mean, move @ cov @ move.T + push @ np.diag(model.v[n]) @ push.T
        exact = (h * (mean[3:] ** 2 + np.diag(cov)[3:])).mean() / 2 / T**2
        # modes slower than 1/(100 T) leave their noise out
        assert measured[n] <= exact * (1 + 1e-9)
        slow = (model.modes[0][n] > 0) & (model.modes[0][n] * T < 1e-2)
        if not slow.any():
            np.testing.assert_allclose(measured[n], exact, rtol=1e-9)


def test_models_that_agree_are_all_for_all_with_equal_rows():
    domains = family("theorem-3-sharp", 1)
    values = domains.draw(6, seed=10)
    values["count"], values["T"] = np.array([[1, 1], [2, 1], [1, 4], [3, 2], [4, 3], [2, 4]]), np.full(6, 9.0)
    model, known = all_for_all.agreed(values)
    for n in range(6):
        count = values["count"][n]
        tilt = values["tilt"][n]
        row = np.repeat([tilt / count[0], (1 - tilt) / count[1]], count)
        groups = np.repeat([0, 1], count)
        problem = Quadratics.of(
            model.h[n, groups][:, None] / 2,
            -model.m[n, groups],
            sigma2=model.v[n, groups, 0],
            start=np.full((len(row), 1), values["start"][n]),
        )
        rule = AllForAll(Lambda=torch.from_numpy(np.tile(row, (len(row), 1))))
        own = spectrum(rule.Lambda.numpy())
        assert (own.smin, own.smax) == pytest.approx((known["smin"][n], known["smax"][n]), rel=1e-12)
        exact = expected_excess(problem, rule, iterations=9, eta=float(model.eta[n] / known["smax"][n]))
        np.testing.assert_allclose(model.average(values["T"])[n], exact[-1].mean(), rtol=1e-9)
        gap = model.h[n, groups, 0][:, None] * (model.m[n, groups] - model.m[n, groups].T) ** 2 / 2
        np.testing.assert_allclose(known["peer_excess"][n], (row * gap).sum(1).mean(), rtol=1e-12)


@pytest.mark.parametrize("key", ["theorem-5-rows", "theorem-5-threshold"])
def test_links_depend_on_how_much_empirical_means_differ(key):
    """Not on what all are off by together, nor on how far away other clusters are."""
    for family in CLAIMS[key, "corrected"].families:
        values = family.draw(100, seed=4)
        own, none = np.round(4 * values["off"]) / 4, {"share": np.zeros(100)}
        line = 1e5 * np.arange(own.shape[1] // 2).reshape(-1, *[1] * (own.ndim - 2)) + 0 * values["place"]
        still = {name: np.ones(100) for name in ("kappa", "step_share", "alone")}  # no start or bias hides the noise
        away = values | {"place": line, "share": np.ones(100)} | still
        for moved, same in (
            (values | {"off": 0.5 + own * 2.0**-50}, values | {"off": own}),
            (values | {"off": 0 * own - 0.7}, values | none),
            (away, away | none),
        ):
            expected = family.evidence(same).measured
            assert np.isfinite(expected).all()
            np.testing.assert_allclose(family.evidence(moved).measured, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", [0, 1])
def test_estimated_clusters_by_all_outcomes(kind):
    chosen = {"beta": 2.0, "kappa": 4.0, "size": 2, "apart": 1.3, "start": 0.4, "kind": kind}
    values = {name: np.array([float(value)]) for name, value in chosen.items()}
    sigma2, eta, p, T = 0.7, 0.3, 0.2, 5
    model = estimated.Clusters(values, np.array([sigma2]), np.array([eta]), np.array([p]))
    place, one, total = np.array([0, 0, 1.3, 1.3]), 1 - (1 - p) ** 0.25, 0.0
    problem = Quadratics.of(
        np.full((4, 1, 1), 0.25), -place[:, None], sigma2=sigma2, start=np.full((4, 1), 0.4)
    )  # h = 1/2
    for misled in product([False, True], repeat=4):
        labels = [0, 0, 1, 1]
        if kind == 1 and any(misled):
            labels = [0] * 4
        elif kind == 0:
            labels = [10 + j if wrong else label for j, (wrong, label) in enumerate(zip(misled, labels))]
        chance = np.prod([one if wrong else 1 - one for wrong in misled])
        total += chance * expected_excess(problem, AllForAll.clusters(labels), iterations=T, eta=eta)[T].mean()
    np.testing.assert_allclose(model.average(np.array([float(T)]))[0], total, rtol=1e-12)


def test_the_star_at_the_best_of_many_step_sizes():
    N, T = 7, 6
    values = {"N": np.array([7.0]), "beta": np.array([2.0]), "start": np.array([3.0])}
    Lambda = np.eye(N) / 2
    Lambda[:, 0] += 0.5
    Lambda[0] = 1 / N
    W = Lambda @ Lambda.T
    reach = 0.99 / np.sqrt(2.0)
    minimisers = np.vstack([np.zeros(N - 1), reach * np.eye(N - 1)])
    start = np.full(N - 1, 3 / np.sqrt(N - 1))
    for model, gap in (
        (star.one_loss(values), np.full((N, 1), 3.0)),
        (star.threshold_star(values), start - minimisers),
    ):
        np.testing.assert_allclose(model.start()[0], (gap**2).sum() / N, rtol=1e-12)  # h/(2N) with h = 2
        best = np.inf
        for eta in np.geomspace(0.05, 20, 4000):
            after = np.linalg.matrix_power(np.eye(N) - eta * 2 * W, T) @ gap
            best = min(best, (after**2).sum() / N)
        least = model.least(np.array([float(T)]))[0]
        assert least <= best * (1 + 1e-12)
        np.testing.assert_allclose(least, best, rtol=1e-3)  # the grid's steps are 0.15 %, the minimum is flat


def test_flat_losses_by_gradient_descent():
    values = flat.flat().draw(6, seed=11)
    values |= {"many": np.arange(2.0, 8), "follow": np.arange(6.0) % 2}
    values["slope"][5] = 0
    evidence = flat.flat().evidence(values)
    for n in range(6):
        many, L, T = int(values["many"][n]), values["beta"][n], int(values["T"][n])
        N, eta = many + 1, evidence.arguments["eta"][n]
        weights = np.eye(N)[-1] if values["follow"][n] else np.full(N, 1 / N)
        gain = N * weights @ weights  # W = |lambda|^2 1 1^T
        slopes = np.append(np.ones(many), values["slope"][n] * many)
        start = values["reach"][n] * eta * gain * (many - slopes[-1]) / N * T + 1 / L
        there = (1 + values["apart"][n]) * start + slopes[-1] / L if slopes[-1] else 1 / L
        place = np.append(np.zeros(many), there)

        def loss(x, place=place, slopes=slopes, L=L):
            gap = np.abs(x - place)
            return np.where(gap < slopes / L, L * gap**2 / 2, slopes * (gap - slopes / (2 * L)))

        x, mean, kept, across = start, 0.0, 0.0, 0.0
        for _ in range(T):
            x -= eta * gain * np.clip(L * (x - place), -slopes, slopes).mean()
            mean += x / T
            kept = 1 + (1 - eta * gain * L) * kept  # of one round's noise in the sum of the iterates
            across += (eta * gain * kept / T) ** 2 * values["sigma2"][n] / N
        np.testing.assert_allclose(evidence.measured[n], loss(mean).mean() + L / 2 * across, rtol=1e-9)
        peer_excess = np.mean([loss(y) for y in place], axis=1) if not values["follow"][n] else loss(place[-1])
        np.testing.assert_allclose(evidence.arguments["peer_excess"][n], peer_excess.mean(), rtol=1e-9)
        seen = (weights @ (start - place)) ** 2 / (weights @ weights)
        np.testing.assert_allclose(evidence.arguments["mean_distance2"][n], seen / N, rtol=1e-9)


def test_the_risk_of_a_sign_from_the_samples_of_two_agents():
    # Both agents' mean samples, posterior by Bayes' rule, Gauss-Hermite quadrature in the plane
    mu, sigma2, T, m = 0.5, 4.0, 3, np.array([1.4, 0.6])
    deviation = np.sqrt(sigma2 / mu**2 / T)
    x, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()
    one, two = np.meshgrid(x, x)
    seen = [m[0] + deviation * one, m[1] + deviation * two]  # the sign is +1; the other case is its mirror image
    likelihood = [np.exp(-sum((y - s * c) ** 2 for y, c in zip(seen, m)) / (2 * deviation**2)) for s in (1, -1)]
    estimate = (likelihood[0] - likelihood[1]) / (likelihood[0] + likelihood[1])
    exact = np.einsum("i,j,ij->", w, w, (1 - estimate) ** 2)
    u = np.sqrt(T * mu**2 * (m**2).sum() / sigma2)
    np.testing.assert_allclose(lower_bound.sign_risk(np.array([u]))[0], exact, rtol=1e-6)


def test_the_separation_inverts_the_risk():
    rho = np.concatenate((np.geomspace(1e-20, 0.9, 50), 1 / (1 + np.geomspace(1e-3, 3, 50))))
    np.testing.assert_allclose(lower_bound.sign_risk(np.sqrt(lower_bound.separation(rho))), rho, rtol=1e-12)


def test_the_samples_that_still_fail():
    d, pairs, failure, trace, gap = (np.array([x]) for x in (5.0, 3.0, 1e-3, 2.0, 0.3))
    S = samples.last_failing(d, pairs, failure, trace, gap)[0]

    def fails(count):
        return 1 - chi2.cdf(gap[0] ** 2 * count * 5 / (8 * trace[0]), 5) ** 6

    assert fails(S) > 1e-3 >= fails(S + 1)
    S = samples.apart(failure, trace, gap)[0]

    def alike(count):
        deviation = np.sqrt(2 * trace[0] / count)
        return norm.cdf(-gap[0] / 2 / deviation) - norm.cdf(-3 * gap[0] / 2 / deviation)

    assert alike(S) > 1e-3 >= alike(S + 1)


def test_theorem_2_as_printed_is_true_without_noise_at_every_step_from_half_the_largest():
    """With half of its bias as well, not with less; nor with twice its rate at half the step."""
    claim = CLAIMS["theorem-2", "printed"]
    assert claim.theorem.true_as_printed
    assert not find(KEY + "theorem-3", "printed").true_as_printed

    def bound(rate, share):
        def printed(*, mu, beta, e0, bias2, T):
            return e0 * survive(rate * mu / beta, T) + share * bias2 / mu

        return replace(claim, theorem=replace(claim.theorem, bound=printed), true_variants={})

    assert bound(0.5, 0.5).verify().worst_ratio <= 1 + 1e-9
    assert bound(0.5, 0.49).verify().outcome is Outcome.VIOLATED
    assert bound(1.01, 1).verify().outcome is Outcome.VIOLATED


def far(self, problem, state, draw, eta, honest=FixedWeights.step):
    return honest(self, problem, state, draw, 1.05 * eta)


FAULTS = {
    "W is 5 % too large": ("theorem-3-sharp", "all_for_all", "W", property(lambda it: 1.05 * it.Lambda @ it.Lambda.T)),
    "Lambda^T Lambda": ("theorem-3-sharp", "all_for_all", "W", property(lambda it: it.Lambda.T @ it.Lambda)),
    "steps too far": ("theorem-2", "all_for_one", "step", far),
    "steps too far on rows": ("theorem-2-least-squares", "least_squares", "step", far),
}


@pytest.mark.parametrize(("key", "make", "name", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_simulator_is_caught(monkeypatch, key, make, name, fault):
    claim = replace(CLAIMS[key, "corrected"], families=(), exact=lambda _, root: [getattr(simulated, make)(12, root)])
    assert claim.verify().worst_ratio == pytest.approx(1, rel=1e-12)
    monkeypatch.setattr(AllForAll if name == "W" else FixedWeights, name, fault)
    assert claim.verify().outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("stage", "share"), [("T1", 0.5), ("T2", 0.6)])
def test_a_plan_with_fewer_rounds_in_one_stage_misses_the_precision(stage, share, monkeypatch):
    made = two_stages.plan
    monkeypatch.setattr(
        two_stages, "plan", lambda known: (found := made(known)) | {stage: np.floor(share * found[stage])}
    )
    assert CLAIMS["theorem-3-two-stage-rounds", "corrected"].verify().outcome is Outcome.VIOLATED


def floor(kappa, x):
    """The bound at its best window after many rounds, in units of eta sigma^2/2."""
    window = np.unique(np.floor(np.geomspace(1, 1e7, 4000))) - 1
    bound = evaluate("sample-optimal/theorem-2-last-iterate", eta=x, mu=1 / kappa, beta=1.0, distance2=0.0, sigma2=1.0,
                     lambda2=1.0, window=window, T=10**9)  # fmt: skip
    return bound.min() / (x / 2)


@pytest.mark.parametrize("kappa", [30.0, 300.0, 3000.0])
def test_timed_kicks_make_the_last_loss_grow_with_the_logarithm_of_kappa(kappa):
    """No constant times eta sigma^2 bounds it; the half of kappa that contraction alone gives is far more."""
    values = {"beta": 1.0, "kappa": kappa, "fraction": 0.1, "noise": 1e-4, "start": 0.0, "T": 4000.0, "window": 0.0}
    evidence = _kinked({name: np.array([value]) for name, value in values.items()})
    measured = evidence.measured[0] / (0.1 * 1e-4 / 2)
    assert 0.35 * np.log(kappa) < measured - 0.1 < 0.55 * np.log(kappa)
    assert measured < floor(kappa, 0.1)


def test_many_rounds_at_once_are_those_rounds_one_by_one():
    """From a start beyond the kink: slope mu y + 1 from y = 1/(beta - mu) on, beta y before; no noise."""
    values = Family(name="starts", domains=KINKED | {"start": Domain(low=1e-3, high=100, log=True)}).draw(200, seed=5)
    evidence = _kinked(values)
    given = evidence.arguments
    kink = 1 / (given["beta"] - given["mu"])
    y = np.sqrt(given["distance2"])
    began_beyond = y > kink
    for t in range(int(given["T"].max())):
        y = np.where(t < given["T"], y - given["eta"] * (given["mu"] * y + np.minimum(y / kink, 1)), y)
    assert (began_beyond & (y <= kink)).sum() > 10
    assert (y > kink).sum() > 10
    loss = given["mu"] * y**2 / 2 + np.where(y < kink, y**2 / (2 * kink), y - kink / 2)
    # 60 rounds of rounding, times 100 where most of the way is taken back; steps of 1/beta leave rounding errors alone
    np.testing.assert_allclose(evidence.measured, loss, rtol=1e-11, atol=1e-25)
