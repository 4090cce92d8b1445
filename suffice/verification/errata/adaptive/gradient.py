"""Errata of the adaptive paper on Theorem 3: squared gradients without PL."""

from __future__ import annotations

from itertools import islice

import numpy as np

from suffice.bounds import Continuous, evaluate, find, sufficient_variance

from ...instances.enumerated_paths import WAVE
from ...instances.quadrature_1d import counterexample
from ..erratum import Finding
from .paper import false, hypothesis


@false(
    location="Theorem 3",
    claim="at eta = min(sqrt(2 e_0/(T beta s2)), q/beta): mean of E|grad R_i|^2 <= 2 sqrt(2 e_0 beta s2/T)",
    truth="Where q/beta is the smaller one, 2 e_0 beta/(q T) takes the place of one of the two square roots.",
    key="adaptive/theorem-3",
)
def theorem_3_minimum() -> Finding:
    beta, sigma2, T, y, mean = 1.0, 1e-8, 5, 10.0, 0.0
    e0 = 0.01 * y**2 / 2
    eta = min(np.sqrt(2 * e0 / (T * beta * sigma2)), 1 / beta)
    for _ in range(T):  # R = (x^2 + y^2/100)/2 from (0, y), without the noise, which only adds
        mean += (0.01 * y) ** 2 / T
        y -= eta * 0.01 * y
    printed = evaluate(find("adaptive/theorem-3", "printed"), beta=beta, e0=e0, s2=sigma2, T=T)
    inputs = {
        "N": 1, "R": "(x^2 + y^2/100)/2", "theta_0": [0, 10], "sigma^2": sigma2, "T": T,
        "quantity": "mean of E|grad R|^2 over five steps",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=float(mean))


@hypothesis(
    location="Theorem 3",
    claim="Assumptions 1 to 3 suffice for the sufficient variance at the precision eps",
    truth="Definition 2 and Lemma 2 use PL; without PL the level G of |grad R_i|^2 has to be given.",
    key="adaptive/theorem-3",
)
def theorem_3_pl() -> Finding:
    mu, eps, gap, theta = 1.0, 0.5, 0.1, 3.13  # mu is the curvature of 1 - cos at its minimum
    own = float(WAVE.slope(np.array(theta)))
    rho, r = 1 - gap**2 / (2 * mu * eps), max(1 - gap**2 / own**2, 0)
    printed, measured = (
        float(sufficient_variance(Continuous(), similarity=np.array([1.0, x]), sigma2=np.ones(2))) for x in (rho, r)
    )
    inputs = {
        "R_i": "1 - cos(theta)", "grad R_k": "grad R_i + 0.1", "b": gap, "mu": "1, the curvature at the minimum",
        "eps": eps, "sigma": 1,
        "theta": theta, "phi": "continuous", "quantity": "sigma_eff^2, with e = 2 >= eps",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=printed, measured=measured)


@false(
    location="Theorem 3, Appendix B.2",
    claim="the mean of E|grad R_i|^2 is at most 2 e_0/(T eta) + eta beta sigma_suf^2(eps) if E[e_(T-1)] >= eps",
    truth="The bound holds for |grad R_i|^2 1{tau_G >= t}, where tau_G is the first time below the level G.",
    key="adaptive/theorem-3-any-step",
)
def theorem_3_expectation() -> Finding:
    line, values = counterexample()
    T, eta = 3, values["eta"]  # below sqrt(2 e_0/(T beta s2)) = 1.07, and within q/beta = .901
    measured = 2 * float(sum(e for e, _ in islice(line.law(values["eps"]), T))) / T  # |grad R_i|^2 = 2 e
    plain = 2 * values["e0"] / (eta * T) + eta * values["s2"]
    inputs = {
        "N": 100, "R_i": "theta^2/2", "R_k": "(theta - 0.02)^2/2 for 99 peers", "sigma": 1, "lambda": 0.9, "eta": eta,
        "theta_0": 0.2, "eps": 0.004, "Definition 2": "with b^2", "T": T,
        "quantity": "mean of E|grad R_i|^2, against 2 e_0/(T eta) + eta beta s2 of Appendix B.2",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=plain, measured=measured)
