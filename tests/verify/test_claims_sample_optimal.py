"""Verdicts on the sample-optimality paper, the two routes to each measured number, and planted faults."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import chi2, norm

from bounds import THEOREMS, find
from bounds.bayes_risk import inverse_risk, risk
from bounds.elementary import fall, survive
from simulate import AllForAll, FixedWeights, Quadratics, StreamingLeastSquares, expected_excess
from verify import Claim, Outcome
from verify.claims.sample_optimal import (
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
    weak,
)
from verify.claims.sample_optimal.moments import Filtered, geometric, last_missed, power

KEY = "sample-optimal/"
HOLDS, VIOLATED, WEAK = Outcome.HOLDS, Outcome.VIOLATED, Outcome.WEAK
EXPECTED = {
    ("theorem-1", "corrected"): HOLDS,
    ("theorem-1-sum", "corrected"): HOLDS,
    ("theorem-1-optimised", "corrected"): HOLDS,
    ("theorem-1-excess", "corrected"): HOLDS,
    ("theorem-2", "corrected"): HOLDS,
    ("theorem-2-tuned", "corrected"): HOLDS,
    ("theorem-2-weak", "corrected"): HOLDS,
    ("theorem-2-rounds", "corrected"): HOLDS,
    ("theorem-2-rounds-threshold", "corrected"): HOLDS,
    ("theorem-2-threshold", "printed"): VIOLATED,
    ("theorem-2-threshold", "corrected"): HOLDS,
    ("theorem-2-least-squares", "corrected"): HOLDS,
    ("theorem-3", "printed"): VIOLATED,
    ("theorem-3", "corrected"): HOLDS,
    ("theorem-3-averaged", "corrected"): HOLDS,
    ("theorem-3-rounds", "corrected"): HOLDS,
    ("theorem-3-averaged-rounds", "corrected"): HOLDS,
    ("corollary-1", "printed"): VIOLATED,
    ("corollary-1", "corrected"): HOLDS,
    ("corollary-1-general", "corrected"): HOLDS,
    ("linear-dissimilarity", "printed"): VIOLATED,
    ("linear-dissimilarity", "corrected"): HOLDS,
    ("theorem-4", "corrected"): WEAK,
    ("theorem-5", "corrected"): HOLDS,
    ("theorem-5-samples", "corrected"): HOLDS,
    ("corollary-2", "corrected"): HOLDS,
}
# How near the bound comes where it is not attained. Without noise the excess of gradient descent falls like
# (1 - eta mu)^(2T), and all the rounds below count (1 - eta mu)^T: at most half is used. All-for-one's excess is not
# least at the point that it tends to, and falls slower there: the more, the nearer the bias is to its limit.
ATTAINED = {
    "theorem-2-rounds": (0.94, 0.951),
    "theorem-2-rounds-threshold": (0.74, 0.745),
    "theorem-3-rounds": (0.49, 0.5),
    "theorem-3-averaged-rounds": (0.49, 0.501),
    "corollary-1": (0.48, 0.5),
    "corollary-1-general": (0.48, 0.5),
    "corollary-2": (0.48, 0.5),
}
# Bounds of a single term: nothing to drop or to move but the whole.
FEW_MUTANTS = {"theorem-1": 1, "theorem-1-sum": 2, "theorem-2-threshold": 1}
# The rounds of Theorem 4 are those of Corollary 2: half of them would do, so that 5 % cannot be told.
SURVIVORS = {"theorem-4": ["log(1 + (4*Max(0, e0 - eps))/eps)*Max(beta/mu... moved by 5 %"]}
NECESSARY = {
    "theorem-1": {"family in the ball, 4 eps <= mu ball^2"},
    "theorem-1-sum": {"family in the ball, 4 eps <= mu ball^2"},
    "theorem-1-optimised": {"family in the ball, 2 e0 <= mu ball^2"},
    "theorem-1-excess": {"family in the ball, 2 e0 <= mu ball^2"},
    "theorem-2": {"step size eta <= 1/beta"},
    "theorem-2-weak": {"step size eta <= 1/beta"},
    "theorem-2-threshold": {"threshold b^2 <= 2 mu eps"},
    "theorem-2-least-squares": {"step size eta <= mu/(4 beta growth lambda2)"},
    "theorem-3": {"step size eta <= 1/(beta smax)"},
    "theorem-3-averaged": {"step size eta <= 1/(beta smax)"},
    "theorem-5": {"step size eta <= 1/beta"},
}
CLAIMS = {(claim.theorem.key.removeprefix(KEY), claim.theorem.edition): claim for claim in claims()}


def corrected(key: str) -> Claim:
    return CLAIMS[key, "corrected"]


def test_every_record_that_can_be_evaluated_has_a_claim_unless_its_printed_form_is_true():
    records = {(t.key.removeprefix(KEY), t.edition) for t in THEOREMS if t.key.startswith(KEY) and t.bound is not None}
    assert records - set(CLAIMS) == {("theorem-2", "printed")}
    fault = find(KEY + "theorem-2", "printed").fault
    assert fault is not None
    assert fault.startswith("true but loose")
    assert set(CLAIMS) == set(EXPECTED)


@pytest.mark.parametrize("root", [0, 1])
@pytest.mark.parametrize("name", EXPECTED, ids=lambda name: "-".join(name))
def test_corrected_theorems_hold_with_every_mutant_refuted_and_printed_ones_are_violated(name, root):
    key, edition = name
    verdict = CLAIMS[name].verify(root=root)
    assert verdict.outcome is EXPECTED[name], str(verdict)
    assert verdict.expected is (EXPECTED[name] is not WEAK)
    assert verdict.instances >= 20
    if edition == "printed":
        assert verdict.worst_ratio > 5
        return
    assert list(verdict.survivors) == SURVIVORS.get(key, [])
    assert verdict.mutants >= FEW_MUTANTS.get(key, 3)
    low, high = ATTAINED.get(key, (0.99, 1 + 1e-9))
    assert low < verdict.worst_ratio <= high
    assert verdict.necessity == dict.fromkeys(NECESSARY.get(key, ()), True)


@pytest.mark.parametrize("key", NECESSARY)
def test_without_its_conditions_a_theorem_is_violated(key):
    claim = corrected(key)
    unconditional = replace(claim.theorem, conditions=lambda: {})
    evidence = [make() for make in claim.beyond.values()]
    assert not any(piece.counted(claim.theorem).any() for piece in evidence)
    verdict = Claim(theorem=unconditional, exact=lambda effort, root: evidence).verify()
    assert verdict.outcome is VIOLATED, str(verdict)


# --- planted faults


def planted(key: str, bound) -> Claim:
    return replace(corrected(key), theorem=replace(find(KEY + key), bound=bound))


def part(key: str, share: float):
    """A bound that asks for `share` of the rounds or samples."""
    import inspect

    honest = find(KEY + key).bound
    assert honest is not None

    def bound(**values):
        return share * honest(**values)

    bound.__signature__ = inspect.signature(honest)  # pyright: ignore[reportFunctionMemberAccess]
    return bound


FAULTS = {
    "near agents, constant 0.3": ("theorem-1", lambda mu, eps, sigma2, near: 0.3 * sigma2 / (mu * eps * near)),
    "near agents, no mu": ("theorem-1", lambda eps, sigma2, near: 0.2127 * sigma2 / (eps * near)),
    "sum, 1 for 0.85": ("theorem-1-sum", lambda sigma2, signal2: sigma2 / signal2),
    "any level, no square": ("theorem-1-optimised", lambda eps, e0, sigma2, signal2: (
        sigma2 / signal2 * inverse_risk(eps / e0))),
    "excess, half the separation": ("theorem-1-excess", lambda e0, sigma2, signal2, T: (
        e0 * risk((T * signal2 / sigma2) ** 0.5 / 2))),
    "theorem 2, half the bias": ("theorem-2", lambda eta, mu, beta, e0, sigma2, lambda2, bias, T: (
        survive(eta * mu, T) * e0 + (eta * beta * sigma2 * lambda2 + bias**2 / 2) / (2 * mu) * fall(eta * mu, T))),
    "theorem 2, all noise averaged twice": ("theorem-2", lambda eta, mu, beta, e0, sigma2, lambda2, bias, T: (
        survive(eta * mu, T) * e0 + (eta * beta * sigma2 * lambda2**2 + bias**2) / (2 * mu) * fall(eta * mu, T))),
    "tuned, no logarithm": ("theorem-2-tuned", lambda mu, beta, e0, sigma2, lambda2, bias, T: (
        e0 * np.exp(-T * mu / beta) + beta * sigma2 * lambda2 / (2 * mu**2 * T) + bias**2 / (2 * mu))),
    "weak, no kappa": ("theorem-2-weak", lambda eta, mu, distance2, sigma2, lambda2, bias, T: (
        mu / 2 * ((survive(eta * mu, 2 * T) * distance2 + eta * sigma2 * lambda2 / mu) ** 0.5 + bias / mu) ** 2)),
    "growing noise, half the bias": ("theorem-2-least-squares", lambda eta, mu, beta, e0, bias, noise2, T: (
        survive(eta * mu / 2, T) * e0 + (bias**2 / 2 + eta * beta * noise2) / mu * fall(eta * mu / 2, T))),
    "growing noise, half the noise": ("theorem-2-least-squares", lambda eta, mu, beta, e0, bias, noise2, T: (
        survive(eta * mu / 2, T) * e0 + (bias**2 + eta * beta * noise2 / 2) / mu * fall(eta * mu / 2, T))),
    "rounds, nine tenths": ("theorem-2-rounds", part("theorem-2-rounds", 0.9)),
    "rounds with thresholds, seven tenths": ("theorem-2-rounds-threshold", part("theorem-2-rounds-threshold", 0.7)),
    "precision, 0.9": ("theorem-2-threshold", lambda eps: 0.9 * eps),
    "theorem 3, rate of clusters": ("theorem-3", lambda eta, mu, beta, e0, sigma2, weight2, misfit, T: (
        survive(eta * mu, T) * e0 + (eta * beta * sigma2 * weight2 / (2 * mu) + misfit) * fall(eta * mu, T))),
    "theorem 3, half the misfit": ("theorem-3", lambda eta, mu, beta, smin, e0, sigma2, weight2, misfit, T: (
        survive(eta * mu * smin, T) * e0
        + (eta * beta * sigma2 * weight2 / (2 * mu * smin) + misfit / 2) * fall(eta * mu * smin, T))),
    "averaged, half the distance": ("theorem-3-averaged", lambda eta, sigma2, lambda2, mean_distance2, misfit, T: (
        mean_distance2 / (4 * eta * T) + eta * sigma2 * lambda2 + misfit)),
    "averaged, half the misfit": ("theorem-3-averaged", lambda eta, sigma2, lambda2, mean_distance2, misfit, T: (
        mean_distance2 / (2 * eta * T) + eta * sigma2 * lambda2 + misfit / 2)),
    "rounds of all, nothing for the spectrum": ("theorem-3-rounds", lambda mu, beta, eps, e0: (
        beta / mu * np.log1p(2 * np.maximum(0, e0 - eps) / eps))),
    "averaged rounds, 0.4": ("theorem-3-averaged-rounds", part("theorem-3-averaged-rounds", 0.4)),
    "clusters, 0.4": ("corollary-1", part("corollary-1", 0.4)),
    "any graph, 0.4": ("corollary-1-general", part("corollary-1-general", 0.4)),
    "any graph, rounds of clusters": ("corollary-1-general", lambda mu, beta, eps, e0, sigma2, weight2: (
        np.maximum(beta / mu, 2 * beta * sigma2 * weight2 / (mu**2 * eps))
        * np.log1p(4 * np.maximum(0, e0 - eps) / eps))),
    "linear, as printed": ("linear-dissimilarity", lambda ball, scale, moment: ball * moment / scale**2),
    "estimated, never wrong": ("theorem-5", lambda eta, mu, beta, e0, sigma2, size, T: (
        survive(eta * mu, T) * e0 + eta * beta * sigma2 / size / (2 * mu) * fall(eta * mu, T))),
    "samples, 7 for 8": ("theorem-5-samples", part("theorem-5-samples", 7 / 8)),
    "samples of one pair": ("theorem-5-samples", lambda failure, proxy_trace, nu2, moment_gap: (
        8 * (proxy_trace**0.5 + (2 * nu2 * np.log(1 / failure)) ** 0.5) ** 2 / moment_gap**2)),
    "rounds with estimated clusters, 0.4": ("corollary-2", part("corollary-2", 0.4)),
    "samples and rounds, 0.9": ("theorem-4", part("theorem-4", 0.9)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_violated(fault):
    key, bound = FAULTS[fault]
    verdict = planted(key, bound).verify()
    assert verdict.outcome is VIOLATED, str(verdict)


def test_the_printed_threshold_is_a_fault_of_its_condition():
    claim = corrected("theorem-2-threshold")
    wide = replace(claim.theorem, conditions=lambda *, b, mu, eps: {"threshold": (b**2, 4 * mu * eps)})
    family = replace(claim.families[0], measure=all_for_one.thresholds(lambda b, mu: b**2 / (4 * mu)))
    assert replace(claim, theorem=wide, families=(family,)).verify().outcome is VIOLATED


def probed(key: str, make) -> Claim:
    return replace(corrected(key), families=(), exact=lambda effort, root: [make(12, root)])


@pytest.mark.parametrize(
    ("factor", "outer"), [(1.05, True), (1.0, False)], ids=["5 % too large", "Lambda^T Lambda for Lambda Lambda^T"]
)
def test_a_simulator_that_mixes_with_the_wrong_matrix_is_caught(monkeypatch, factor, outer):
    claim = probed("theorem-3", simulated.all_for_all)
    assert claim.verify().worst_ratio == pytest.approx(1, rel=1e-12)

    def wrong(self):
        one, two = (self.Lambda, self.Lambda.T) if outer else (self.Lambda.T, self.Lambda)
        return factor * one @ two

    monkeypatch.setattr(AllForAll, "W", property(wrong))
    assert claim.verify().outcome is VIOLATED


@pytest.mark.parametrize(
    ("key", "make"),
    [("theorem-2", simulated.all_for_one), ("theorem-2-least-squares", simulated.least_squares)],
)
def test_a_simulator_that_steps_too_far_is_caught(monkeypatch, key, make):
    def far(self, problem, state, draw, eta, honest=FixedWeights.step):
        return honest(self, problem, state, draw, 1.05 * eta)

    claim = probed(key, make)
    assert claim.verify().worst_ratio == pytest.approx(1, rel=1e-12)
    monkeypatch.setattr(FixedWeights, "step", far)
    assert claim.verify().outcome is VIOLATED


# --- the second route


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


def test_all_for_one_agrees_with_the_simulator():
    values = family("theorem-2").draw(6, seed=5)
    values["count"] = np.ones_like(values["count"])
    eta = values["fraction"] / values["beta"]
    model = all_for_one.network(values, eta)
    measured = family("theorem-2").evidence(values).measured
    for n in range(6):
        covariance = np.stack([np.diag(v) for v in model.v[n]])
        A = np.stack([np.diag(h) / 2 for h in model.h[n]])
        problem = Quadratics.of(A, -model.m[n], covariance=covariance, start=values["start"][n])
        rule = FixedWeights(alpha=torch.from_numpy(np.tile(model.weight[n], (3, 1))))
        exact = expected_excess(problem, rule, iterations=int(values["T"][n]), eta=float(eta[n]))
        np.testing.assert_allclose(measured[n], exact[-1, 0], rtol=1e-9)


def test_all_for_one_with_different_curvatures_agrees_with_the_simulator():
    values = weak.claims()[0].families[0].draw(6, seed=6)
    values["count"] = np.ones_like(values["count"])
    evidence = weak.claims()[0].families[0].evidence(values)
    mu = values["beta"] / values["kappa"]
    for n in range(6):
        h = mu[n] * values["kappa"][n] ** values["bend"][n]
        m = values["spread"][n] * np.append(0, values["place"][n])
        problem = Quadratics.of(
            h[:, None, None] / 2, -m[:, None], sigma2=values["sigma2"][n], start=np.full((3, 1), values["start"][n])
        )
        alpha = np.tile(values["weight"][n] / values["weight"][n].sum(), (3, 1))
        exact = expected_excess(
            problem,
            FixedWeights(alpha=torch.from_numpy(alpha)),
            iterations=int(values["T"][n]),
            eta=float(evidence.arguments["eta"][n]),
        )
        np.testing.assert_allclose(evidence.measured[n], exact[-1, 0], rtol=1e-9)


def test_growing_noise_agrees_with_the_simulator():
    values = family("theorem-2-least-squares").draw(6, seed=7)
    values["count"] = np.ones_like(values["count"])
    evidence = growing.growing().families[0].evidence(values)
    for n in range(6):
        H = np.diag([values["beta"][n] / values["kappa"][n], values["beta"][n]])
        m = values["spread"][n] * np.vstack([np.zeros(2), values["place"][n]])
        problem = StreamingLeastSquares.of(
            H / 2, m, label_noise=np.sqrt(values["tau2"][n] / 2), start=values["start"][n]
        )
        alpha = np.tile(values["weight"][n] / values["weight"][n].sum(), (3, 1))
        exact = expected_excess(
            problem,
            FixedWeights(alpha=torch.from_numpy(alpha)),
            iterations=int(values["T"][n]),
            eta=float(evidence.arguments["eta"][n]),
        )
        np.testing.assert_allclose(evidence.measured[n], exact[-1, 0], rtol=1e-9)


def filtered_problem(model: Filtered, n: int) -> Quadratics:
    return Quadratics.of(
        model.h[n][:, None, None] / 2,
        -model.m[n][:, None],
        sigma2=model.v[n],
        start=np.full((3, 1), model.start[n]),
    )


def test_all_for_all_agrees_with_the_simulator():
    values = family("theorem-3").draw(8, seed=8)
    values["kind"] = np.arange(8.0) % 4
    values["T"] = np.minimum(values["T"], 25)
    model, _ = all_for_all.network(values)
    measured = family("theorem-3").evidence(values).measured
    for n in range(8):
        rule = AllForAll(Lambda=torch.from_numpy(model.Lambda[n]))
        exact = expected_excess(
            filtered_problem(model, n), rule, iterations=int(values["T"][n]), eta=float(model.eta[n])
        )
        np.testing.assert_allclose(measured[n], exact[-1].mean(), rtol=1e-8)


def test_the_mean_of_the_iterates_by_a_recursion_of_model_and_sum():
    values = family("theorem-3").draw(8, seed=9)
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
    domains = family("theorem-3", 1)
    values = domains.draw(6, seed=10)
    values["count"], values["T"] = np.array([[1, 1], [2, 1], [1, 2], [3, 1], [1, 3], [2, 2]]), np.full(6, 9.0)
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
        assert rule.spectrum == pytest.approx((known["smin"][n], known["smax"][n]), rel=1e-12)
        exact = expected_excess(problem, rule, iterations=9, eta=float(model.eta[n] / known["smax"][n]))
        np.testing.assert_allclose(model.average(values["T"])[n], exact[-1].mean(), rtol=1e-9)
        gap = model.h[n, groups, 0][:, None] * (model.m[n, groups] - model.m[n, groups].T) ** 2 / 2
        np.testing.assert_allclose(known["misfit"][n], (row * gap).sum(1).mean(), rtol=1e-12)


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
    values["many"] = np.arange(2.0, 8)
    evidence = flat.flat().evidence(values)
    for n in range(6):
        many, L, T = int(values["many"][n]), values["beta"][n], int(values["T"][n])
        eta = evidence.arguments["eta"][n]
        slopes = np.append(np.ones(many), values["slope"][n] * many)
        model = flat.Flat({name: value[n : n + 1] for name, value in values.items()}, np.array([0.0]), np.array([eta]))
        start = values["reach"][n] * eta * model.drift[0] * T + 1 / L
        place = np.append(np.zeros(many), (1 + values["apart"][n]) * start + slopes[-1] / L)

        def loss(x, place=place, slopes=slopes, L=L):
            gap = np.abs(x - place)
            return np.where(gap < slopes / L, L * gap**2 / 2, slopes * (gap - slopes / (2 * L)))

        x, mean = start, 0.0
        for _ in range(T):
            x -= eta * np.clip(L * (x - place), -slopes, slopes).mean()
            mean += x / T
        np.testing.assert_allclose(evidence.measured[n], loss(mean).mean(), rtol=1e-9)
        misfit = np.mean([loss(y) for y in place])
        np.testing.assert_allclose(evidence.arguments["misfit"][n], misfit, rtol=1e-9)
        np.testing.assert_allclose(evidence.arguments["mean_distance2"][n], ((start - place) ** 2).mean(), rtol=1e-9)


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


def test_simulated_evidence_counts_every_agent_and_step():
    for make, key in (
        (simulated.all_for_one, "theorem-2"),
        (simulated.least_squares, "theorem-2-least-squares"),
        (simulated.all_for_all, "theorem-3"),
    ):
        evidence = make(3, 4)
        assert evidence.counted(find(KEY + key)).all()
        started = (evidence.arguments["T"] == 0) & (evidence.measured > 0)
        assert started.any()
        np.testing.assert_allclose(evidence.ratio(find(KEY + key))[started], 1, rtol=1e-12)
