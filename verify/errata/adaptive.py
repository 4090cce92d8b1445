"""Errata of the adaptive paper and its released code."""

from __future__ import annotations

from typing import Any

import numpy as np

from bounds import (
    Binary,
    QuadraticCertificate,
    evaluate,
    find,
    property_1,
    released_code,
    sufficient_variance,
)

from ..line import audited
from .erratum import Erratum, Finding


def _property_1() -> Finding:
    A, xi = np.ones((2, 1, 1)), np.array([[1.0], [0.0]])
    printed = property_1(A, xi, edition="printed")
    theta = 3.0  # equal Hessians: the gap is the same everywhere, the bound is smallest at c = 0
    gap = float((2 * (theta + 1) - 2 * theta) ** 2)
    inputs = {"R_i": "(theta + 1)^2", "R_k": "theta^2", "quantity": "b^2 + c |grad R_i|^2 against |grad gap|^2"}
    return Finding(inputs=inputs, printed=float(printed.b2[0, 1]), measured=gap)


def _definition_2_square() -> Finding:
    # R_i = theta^2/2, R_k = (theta - 3)^2/2 at theta = 2: e = 2, b = 3, c = 0, mu = 1
    printed = evaluate(find("adaptive/lemma-2", "printed"), b=3.0, c=0.0, mu=1.0, eps=2.0)
    own, peer = 2.0, 2.0 - 3.0
    similarity = max(1 - (peer - own) ** 2 / own**2, 0.0)
    inputs = {"R_i": "theta^2/2", "R_k": "(theta - 3)^2/2", "theta": 2, "quantity": "similarity ratio r_k"}
    return Finding(inputs=inputs, printed=float(printed), measured=similarity)


def _definition_2_limit() -> Finding:
    # sigma = (1, 2), c = (0, 1/2), b = 0, binary 1/2: psi = (1/2, 1/4)
    sigma2, psi = np.array([1.0, 4.0]), Binary(threshold=0.5).psi(np.array([1.0, 0.5]))
    # At b = 0 Definition 2 does not depend on the precision: its value is its own limit.
    variance = float(sufficient_variance(Binary(threshold=0.5), similarity=np.array([1.0, 0.5]), sigma2=sigma2))
    inputs = {
        "sigma": [1, 2],
        "b": [0, 0],
        "c": [0, 0.5],
        "lambda": 0.5,
        "quantity": "limit of sigma_suf^2 as eps -> 0",
    }
    return Finding(inputs=inputs, printed=float(1 / (sigma2 * psi).sum()), measured=variance)


def _theorem_2() -> Finding:
    line, values = audited()
    theorem = find("adaptive/theorem-2-constant", "printed")
    arguments: dict[str, Any] = {parameter.name: values[parameter.name] for parameter in theorem.parameters}
    bound = evaluate(theorem, **arguments)
    inputs = {
        "N": 100, "R_i": "theta^2/2", "R_k": "(theta - 0.02)^2/2 for 99 peers", "sigma": 1, "lambda": 0.9,
        "eta": 0.9, "theta_0": 0.2, "eps": 0.004, "T": 2, "quantity": "E[e_2], with E[e_1] = .00479 >= eps",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(bound), measured=line.two_steps(values["eps"])["e2"])


def _decreasing_step() -> Finding:
    mu = beta = 1.0
    C = 2.0
    # One client, R = theta^2/2 at theta_0 = sqrt(2): e_0 = 1, sigma = 1. Step eta_1 = C/mu, then e_1 exactly.
    e0, sigma2, eta = 1.0, 1.0, C / mu
    after = (1 - eta * beta) ** 2 * e0 + eta**2 * beta * sigma2 / 2
    printed = max(beta * sigma2 * C**2 / (2 * mu**2 * (C - 1)), e0) / 1
    inputs = {"N": 1, "R": "theta^2/2", "sigma": 1, "e_0": 1, "C": 2, "T": 1, "quantity": "E[e_1]; eta_1 = 2 > 1/beta"}
    return Finding(inputs=inputs, printed=printed, measured=after)


def _horizon_log() -> Finding:
    # K (1 + ln(e_0 / K)) with K = beta s2 / (2 mu^2 T), against the same with beta missing in the logarithm.
    mu, beta, e0, s2, T = 0.1, 0.2, 1.0, 0.04, 200
    floor = beta * s2 / (2 * mu**2 * T)
    printed = floor * (1 + np.log(2 * T * mu**2 * e0 / s2))
    right = floor * (1 + np.log(2 * T * mu**2 * e0 / (beta * s2)))
    inputs = {"mu": mu, "beta": beta, "e_0": e0, "sigma_suf^2": s2, "T": T, "quantity": "bound at the optimised step"}
    return Finding(inputs=inputs, printed=float(printed), measured=float(right))


def _figure_code_factor() -> Finding:
    A, xi = np.eye(2)[None].repeat(2, 0), np.array([[1.0, 0.0], [0.0, 0.0]])
    inputs = {"A_i": "I", "A_k": "I", "xi_i - xi_k": [1, 0], "quantity": "b^2 such that |grad gap|^2 <= b^2"}
    exact = QuadraticCertificate(A=A, xi=xi).frontier(np.zeros((2, 2)))[0, 1]
    return Finding(inputs=inputs, printed=float(released_code(A, xi).b2[0, 1]), measured=float(exact))


def _figure_code_translation() -> Finding:
    A = np.stack((np.diag([1.0, 0.5]), np.diag([0.5, 1.0])))
    xi = np.full((2, 2), 3.0)
    inputs = {"A_i": "diag(1, .5)", "A_k": "diag(.5, 1)", "xi_i = xi_k": [3, 3], "quantity": "b^2 of a shared optimum"}
    exact = QuadraticCertificate(A=A, xi=xi).frontier(np.ones((2, 2)))[0, 1]
    return Finding(inputs=inputs, printed=float(released_code(A, xi).b2[0, 1]), measured=float(exact))


_ADAPTIVE = "Adaptive collaboration (Philippenko et al., 2025)"

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        id="adaptive-property-1-constant",
        paper=_ADAPTIVE,
        location="Property 1",
        kind="constant",
        claim="b = sqrt(2) |A_k (xi_i - xi_k)|",
        truth="b = 2 sqrt(2) |A_k (xi_i - xi_k)|: the loss has no 1/2, so its gradient has a factor 2",
        key="adaptive/property-1",
        compute=_property_1,
    ),
    Erratum(
        id="adaptive-definition-2-square",
        paper=_ADAPTIVE,
        location="Definition 2, Lemma 2, Corollary 1",
        kind="false",
        claim="r_k >= 1 - b/(2 mu eps) - c",
        truth="r_k >= 1 - b^2/(2 mu eps) - c, as the dimensions require and the proof of Lemma 2 has it",
        key="adaptive/lemma-2",
        compute=_definition_2_square,
    ),
    Erratum(
        id="adaptive-definition-2-limit",
        paper=_ADAPTIVE,
        location="text after Definition 2",
        kind="typo",
        claim="lim sigma_suf^2 = 1 / sum_k sigma_k^2 psi((1 - c_k)_+) 1{b_k = 0}",
        truth="sigma_k^-2 stands in the sum",
        key="adaptive/lemma-2",
        compute=_definition_2_limit,
    ),
    Erratum(
        id="adaptive-theorem-2-expectation",
        paper=_ADAPTIVE,
        location="Theorem 2, Table 1",
        kind="false",
        claim="E[e_T] <= (1 - eta mu)^T e_0 + eta beta sigma_suf^2(eps) / (2 mu) whenever E[e_{T-1}] >= eps",
        truth="it holds for E[e_T 1{tau >= T}], tau the first time below eps",
        key="adaptive/theorem-2-constant",
        compute=_theorem_2,
    ),
    Erratum(
        id="adaptive-theorem-2-decreasing-step",
        paper=_ADAPTIVE,
        location="Theorem 2, Table 1, row 3",
        kind="vacuous",
        claim="eta_t = C/(mu t) with C > 1 and eta_t <= rbar_t/beta: E[e_T] <= max(beta s2 C^2/(2 mu^2 (C-1)), e_0)/T",
        truth="eta_1 = C/mu > 1/beta always; C/(mu (t + gamma)) is admissible, with (gamma + 1) e_0 in the bound",
        key="adaptive/theorem-2-decreasing",
        compute=_decreasing_step,
    ),
    Erratum(
        id="adaptive-appendix-horizon-logarithm",
        paper=_ADAPTIVE,
        location="Appendix B.2, horizon-dependent step",
        kind="typo",
        claim="the bound's logarithm is ln(2 T mu^2 e_0 / sigma_suf^2)",
        truth="ln(2 T mu^2 e_0 / (beta sigma_suf^2)), as in Table 1",
        key="adaptive/theorem-2-horizon",
        compute=_horizon_log,
    ),
    Erratum(
        id="adaptive-code-figure-1-constant",
        paper=_ADAPTIVE,
        location="released script of Figure 1",
        kind="code",
        claim="b^2 = 2 |A_i xi_i - A_k xi_k|^2",
        truth="for equal Hessians A = I the smallest valid b^2 is 4 |xi_i - xi_k|^2",
        key="adaptive/property-1",
        compute=_figure_code_factor,
    ),
    Erratum(
        id="adaptive-code-figure-1-translation",
        paper=_ADAPTIVE,
        location="released script of Figure 1",
        kind="code",
        claim="b^2 = 2 |A_i xi_i - A_k xi_k|^2",
        truth="two quadratics with the same minimiser have b = 0, whatever their Hessians",
        key="worst-case/quadratic-certificate",
        compute=_figure_code_translation,
    ),
)
