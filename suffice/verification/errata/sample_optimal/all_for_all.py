"""Errata of Theorem 3, its proof sketch, and Corollary 1."""

from __future__ import annotations

import numpy as np
import torch

from suffice.simulate import AllForAll, Local, Quadratics, expected_excess, expected_moments

from ...claims.sample_optimal.star import one_loss, threshold_star
from ..erratum import Finding
from .paper import constant, false, loose, typo


def _one(value: float) -> np.ndarray:
    return np.array([float(value)])


@false(
    location="Theorem 3",
    claim="E[F^K] <= F^0 exp(-K/(2 kappa)) + noise + bias for any stochastic Lambda",
    truth="The rate is 1 - eta mu smin with eta <= 1/(L smax), where smin and smax are eigenvalues of W; both are 1 "
    "for clusters.",
    key="sample-optimal/theorem-3",
)
def theorem_3_rate() -> Finding:
    K = 30
    star = one_loss({"N": _one(100), "beta": _one(1), "start": _one(2**0.5)})
    printed = float(star.start()[0] * np.exp(-K / 2))
    inputs = {"N": 100, "f_i": "x^2/2 for all", "Lambda": "star: row 0 equal, others 1/2 on self and on agent 0",
              "sigma": 0, "F^0": 1, "K": K, "quantity": "F^K at the best of all step sizes"}  # fmt: skip
    return Finding(inputs=inputs, printed=printed, measured=float(star.least(_one(K))[0]))


_CHAIN = np.array([[1.0, 0.0], [0.5, 0.5]])


@typo(
    location="proof sketch of Theorem 3",
    claim="y^{k+1} = y^k - eta Lambda G^k(y^k) gives x^k = Lambda y^k",
    truth="Lambda^T G^k is meant, as in the deterministic recursion before it.",
    key="sample-optimal/theorem-3",
    direction="equality",
)
def theorem_3_sketch_transpose() -> Finding:
    g = np.array([1.0, 0.0])
    inputs = {"Lambda": _CHAIN.tolist(), "g": [1, 0], "eta": 1, "quantity": "way of agent 2 in one step"}
    step = AllForAll(Lambda=torch.from_numpy(_CHAIN)).W.numpy() @ g
    return Finding(inputs=inputs, printed=float((_CHAIN @ _CHAIN @ g)[1]), measured=float(step[1]))


def _mean_after_one(A: np.ndarray, start: float, eta: float) -> float:
    """Agent 1's model after one step of Algorithm 1 without sharing, minimisers 0."""
    n = len(A)
    problem = Quadratics.of(A, np.zeros((n, 1)), sigma2=0.0, start=np.full((n, 1), start))
    moments = expected_moments(problem, AllForAll(Lambda=torch.eye(n, dtype=torch.float64)), iterations=1, eta=eta)
    return float(moments.mean("models")[1, 0])


@typo(
    location="proof sketch of Theorem 3",
    claim="x^{k+1} = x^k - W C^k, where C^k, not defined, is read as the gradients",
    truth="x^{k+1} = x^k - eta W g^k is meant, as in Section 1.1 and Algorithm 1.",
    key="sample-optimal/theorem-3",
    direction="equality",
)
def theorem_3_sketch_step() -> Finding:
    inputs = {"N": 1, "f": "x^2", "x^0": 1, "eta": 0.25, "quantity": "x^1"}
    return Finding(inputs=inputs, printed=1.0 - 2.0, measured=_mean_after_one(np.ones((1, 1, 1)), 1.0, 0.25))


@constant(
    location="proof sketch of Theorem 3",
    claim="(g_i)_i replaces grad fbar = (1/N)(grad f_i)_i in x^{k+1} = x^k - eta W grad fbar(x^k)",
    truth="g_i replaces grad f_i, because Algorithm 1 has no 1/N; the two step sizes differ by the factor N.",
    key="sample-optimal/theorem-3",
    direction="equality",
)
def theorem_3_sketch_mean() -> Finding:
    N, eta = 10, 0.5
    inputs = {"N": N, "f_i": "x^2/2", "Lambda": "identity", "x^0": 1, "eta": eta, "quantity": "x_1^1"}
    measured = _mean_after_one(np.full((N, 1, 1), 0.5), 1.0, eta)
    return Finding(inputs=inputs, printed=1 - eta / N, measured=measured)


@false(
    location="Corollary 1",
    claim="K_eps <= 2 max((kappa sigma^2/(eps mu)) (1/N) sum_i 1/N_i, kappa) ln(F^0/eps)",
    truth="The bound needs agents in clusters; otherwise kappa is multiplied by smax/smin.",
    key="sample-optimal/corollary-1-general",
)
def corollary_1_graph() -> Finding:
    # the start is so far that F^0 = 10^6
    star = threshold_star({"N": _one(100), "beta": _one(1), "start": _one(2e6**0.5)})
    inputs = {"N": 100, "f_0": "|x|^2/2", "f_j": "|x - 0.99 e_j|^2/2", "eps": 1, "sigma": 0, "F^0": "10^6",
              "quantity": "rounds to eps at the best of all step sizes"}  # fmt: skip
    printed = 2 * np.log(star.start()[0])
    return Finding(inputs=inputs, printed=float(np.ceil(printed)), measured=float(star.rounds(_one(1))[0]))


@constant(
    location="Corollary 1",
    claim="K_eps <= 2 max((kappa sigma^2/(eps mu)) (1/N) sum_i 1/N_i, kappa) ln(F^0/eps)",
    truth="A round is needed while F^0 > eps; where the bound is below 1, it is to be rounded up.",
    key="sample-optimal/corollary-1",
)
def corollary_1_start() -> Finding:
    eps, ratio = 1.0, 1.05
    problem = Quadratics.of(np.full((1, 1, 1), 0.5), np.zeros((1, 1)), sigma2=0.0, start=[(2 * ratio * eps) ** 0.5])
    excess = expected_excess(problem, Local(), iterations=1, eta=1.0)[:, 0]
    inputs = {"N": 1, "f": "x^2/2", "kappa": 1, "sigma": 0, "eta": 1, "F^0": "1.05 eps", "quantity": "rounds to eps"}
    return Finding(inputs=inputs, printed=float(2 * np.log(ratio)), measured=float((excess > eps).sum()))


@loose(
    location="text after Corollary 1",
    claim="K_eps <= (1/N) sum_i K_eps(i), with K_eps(i) from Theorem 2, whose O~ hides logarithmic and constant "
    "factors",
    truth="The claim holds up to the logarithm that O~ hides: that of the mean excess is not the mean of the agents' "
    "logarithms.",
    key="sample-optimal/corollary-1",
    direction="equality",
)
def corollary_1_mean() -> Finding:
    # two agents of one start that share nothing, as b_12^2 > mu eps: f_i = (x - m_i)^2/2 with L = 100, e_0 = (100, 1)
    m = np.array([[200**0.5], [2**0.5]])
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), -m, sigma2=0.0)
    excess = expected_excess(problem, Local(), iterations=400, eta=0.01)
    alone, together = ((losses > 1 + 1e-12).sum(0) for losses in (excess, excess.mean(1)))
    inputs = {"N": 2, "f_i": "(x - m_i)^2/2", "m": "(200^.5, 2^.5)", "x^0": 0, "L": 100, "eta": "1/L", "eps": 1,
              "sigma": 0, "Lambda": "identity", "quantity": "K_eps, printed at most (1/N) sum_i K_eps(i)"}  # fmt: skip
    return Finding(inputs=inputs, printed=float(alone.mean()), measured=float(together))


@typo(
    location="text after Corollary 1",
    claim="the speedup over no collaboration is (1/N) sum_i 1/N_i",
    truth="The speedup is the reciprocal of it.",
    key="sample-optimal/corollary-1",
    direction="equality",
)
def corollary_1_speedup() -> Finding:
    N, eta, T = 10, 0.5, 60
    problem = Quadratics.of(np.full((N, 1, 1), 0.5), np.zeros((N, 1)), sigma2=1.0)
    together = AllForAll.clusters([0] * N)
    alone, shared = (expected_excess(problem, rule, iterations=T, eta=eta)[T].mean() for rule in (Local(), together))
    inputs = {"N": N, "f_i": "x^2/2", "sigma": 1, "clusters": 1, "quantity": "noise floor alone over shared"}
    return Finding(inputs=inputs, printed=1 / N, measured=float(alone / shared))


@constant(
    location="Section 5, below Remark 1",
    claim="mixtures have the bias (1/N) sum_i alpha_i/(N - 1) sum_j b_ij, full collaboration (1/N^2) sum_ij b_ij",
    truth="b_ij is a gradient and the bias is a loss: b_ij^2/(2 mu) stands for b_ij, and is larger where b_ij > 2 mu.",
    key="sample-optimal/section-5-bias",
    direction="equality",
)
def section_5_bias() -> Finding:
    # f_i = (x - m_i)^2/2, m = (0, 8): b_12 = 8, and the common model's bias is the mean of f_i at the peer's minimiser
    m = np.array([0.0, 8.0])
    apart = np.abs(m[:, None] - m)
    inputs = {"N": 2, "f_i": "(x - m_i)^2/2", "m": m.tolist(), "lambda_ij": 1 / 2,
              "quantity": "(1/N) sum_ij lambda_ij (f_i(x_j*) - f_i*)"}  # fmt: skip
    return Finding(inputs=inputs, printed=float(apart.mean()), measured=float((apart**2 / 2).mean()))
