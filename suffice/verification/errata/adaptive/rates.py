"""Errata of the adaptive paper on rates: Theorem 2 and Table 1, Corollary 1, Appendices B.2 and B.3."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from suffice.bounds import Binary, Continuous, evaluate, find, sufficient_variance

from ...instances.enumerated_paths import QUADRATIC, Paths, domains
from ...instances.quadrature_1d import counterexample
from ...instances.scheduled import decreasing_steps
from ..erratum import Finding
from .paper import constant, false, hypothesis, loose, typo, vacuous

# --- Theorem 2 and Table 1 ----------------------------------------------------------------------------------


@false(
    location="Theorem 2, Table 1",
    claim="E[e_T] <= (1 - eta mu)^T e_0 + eta beta sigma_suf^2(eps) / (2 mu) whenever E[e_{T-1}] >= eps",
    truth="The bound holds for E[e_T 1{tau >= T}], tau the first time below eps.",
    key="adaptive/theorem-2-constant",
)
def theorem_2_expectation() -> Finding:
    line, values = counterexample()
    theorem = find("adaptive/theorem-2-constant", "printed")
    arguments: dict[str, Any] = {parameter.name: values[parameter.name] for parameter in theorem.parameters}
    bound = evaluate(theorem, **arguments)
    _, (e1, _), (e2, _) = islice(line.law(values["eps"]), 3)
    inputs = {
        "N": 100, "R_i": "theta^2/2", "R_k": "(theta - 0.02)^2/2 for 99 peers", "sigma": 1, "lambda": 0.9,
        "eta": 0.9, "theta_0": 0.2, "eps": 0.004, "Definition 2": "with b^2", "T": 2,
        "quantity": f"E[e_2], with E[e_1] = {e1:.3g} >= eps",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(bound), measured=float(e2))


@hypothesis(
    location="Theorem 2",
    claim="eps_i^(T-1) >= eps, at the last step alone, suffices",
    truth="The excess is not monotone, so that every step has to start at or above eps.",
    key="adaptive/theorem-2-constant",
)
def theorem_2_every_step() -> Finding:
    line, values = counterexample()
    started = replace(line, theta0=0.0)
    theorem = find("adaptive/theorem-2-constant", "printed")
    arguments: dict[str, Any] = {parameter.name: values[parameter.name] for parameter in theorem.parameters}
    arguments["e0"] = 0.0
    bound = evaluate(theorem, **arguments)
    _, (e1, _), (e2, _) = islice(started.law(values["eps"]), 3)
    inputs = {
        "N": 100, "R_i": "theta^2/2", "R_k": "(theta - 0.02)^2/2 for 99 peers", "sigma": 1, "lambda": 0.9,
        "eta": 0.9, "theta_0": 0, "eps": 0.004, "Definition 2": "with b^2", "T": 2,
        "quantity": f"E[e_2], with e_0 = 0 < eps and E[e_1] = {e1:.3g} >= eps",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(bound), measured=float(e2))


@loose(
    location="Theorem 2, Table 1, row 2",
    claim="for T >= 1, eta = ln(e_0/K)/(mu T) <= 1/mu with K = beta s2/(2 mu^2 T) gives E[e_T] <= K (1 + ln(e_0/K))",
    truth="The claim holds for step sizes, which are positive: K < e_0 is to be added; otherwise the formula's step is "
    "negative, and below e_0 = K/e the bound is negative too.",
    key="adaptive/theorem-2-horizon",
    direction="equality",
)
def theorem_2_horizon_negative() -> Finding:
    mu, beta, s2, e0, T = 0.1, 1.0, 1.0, 0.01, 1
    printed = evaluate(find("adaptive/theorem-2-horizon", "printed"), mu=mu, beta=beta, q=1.0, e0=e0, s2=s2, T=T)
    eta = np.log(2 * T * mu**2 * e0 / (beta * s2)) / (mu * T)
    after = (1 - eta * mu) ** 2 * e0 + eta**2 * mu * s2 / 2  # one client of curvature mu
    inputs = {
        "N": 1, "R": "0.05 theta^2", "mu": mu, "beta": beta, "sigma": 1, "e_0": e0, "T": T,
        "quantity": f"E[e_1] at the printed step, which is {eta:.3g}",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=float(after))


@vacuous(
    location="Theorem 2, Table 1, row 3",
    claim="eta_t = C/(mu t) with C > 1 and eta_t <= rbar_t/beta: E[e_T] <= max(beta s2 C^2/(2 mu^2 (C-1)), e_0)/T",
    truth="eta_1 = C/mu > 1/beta always holds; C/(mu (t + gamma)) is admissible, with (gamma + 1) e_0 in the bound.",
    key="adaptive/theorem-2-decreasing",
)
def theorem_2_decreasing_step() -> Finding:
    mu = beta = 1.0
    C = 2.0
    # One client, R = theta^2/2 at theta_0 = sqrt(2): e_0 = 1, sigma = 1. Step eta_1 = C/mu, then e_1 exactly.
    e0, sigma2, eta = 1.0, 1.0, C / mu
    after = (1 - eta * beta) ** 2 * e0 + eta**2 * beta * sigma2 / 2
    printed = max(beta * sigma2 * C**2 / (2 * mu**2 * (C - 1)), e0) / 1
    inputs = {"N": 1, "R": "theta^2/2", "sigma": 1, "e_0": 1, "C": 2, "T": 1, "quantity": "E[e_1]; eta_1 = 2 > 1/beta"}
    return Finding(inputs=inputs, printed=printed, measured=after)


@constant(
    location="Table 1, row 3, and its citation in Appendix B.2",
    claim="Theorem 4.7 of [3] gives E[e_T] <= max(beta s2 C^2/(2 mu^2 (C-1)), e_0)/T",
    truth="The cited theorem has steps C/(mu (t + gamma)) and gives max(beta s2 C^2/(2 mu^2 (C-1)), (gamma + 1) "
    "e_0)/(gamma + T + 1).",
    key="adaptive/theorem-2-decreasing",
)
def theorem_2_decreasing_start() -> Finding:
    C, mu, beta, e0, T = 2.0, 0.01, 1.0, 1.0, 10
    gamma = C * beta / mu - 1
    after = e0
    for t in range(1, T + 1):  # one client of curvature mu, no noise
        after *= (1 - C / (t + gamma)) ** 2
    inputs = {
        "N": 1, "R": "0.005 theta^2", "mu": mu, "beta": beta, "sigma": 0, "e_0": e0, "C": C, "T": T,
        "eta_t": "C/(mu (t + gamma)), gamma = C beta/mu - 1", "quantity": "e_10",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=e0 / T, measured=after)


@typo(
    location="Appendix B.2, horizon-dependent step",
    claim="the bound's logarithm is ln(2 T mu^2 e_0 / sigma_suf^2)",
    truth="The logarithm is ln(2 T mu^2 e_0 / (beta sigma_suf^2)), as in Table 1.",
    key="adaptive/theorem-2-horizon",
    direction="equality",
)
def appendix_horizon_logarithm() -> Finding:
    # K (1 + ln(e_0 / K)) with K = beta s2 / (2 mu^2 T), against the same with beta missing in the logarithm.
    mu, beta, e0, s2, T = 0.1, 0.2, 1.0, 0.04, 200
    floor = beta * s2 / (2 * mu**2 * T)
    printed = floor * (1 + np.log(2 * T * mu**2 * e0 / s2))
    right = floor * (1 + np.log(2 * T * mu**2 * e0 / (beta * s2)))
    inputs = {"mu": mu, "beta": beta, "e_0": e0, "sigma_suf^2": s2, "T": T, "quantity": "bound at the optimised step"}
    return Finding(inputs=inputs, printed=float(printed), measured=float(right))


@typo(
    location="Appendix B.2, decreasing step and Theorem 3",
    claim="sigma_bin^2(eps) stands in both bounds",
    truth="sigma_suf^2(eps) is meant, that of the criterion in use.",
    key="adaptive/theorem-2-decreasing",
    direction="equality",
)
def appendix_criterion_name() -> Finding:
    rho, sigma2 = np.array([1.0, 0.5]), np.ones(2)
    binary, continuous = (
        float(sufficient_variance(criterion, similarity=rho, sigma2=sigma2))
        for criterion in (Binary(threshold=0.5), Continuous())
    )
    inputs = {
        "sigma": [1, 1], "1 - b^2/(2 mu eps)": rho.tolist(), "phi": "continuous", "lambda": 0.5,
        "quantity": "variance in the bound of continuous weights",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=binary, measured=continuous)


# --- Corollary 1 --------------------------------------------------------------------------------------------


@false(
    location="Corollary 1, Appendix B.3",
    claim="the error eps is reached after C^2/(C-1) beta s2/(2 mu^2 eps) iterations",
    truth="The maximum with e_0 is dropped; at the admissible steps C/(mu (t + gamma)) it adds (gamma + 1) e_0/eps.",
    key="adaptive/corollary-1",
)
def corollary_1_start() -> Finding:
    C, mu, beta, s2, e0, eps = 2.0, 0.1, 1.0, 1e-6, 1.0, 0.01
    theorem = find("adaptive/corollary-1", "printed")
    printed = evaluate(theorem, enforce=False, C=C, mu=mu, beta=beta, q=1.0, s2=s2, eps=eps)
    gamma, level, t = C * beta / mu - 1, e0, 0
    while level > eps:  # one client of curvature mu and variance s2
        t += 1
        eta = C / (mu * (t + gamma))
        level = (1 - eta * mu) ** 2 * level + eta**2 * mu * s2 / 2
    inputs = {
        "N": 1, "R": "0.05 theta^2", "mu": mu, "beta": beta, "sigma^2": s2, "e_0": e0, "eps": eps, "C": C,
        "eta_t": "C/(mu (t + gamma)), gamma = C beta/mu - 1", "quantity": "iterations until E[e_T] <= eps",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=float(t))


@false(
    location="Corollary 1",
    claim="from a bound that holds while E[e_(T-1)] >= eps: E[e_T] <= eps after the printed number of iterations",
    truth="Some path is below eps earlier and leaves again; what is bounded is E[e_min(T, tau)] and P(tau > T).",
    key="adaptive/corollary-1",
)
def corollary_1_reached() -> Finding:
    # 99 peers as two of 1/49.5 of the variance; the noise of each client is +-sigma
    gap, eps, T = 0.02, 0.006, 4
    theta0 = np.sqrt(2 * eps)
    row: dict[str, Any] = {
        "scale": 1, "factor": [1, 1], "shift": [-gap / theta0] * 2, "threshold": 0.9, "binary": 1, "ratio": 1,
        "sigma2": np.array([1, 1 / 49.5, 1 / 49.5]) / theta0**2, "theta0": theta0, "slack": 1, "T": T,
        "law": [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], "chance": [0.25] * 4, "low": 1, "high": 1,
        "C": 2, "extra": 0, "below": 0,
    }  # fmt: skip
    batch = Paths({name: np.array([row[name]], dtype=float) for name in domains()}, QUADRATIC, decreasing_steps)
    rounds = evaluate(
        find("adaptive/corollary-1", "printed"), enforce=False, C=2.0, mu=1.0, beta=1.0, q=1.0, eps=eps,
        s2=1 / (0.9 * (1 + 99 * (1 - gap**2 / (2 * eps)))),
    )  # fmt: skip
    inputs = {
        "N": 100, "R_i": "theta^2/2", "R_k": "(theta - 0.02)^2/2 for 99 peers", "sigma": 1, "lambda": 0.9,
        "e_0": eps, "eps": eps, "Definition 2": "with b^2", "C": 2, "T": T,
        "eta_t": "C/(mu (t + gamma)), the least admissible gamma",
        "quantity": f"E[e_T], T the first whole number from the printed {rounds:.3g} on",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=eps, measured=float(batch.excess()[0]))
