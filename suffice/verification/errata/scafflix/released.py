"""Errata where the released code of the Scafflix paper differs from the paper or from what its theorems need."""

from __future__ import annotations

import numpy as np

from suffice.bounds.scafflix_settings import released_steps
from suffice.bounds.smoothness_and_strong_convexity import (
    least_squares_smoothness,
    least_squares_smoothness_released,
    logistic_smoothness,
    logistic_smoothness_released,
)

from ...claims.scafflix.moments import Clients
from ..erratum import Finding
from .paper import code

SMALL = np.full((125, 1), np.sqrt(0.008))
"""125 samples of one small feature: the regularisation dominates the smoothness constant."""
STIFF = np.array([100.0, *[1.0] * 7])
"""Curvatures of eight clients f_i = L_i x^2 / 2."""


@code(
    location="released code, LogReg._smoothness",
    claim="L_i = lambda_max(A_i^T A_i + mu I)/(4 n_i)",
    truth="The regularisation is not divided: the constant is lambda_max(A_i^T A_i)/(4 n_i) + mu, and a step of 1/L_i "
    "may be unstable.",
)
def code_smoothness_logistic() -> Finding:
    given = {"features": SMALL, "regularisation": 0.1}
    inputs = {"n_i": 125, "a_j^2": 0.008, "mu": 0.1, "quantity": "smoothness constant of the logistic loss"}
    return Finding(
        inputs=inputs,
        printed=float(logistic_smoothness_released(**given)),
        measured=float(logistic_smoothness(**given)),
    )


@code(
    location="released code, LinReg._smoothness",
    claim="L_i = lambda_max(A_i^T A_i + reg I)/n_i",
    truth="The regularisation is not divided: the constant is lambda_max(A_i^T A_i)/n_i + reg.",
)
def code_smoothness_least_squares() -> Finding:
    given = {"features": SMALL, "regularisation": 0.1}
    inputs = {"n_i": 125, "a_j^2": 0.008, "reg": 0.1, "quantity": "smoothness constant of least squares"}
    return Finding(
        inputs=inputs,
        printed=float(least_squares_smoothness_released(**given)),
        measured=float(least_squares_smoothness(**given)),
    )


@code(
    location="released code, LinReg.find_min",
    claim="the local optimum solves (A^T A + reg I) w = A^T b",
    truth="The gradient used elsewhere vanishes where (A^T A + n reg I) w = A^T b.",
)
def code_local_optimum() -> Finding:
    A, b, reg = np.ones((10, 1)), np.ones(10), 1.0
    gram, right = A.T @ A, A.T @ b
    solved = np.linalg.solve(gram + reg * np.eye(1), right)
    # where (1/n) A^T (A w - b) + reg w vanishes, by gradient descent
    w = np.zeros(1)
    for _ in range(200):
        w = w - 0.25 * (A.T @ (A @ w - b) / len(A) + reg * w)
    inputs = {
        "loss": "|A w - b|^2/(2 n) + (reg/2) w^2", "A": "ten ones", "b": "ten ones", "reg": reg,
        "quantity": "local optimum",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(solved[0]), measured=float(w[0]))


@code(
    location="released code, run_scafflix.py",
    claim="all clients step by 1/mean_i(alpha_i^2 L_i)",
    truth="Theorem 1 needs gamma_i <= 1/L_i for each client; with one much stiffer client the method diverges.",
    key="scafflix/theorem-1",
)
def code_step() -> Finding:
    steps = released_steps(L=STIFF, mu=0.1, alpha=1.0)
    n = len(STIFF)
    given = Clients(
        curvature=STIFF[None, :, None],
        **{"A": STIFF[None], "C": np.zeros((1, n)), "alpha": np.ones((1, n)), "eta": steps.eta[None]},
        **{"p": np.array([steps.p]), "saturation": np.zeros(1)},
        models=np.ones((1, n, 1)),
        control=np.zeros((1, n, 1)),
    )
    moment = given.start
    for _ in range(20):
        moment = given.step(moment)
    growth = (given.lyapunov(given.step(moment)) / given.lyapunov(moment)).item()
    inputs = {
        "f_i": "L_i x^2 / 2, L = (100, 1, ..., 1)", "n": n, "gamma": "1/mean(L_i)", "p": round(steps.p, 4),
        "quantity": "factor of E[Psi] in one iteration; the most that Theorem 1 allows first",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=1 - min((steps.eta * STIFF).min().item(), steps.p**2), measured=growth)


@code(
    location="released code, optim_p",
    claim="p = 1/sqrt(mean_i(L_i)/mu), whatever p is asked for",
    truth="Corollary 1 has p = 1/sqrt(kappa_max), where kappa_max is the largest condition number.",
    key="scafflix/corollary-1",
)
def code_probability() -> Finding:
    mu = 1.0
    inputs = {"L": "(100, 1, ..., 1)", "n": len(STIFF), "mu": mu, "quantity": "probability of a communication"}
    return Finding(
        inputs=inputs, printed=released_steps(L=STIFF, mu=mu, alpha=1.0).p, measured=float((STIFF.max() / mu) ** -0.5)
    )


@code(
    location="released code, nn/src/Scafflix.py",
    claim="the coin is flipped once, when the step is compiled",
    truth="Algorithm 1 flips the coin in every iteration.",
)
def code_coin() -> Finding:
    p, iterations = 0.2, 10
    inputs = {"p": p, "iterations": iterations, "quantity": "probability of no communication at all"}
    return Finding(inputs=inputs, printed=1 - p, measured=(1 - p) ** iterations)


@code(
    location="released code, nn/src/Scafflix.py",
    claim="the control variates start at 0 in every round",
    truth="Algorithm 1 keeps the control variates; without them local steps converge to another point.",
)
def code_control_reset() -> Finding:
    # f_1 = x^2/2 and f_2 = 5 (x - 1)^2; ten local steps a round, p = 1/10, gamma = 0.05
    curvature, centre, gamma, local = np.array([1.0, 10.0]), np.array([0.0, 1.0]), 0.05, 10

    def limit(*, reset: bool) -> float:
        x, h = 0.0, np.zeros(2)
        for _ in range(400):
            h = np.zeros(2) if reset else h
            models = np.full(2, x)
            for _ in range(local):
                models = models - gamma * (curvature * (models - centre) - h)
            x = models.mean()
            h = h + (x - models) / (local * gamma)
        return float(x)

    inputs = {
        "f_1": "x^2/2", "f_2": "5 (x - 1)^2", "gamma": gamma, "local steps of a round": local,
        "quantity": "limit of the shared model",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=limit(reset=True), measured=limit(reset=False))


@code(
    location="released code, prep_data.py, mushrooms",
    claim="labels become y != -1",
    truth="The file's labels are 1 and 2, so that all samples fall into one class.",
)
def code_labels() -> Finding:
    labels = np.array([1, 2, 2, 1])  # as in the file of the mushrooms data
    released = (labels != -1).astype(float)
    inputs = {"labels": labels.tolist(), "quantity": "share of the second class"}
    return Finding(inputs=inputs, printed=float(released.mean()), measured=float((labels == labels.max()).mean()))
