"""Errata of the Scafflix paper: Algorithm 1, Assumptions 1 and 3, the start and the experiments' constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.bounds import evaluate, find
from suffice.bounds.smoothness_and_strong_convexity import logistic_smoothness, logistic_smoothness_by_trace

from ...claims.scafflix.assumption import sampled
from ..erratum import Finding
from .paper import false, hypothesis, limit, loose

START = {"f_1": "x^2/2", "f_2": "(x - 2)^2/2", "alpha": [1, 0.5], "gamma": [0.5, 1], "p": 0.5, "x^0": 0}


def _sampled(direction: list[list[float]], L: list[float], away: list[float], constant: float) -> tuple[float, float]:
    """2 A_i D + C_i as printed with `constant` for L_i, and E|g - grad f(x*)|^2, when all samples agree at x*."""
    given = {"direction": direction, "L": L, "residual": np.zeros(len(L)), "away": away, "m": 1.0}
    evidence = sampled({name: np.array(value, dtype=float)[None] for name, value in given.items()}, batch=False)
    arguments: dict[str, Any] = {
        "beta": constant,
        "bregman": float(evidence.arguments["bregman"][0]),
        "sigma2_star": 0.0,
    }
    printed = evaluate(find("scafflix/assumption-3-finite-sum", "printed"), **arguments)
    return float(printed), float(evidence.measured[0])


@loose(
    location="Assumption 3, case 2",
    claim="A_i = 2 L_i if the samples' losses f_ij are L_i-smooth",
    truth="The claim holds for convex f_ij. The least constant of f_i alone, which is smaller by the factor n_i where "
    "the directions of the samples differ, would not do.",
    key="scafflix/assumption-3-finite-sum",
    direction="other",
)
def assumption_3_samples() -> Finding:
    printed, measured = _sampled(np.eye(4).tolist(), [4.0] * 4, [1.0, -2.0, 0.5, 3.0], constant=1.0)
    inputs = {
        "f_ij": "2 x_j^2, j = 1..4, 4-smooth", "f_i": "|x|^2/2, which is 1-smooth", "x": [1, -2, 0.5, 3],
        "quantity": "E|g - grad f_i(x*)|^2, 2 * 2 D + C_i first: with 1 for L_i = 4",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=printed, measured=measured)


@hypothesis(
    location="Assumption 3, case 2",
    claim="A_i = 2 L_i for any L_i-smooth f_ij",
    truth="The samples' losses must be convex.",
    key="scafflix/assumption-3-finite-sum",
)
def assumption_3_convexity() -> Finding:
    printed, measured = _sampled([[1.0], [1.0]], [10.0, -9.0], [1.0], constant=10.0)
    inputs = {
        "f_ij": "5 x^2 and -4.5 x^2, both 10-smooth", "f_i": "x^2/4", "x": 1,
        "quantity": "E|g - grad f_i(x*)|^2 against 2 A_i D + C_i",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=printed, measured=measured)


@false(
    location="Algorithm 1, input; Theorem 1",
    claim="the control variates start with sum_i h_i^0 = 0",
    truth="The algorithm conserves sum_i alpha_i h_i, which must be 0; otherwise the models converge elsewhere.",
    key="scafflix/theorem-1",
    direction="equality",
)
def algorithm_1_start() -> Finding:
    inputs = {**START, "h^0": [1, -1], "quantity": "limit of E[x_1]; h^0 = (1, -2) has sum_i alpha_i h_i = 0"}
    return Finding(inputs=inputs, printed=limit([1.0, -1.0]), measured=limit([1.0, -2.0]))


@hypothesis(
    location="remark after Corollary 2",
    claim="h_i^0 = grad f_i at the personalised start",
    truth="sum_i alpha_i h_i^0 is not 0, and with exact gradients no model ever moves; the projection of h_i^0 onto "
    "that constraint costs one communication and keeps the printed bound of Psi^0.",
    key="scafflix/initial-lyapunov",
    direction="equality",
)
def initial_control_variates() -> Finding:
    inputs = {**START, "h_i^0": "grad f_i(x_i^0) = (0, -1)", "quantity": "limit of E[x_1]; that of h^0 = 0 is x*"}
    return Finding(inputs=inputs, printed=limit([0.0, -1.0]), measured=limit([0.0, 0.0]))


@hypothesis(
    location="(FLIX), Assumption 1 and Algorithm 1, line 8",
    claim="for alpha_i in [0, 1] the mixed objective is strongly convex and its solution unique",
    truth="alpha_i > 0 is needed: the algorithm divides by it, and mean_i alpha_i^2 mu_i is what f~ inherits.",
    key="scafflix/theorem-1",
    direction="lower",
)
def weight_zero() -> Finding:
    def mixed(x: float, alpha: float) -> float:
        """f~ of one client f = x^2/2 with x_1^* = 0."""
        return (alpha * x) ** 2 / 2

    x, alpha, mu = 5.0, 0.0, 1.0
    inputs = {
        "f_1": "x^2/2",
        "alpha_1": alpha,
        "x": x,
        "quantity": "f~(x) - min f~ against mu_1 |x|^2 / 2, as inherited from f_1",
    }
    return Finding(inputs=inputs, printed=mu * x**2 / 2, measured=mixed(x, alpha) - mixed(0.0, alpha))


@loose(
    location="Section 4.1, below (12)",
    claim="f_i is L_i-smooth with L_i = (1/(4 n_i)) sum_j |a_ij|^2 + mu",
    truth="The claim holds; the least constant is lambda_max(A_i^T A_i)/(4 n_i) + mu, without the trace.",
    direction="upper",
)
def smoothness_logistic() -> Finding:
    # seven orthogonal features of second moments 3.34 and six times 3.169, 700 samples
    weights = np.array([3.34, *[3.169] * 6])
    features = np.repeat(np.diag(np.sqrt(7 * weights)), 100, axis=0)
    inputs = {
        "n_i": 700, "features": "orthogonal, mean a_j a_j^T = diag(3.34, 3.169, ..., 3.169) in R^7", "mu": 0.1,
        "quantity": "smoothness constant L_i of the logistic loss (12)",
    }  # fmt: skip
    return Finding(
        inputs=inputs,
        printed=float(logistic_smoothness_by_trace(features=features, regularisation=0.1)),
        measured=float(logistic_smoothness(features=features, regularisation=0.1)),
    )
