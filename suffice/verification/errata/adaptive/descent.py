"""Errata of the adaptive paper on one step and on Theorem 1: Lemma 1, Appendix B.1, the first lines of Appendix B.2."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from suffice.bounds import Continuous, collaboration_weights, evaluate, find

from ...instances.enumerated_paths import QUADRATIC
from ...instances.one_step import OneStep, instances
from ...instances.quadrature_1d import counterexample
from ..erratum import Finding
from .paper import constant, hypothesis, typo


@typo(
    location="Lemma 1",
    claim="the descent is by |grad R_i(theta_t)|^2",
    truth="The descent is by |grad R_i(theta_{t-1})|^2, as the proof has it.",
    key="adaptive/lemma-1",
)
def lemma_1_index() -> Finding:
    batch = OneStep(instances({"theta": [0.0, 0.0], "ratio": 0.5, "sigma2": [10.0, 1.0, 1.0]}), QUADRATIC)
    theorem = find("adaptive/lemma-1", "printed")
    arguments: dict[str, Any] = {name: float(value[0]) for name, value in batch.arguments().items()}
    printed = evaluate(theorem, **{parameter.name: arguments[parameter.name] for parameter in theorem.parameters})
    inputs = {"R_i": "theta^2/2", "theta_{t-1}": 0, "eta": 0.5, "sigma^2": 10, "quantity": "E[e_t | theta_{t-1}]"}
    return Finding(inputs=inputs, printed=float(printed), measured=float(batch.expected_excess()[0]))


@hypothesis(
    location="Lemma 1, Assumption 2",
    claim="Assumptions 1 and 2 suffice: the noise is at most eta^2 beta/2 sum_k alpha_k^2 sigma_k^2",
    truth="Appendix B.1 also uses that the noise of different clients is uncorrelated given the past.",
    key="adaptive/lemma-1",
)
def lemma_1_correlated_noise() -> Finding:
    # Every client has the same noise: +1 or -1. From the minimum theta_t = -eta noise.
    n, eta, beta = 10, 0.5, 1.0
    alpha = np.full(n, 1 / n)
    after = [beta * (eta * (alpha * sign).sum()) ** 2 / 2 for sign in (-1.0, 1.0)]
    printed = evaluate(
        find("adaptive/lemma-1"), eta=eta, beta=beta, e0=0.0, weight=1.0, discrepancy=0.0, gradient=0.0,
        V=float((alpha**2).sum()),
    )  # fmt: skip
    inputs = {
        "N": n, "R_k": "theta^2/2 for all k", "theta_{t-1}": 0, "alpha_k": "1/N", "eta": eta,
        "noise": "the same +-1 for every client", "quantity": "E[e_t | theta_{t-1}]",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=float(np.mean(after)))


@constant(
    location="Appendix B.1, last display",
    claim="E[e_t | theta_{t-1}] - e_{t-1} <= ... + eta beta sum_k alpha_k^2 sigma_k^2",
    truth="The factor is eta^2 beta/2, as in the display before it.",
    key="adaptive/lemma-1",
)
def appendix_noise_factor() -> Finding:
    beta, eta, sigma2 = 0.1, 9.0, 1.0
    batch = OneStep(
        instances({"beta": beta, "theta": [0.0, 0.0], "ratio": eta * beta, "sigma2": [sigma2] * 3}), QUADRATIC
    )
    inputs = {
        "R_i": "0.05 theta^2",
        "theta_{t-1}": 0,
        "eta": eta,
        "sigma^2": sigma2,
        "quantity": "E[e_t | theta_{t-1}]",
    }
    return Finding(inputs=inputs, printed=eta * beta * sigma2, measured=float(batch.expected_excess()[0]))


@typo(
    location="Theorem 1",
    claim="E[e_T] <= (1 - eta mu)^T e_0 + (beta eta^2/2) sum_t (1 - eta mu)^(T-t) (sigma_psi^t)^2",
    truth="The right side is random; the bound holds with the expectation of (sigma_psi^t)^2.",
    key="adaptive/theorem-1",
)
def theorem_1_random() -> Finding:
    line, values = counterexample()
    eta, e0 = values["eta"], values["e0"]
    mean, variance = (x[0] for x in line.step(np.array([line.theta0])))
    theta = mean + np.sqrt(variance) * np.linspace(-8, 8, 4001)

    def effective(at: np.ndarray) -> np.ndarray:
        """sigma_psi^2 at a model: 99 peers alike, binary weights."""
        r = np.maximum(1 - (line.xi[1] / at) ** 2, 0)
        return 1 / line.criterion.psi(np.stack((np.ones_like(r), *[r] * 99))).sum(0)

    noise = (1 - eta) * effective(np.array([line.theta0])) + effective(theta)
    side = (1 - eta) ** 2 * e0 + eta**2 / 2 * noise
    order, weight = np.argsort(side), np.exp(-((theta - mean) ** 2) / (2 * variance))
    below = np.cumsum(weight[order]) / weight.sum()
    inputs = {
        "N": 100, "R_i": "theta^2/2", "R_k": "(theta - 0.02)^2/2 for 99 peers", "sigma": 1, "lambda": 0.9,
        "eta": 0.9, "theta_0": 0.2, "T": 2, "quantity": "E[e_2], against the median of the random right side",
    }  # fmt: skip
    _, _, (measured, _) = islice(line.law(values["eps"]), 3)
    return Finding(inputs=inputs, printed=float(side[order][np.searchsorted(below, 0.5)]), measured=float(measured))


@hypothesis(
    location="Theorem 3, step size",
    claim="the step is constant, eta_i = min(sqrt(2 e_0/(T beta s2)), (sigma_phi^t/sigma_psi^t)^2/beta)",
    truth="The second argument changes with t and with the path, so that a constant below it is needed, as in Remark "
    "3.",
    key="adaptive/remark-3-continuous",
    direction="equality",
)
def theorem_1_step_limit() -> Finding:
    n, gap, theta0 = 100, 1.0, 100.0

    def limit(theta: float) -> tuple[float, np.ndarray]:
        """1/(beta sum alpha) and the weights at a model: R_i = theta^2/2, peers (theta - gap)^2/2, beta = sigma = 1."""
        r = np.append(1.0, np.full(n - 1, max(1 - (gap / theta) ** 2, 0)))
        alpha = collaboration_weights(Continuous(), similarity=r, sigma2=np.ones(n))
        return float(1 / alpha.sum()), alpha

    first, alpha = limit(theta0)
    gradients = theta0 - gap * (np.arange(n) > 0)
    theta1 = theta0 - 0.999 * first * float(alpha @ gradients)  # no noise
    inputs = {
        "N": n, "R_i": "theta^2/2", "R_k": "(theta - 1)^2/2", "sigma_k": 1, "phi": "continuous",
        "theta_0": theta0, "T": 2, "noise": "none in the first step",
        "eta": "0.999 times the minimum at t = 1", "quantity": "the minimum at t = 1, and at t = 2",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=first, measured=limit(theta1)[0])


@typo(
    location="Appendix B.2, first display",
    claim="r_k = (|grad R_i|^2 - |grad R_k - grad R_i|^2)/|grad R_i|^2",
    truth="The positive part is meant, as before Definition 1; otherwise weights are negative.",
    key="adaptive/definition-1-weights",
    direction="equality",
)
def appendix_positive_part() -> Finding:
    own, peer = 2.0, -1.0  # R_i = theta^2/2, R_k = (theta - 3)^2/2 at theta = 2
    ratio = 1 - (peer - own) ** 2 / own**2
    printed, measured = (
        collaboration_weights(Continuous(), similarity=np.array([1.0, r]), sigma2=np.ones(2))[1]
        for r in (ratio, max(ratio, 0))
    )
    inputs = {
        "R_i": "theta^2/2",
        "R_k": "(theta - 3)^2/2",
        "theta": 2,
        "sigma": 1,
        "phi": "continuous",
        "quantity": "alpha_k",
    }
    return Finding(inputs=inputs, printed=float(printed), measured=float(measured))


@typo(
    location="Appendix B.2, proof of Theorem 1",
    claim="sum_i alpha_ik = (sigma_psi/sigma_phi)^2",
    truth="The sum is over k, the peers of one client.",
    key="adaptive/theorem-1",
    direction="equality",
)
def appendix_sum_index() -> Finding:
    # R_1 = theta^2/2, R_2 = theta^2/4: r_12 = 3/4 seen from client 1, r_21 = 0 seen from client 2
    similarity = np.array([[1.0, 0.75], [0.0, 1.0]])
    alpha = collaboration_weights(Continuous(), similarity=similarity, sigma2=np.ones((2, 2)))
    inputs = {
        "R_1": "theta^2/2", "R_2": "theta^2/4", "sigma": 1, "phi": "continuous",
        "quantity": "(sigma_psi/sigma_phi)^2 of client 1",
    }  # fmt: skip
    ratio = similarity[0].sum() / (similarity[0] ** 2).sum()
    return Finding(inputs=inputs, printed=float(alpha[:, 0].sum()), measured=float(ratio))
