"""Errata of the CoBo paper: Example 2 and what Theorem I asks of the clients."""

from __future__ import annotations

import numpy as np

from suffice.bounds import evaluate, find
from suffice.simulate import CoBo, Quadratics

from ..erratum import Finding
from .paper import constant, every_pair, false, hypothesis, loose, noise_free, typo, vacuous

# f_i = a_i (x - m_i)^2 / 2 on a line, m_i = 0 and m_j = D.


def _gradient_sum(a_i: float, a_j: float, D: float, x: np.ndarray) -> np.ndarray:
    """f_i'(x)^2 + f_j'(x)^2."""
    return (a_i * x) ** 2 + (a_j * (x - D)) ** 2


def _zeta2(a_i: float, a_j: float, D: float) -> float:
    return float(
        evaluate(find("cobo/example-2-dissimilarity", "printed"), own_curvature=a_i, peer_curvature=a_j, separation=D)
    )


@constant(
    location="Example 2",
    claim="zeta_ij^2 = a_i^2 a_j^2 / (a_i^2 + a_j^2)^2 |mu_k - mu_k'|^2 is a lower bound",
    truth="The minimum over x has a_i^2 + a_j^2 without the square; the printed value exceeds the minimum when a_i^2 + "
    "a_j^2 < 1, and is not a squared gradient.",
    key="cobo/example-2-dissimilarity",
)
def example_2_constant() -> Finding:
    least = _gradient_sum(0.5, 0.5, 1.0, np.linspace(-1, 2, 3001)).min()
    inputs = {"a_i": 0.5, "a_j": 0.5, "D": 1, "quantity": "zeta_ij^2 against min_x |grad f_i|^2 + |grad f_j|^2"}
    return Finding(inputs=inputs, printed=_zeta2(0.5, 0.5, 1.0), measured=float(least))


@typo(
    location="Example 2",
    claim="|grad f_i(x)|^2 + |grad f_j(x)|^2 = a_i^2 a_j^2/(a_i^2 + a_j^2)^2 |mu_k - mu_k'|^2, named a lower bound",
    truth=">= is meant: the left side depends on x, and is a_j^2 |mu_k - mu_k'|^2 at mu_k.",
    key="cobo/example-2-dissimilarity",
    direction="equality",
)
def example_2_equality() -> Finding:
    at_minimiser = _gradient_sum(1.0, 1.0, 1.0, np.array(0.0))
    inputs = {"a_i": 1, "a_j": 1, "D": 1, "quantity": "|grad f_i|^2 + |grad f_j|^2 at the minimiser of f_i"}
    return Finding(inputs=inputs, printed=_zeta2(1.0, 1.0, 1.0), measured=float(at_minimiser))


@vacuous(
    location="Theorem I",
    claim="zeta_ik^2 >= |grad f_i(x) + grad f_k(x)|^2 for all x and clients k of other clusters",
    truth="With (6) this asks for <grad f_i, grad f_k> <= 0 everywhere, which no pair satisfies once a loss grows "
    "superlinearly; near the centres the inner product is negative.",
    key="cobo/selection-margin",
)
def theorem_1_separation() -> Finding:
    largest = _gradient_sum(1.0, 1.0, 1.0, np.linspace(-1, 2, 3001)).min()  # the best zeta^2 that (6) allows
    x = 100.0
    inputs = {"a_i": 1, "a_k": 1, "D": 1, "x": x, "quantity": "zeta_ik^2 allowed by (6) against the zeta_ik^2 needed"}
    return Finding(inputs=inputs, printed=float(largest), measured=float((x + (x - 1.0)) ** 2))


@typo(
    location="Theorem I, Lemma 4",
    claim="M_ij of one pair bounds averages over all pairs of the cluster",
    truth="M is the largest M_ij of the cluster.",
    key="cobo/cluster-dissimilarity",
)
def lemma_4_pair_constant() -> Finding:
    a = np.array([1.0, 1.02, 1.4])  # f_i = a_i x^2 / 2 at x = 1: a_i is the gradient
    gap, total = ((a[:, None] - a) ** 2).mean(), ((a[:, None] + a) ** 2).mean()
    M_12 = abs(a[0] - a[1]) / (a[0] + a[1])
    inputs = {
        "f_i": "a_i x^2 / 2, a = (1, 1.02, 1.4)", "x": 1, "M_ij": "of the first two clients",
        "quantity": "mean over pairs of |grad f_i - grad f_j|^2 against M_ij^2 mean |grad f_i + grad f_j|^2",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(M_12**2 * total), measured=float(gap))


@hypothesis(
    location="Theorem I, and Appendix A.2, case 2",
    claim="weights of different clusters are 0; that models are well initialised is said in the proof alone",
    truth="The start matters: outside the ball with diameter [m_i, m_j] the inner product is positive and the weight "
    "stays at 1.",
    key="cobo/selection-margin",
    direction="equality",
)
def selection_far() -> Finding:
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), [[0.0], [-1.0]], sigma2=0.0, start=[99.0])
    state = noise_free(problem, every_pair(rho=1.0, weight_step=0.01), eta=0.01, iterations=10)
    inputs = {
        "f_1": "x^2/2", "f_2": "(x - 1)^2/2", "x^0": 99, "rho": 1, "eta": 0.01, "gamma": 0.01, "t": 10,
        "gradients": "exact, every pair updated", "quantity": "w_12",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=0.0, measured=state["w"][0, 0, 1].item())


@loose(
    location="Appendix A.2 and Algorithm 1, line 11",
    claim="w^{t+1} = w^*, for well initialized weights",
    truth="The claim holds of weights that start at w^*; Algorithm 1 starts them at 1 and updates a pair with "
    "probability 1/n, and the others keep their weight.",
    key="cobo/selection-time",
    direction="equality",
)
def selection_sampling() -> Finding:
    chance = CoBo(rho=1.0, weight_step=1.0).chance(8, 1)
    inputs = {"n": 8, "gamma <grad f_i, grad f_j>": "at most -1", "quantity": "E[w_ij] after one iteration"}
    return Finding(inputs=inputs, printed=0.0, measured=1 - chance)


@false(
    location="Appendix A.1, bound of the average of T_ij",
    claim="Var(w_ij^{t+1}) <= 4 sigma^2 / b",
    truth="The variance of gamma <g_i, g_j> is at most gamma^2 ((sigma^2/b)(|grad f_i|^2 + |grad f_j|^2) + "
    "sigma^4/b^2), and that of a number in [0, 1] is at most 1/4.",
    direction="upper",
)
def lemma_3_weight_variance() -> Finding:
    # grad f_i = (5, 0) and grad f_j = (0, 5), each with an error of +-0.1 along the other: four equally likely cases
    sigma, gamma = 0.1, 0.5
    signs = np.array([-1.0, 1.0])
    inner = 5 * sigma * (signs[:, None] + signs)
    w = np.clip(0.5 + gamma * inner, 0, 1)
    inputs = {
        "grad f_i": [5, 0], "grad f_j": [0, 5], "sigma": sigma, "b": 1, "gamma": gamma, "w_ij": 0.5,
        "quantity": "variance of w_ij after one update",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=4 * sigma**2, measured=float(w.var()))
