"""Errata of the adaptive paper's released code: the script of Figure 1, the weights, the data of Figure 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from suffice.bounds import (
    Binary,
    Continuous,
    QuadraticCertificate,
    collaboration_weights,
    evaluate,
    find,
    released_code,
)
from suffice.simulate import AllForOne, Draw, ExactSimilarity, Quadratics, ReleasedSimilarity, generators
from suffice.simulate.similarity_ratio import SAMPLES

from ..erratum import Finding
from .paper import code

# --- Figure 1 ---------------------------------------------------------------------------------------------


@code(
    location="released script of Figure 1",
    claim="b^2 = 2 |A_i xi_i - A_k xi_k|^2",
    truth="For equal Hessians A = I the smallest valid b^2 is 4 |xi_i - xi_k|^2.",
    key="adaptive/property-1",
)
def code_figure_1_constant() -> Finding:
    A, xi = np.eye(2)[None].repeat(2, 0), np.array([[1.0, 0.0], [0.0, 0.0]])
    inputs = {"A_i": "I", "A_k": "I", "xi_i - xi_k": [1, 0], "quantity": "b^2 such that |grad gap|^2 <= b^2"}
    exact = QuadraticCertificate(A=A, xi=xi).frontier(np.zeros((2, 2)))[0, 1]
    return Finding(inputs=inputs, printed=float(released_code(A, xi).b2[0, 1]), measured=float(exact))


@code(
    location="released script of Figure 1",
    claim="b^2 = 2 |A_i xi_i - A_k xi_k|^2",
    truth="Two quadratics with the same minimiser have b = 0, whatever their Hessians.",
    key="worst-case/quadratic-certificate",
)
def code_figure_1_translation() -> Finding:
    A = np.stack((np.diag([1.0, 0.5]), np.diag([0.5, 1.0])))
    xi = np.full((2, 2), 3.0)
    inputs = {"A_i": "diag(1, .5)", "A_k": "diag(.5, 1)", "xi_i = xi_k": [3, 3], "quantity": "b^2 of a shared optimum"}
    exact = QuadraticCertificate(A=A, xi=xi).frontier(np.ones((2, 2)))[0, 1]
    return Finding(inputs=inputs, printed=float(released_code(A, xi).b2[0, 1]), measured=float(exact))


@code(
    location="released script of Figure 1",
    claim="lambda = 0; the number of k with 1 - b^2/(2 mu eps) - c >= 0 is plotted",
    truth="phi_bin is 0 at lambda = 0, so that Definition 2 has no members; the plotted count is the limit as lambda "
    "-> 0.",
)
def code_figure_1_threshold() -> Finding:
    A, xi = np.ones((3, 1, 1)), np.array([[0.0], [0.1], [10.0]])
    mu, eps, threshold = 2.0, 1.0, 0.0
    pair = released_code(A, xi)
    kept = 1 - pair.b2[0] / (2 * mu * eps) - pair.c[0]
    psi = np.maximum(kept, 0) * threshold * (kept >= threshold)
    inputs = {
        "A": 1, "xi": [0, 0.1, 10], "mu": mu, "eps": eps, "lambda": threshold,
        "quantity": "size of the sufficient cluster of client 1",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float((kept >= threshold).sum()), measured=float((psi > 0).sum()))


# --- the weights --------------------------------------------------------------------------------------------


def _two_lines(own: float, peer: float, sigma2: Any = 1.0) -> Quadratics:
    """Two clients R_k = (theta + xi_k)^2 at theta = 0, whose gradients 2 xi_k there are given."""
    return Quadratics.of(np.ones((2, 1, 1)), [[own / 2], [peer / 2]], sigma2=sigma2)


def _ratios(problem: Quadratics) -> tuple[float, float]:
    """r_ik as the released code computes it from gradients without noise, and as it is defined."""
    theta, quiet = problem.start[None], {SAMPLES: torch.zeros(1, 2, 1, 1, dtype=torch.float64)}
    code = ReleasedSimilarity().ratio(problem, theta, quiet)
    return code[0, 0, 1].item(), ExactSimilarity().ratio(problem, theta, {})[0, 0, 1].item()


@code(
    location="released code, compute_weight_based_on_ratio",
    claim="r_ik = (1 - |g_i - g_k| / |g_i|^2)_+",
    truth="The numerator is squared in the definition; without the square, large opposite gradients count as similar.",
    key="adaptive/equation-1-gap",
)
def code_ratio_opposite() -> Finding:
    code, right = _ratios(_two_lines(10.0, -10.0))
    inputs = {"grad R_i": 10, "grad R_k": -10, "sigma": 0, "quantity": "similarity ratio r_ik"}
    return Finding(inputs=inputs, printed=code, measured=right)


@code(
    location="released code, compute_weight_based_on_ratio",
    claim="r_ik = (1 - |g_i - g_k| / |g_i|^2)_+",
    truth="The ratio has the unit of 1/gradient, so that small gradients that nearly agree count as dissimilar.",
    key="adaptive/equation-1-gap",
)
def code_ratio_alike() -> Finding:
    code, right = _ratios(_two_lines(0.1, 0.12))
    inputs = {"grad R_i": 0.1, "grad R_k": 0.12, "sigma": 0, "quantity": "similarity ratio r_ik"}
    return Finding(inputs=inputs, printed=code, measured=right)


def _released_weights(problem: Quadratics, *, binary: bool) -> np.ndarray:
    """Client i's weights under the released rule, from gradients without noise."""
    noise = torch.zeros(1, problem.clients, 1, problem.features, dtype=torch.float64)
    algorithm = AllForOne.released(binary=binary)
    draw = Draw(iteration=1, noise=noise, extra={SAMPLES: noise})
    return algorithm.collaboration(problem, algorithm.init(problem, problem.start[None]), draw)[0, 0].numpy()


@code(
    location="released code, weights",
    claim="alpha_k = 1{r_k > 0} or r_k, divided by their sum",
    truth="Definition 1 divides by sigma_k^2; equal weights can be noisier than working alone.",
    key="adaptive/definition-1-variance-local",
)
def code_weights_variances() -> Finding:
    problem = _two_lines(1.0, 1.0, sigma2=[1.0, 100.0])
    sigma2 = problem.sigma2.numpy()
    code = _released_weights(problem, binary=True)
    right = collaboration_weights(Binary(threshold=0.5), similarity=np.ones(2), sigma2=sigma2)
    inputs = {"R_i = R_k": "(theta + 1/2)^2", "sigma": [1, 10], "quantity": "sum_k alpha_k^2 sigma_k^2 at theta = 0"}
    return Finding(inputs=inputs, printed=float((code**2 * sigma2).sum()), measured=float((right**2 * sigma2).sum()))


@code(
    location="released code, weights",
    claim="the weights sum to 1",
    truth="Definition 1 has sum_k alpha_k r_k = 1; with weights of sum 1 a step contracts by 1 - eta mu rbar.",
    key="adaptive/remark-3-continuous",
)
def code_weights_normalised() -> Finding:
    problem = _two_lines(2.0, 3.0)  # r = 3/4; the code's own ratio happens to be the same
    similarity = ExactSimilarity().ratio(problem, problem.start[None], {})[0, 0].numpy()
    code = _released_weights(problem, binary=False)
    right = collaboration_weights(Continuous(), similarity=similarity, sigma2=np.ones(2))
    inputs = {"grad R_i": 2, "grad R_k": 3, "sigma": [1, 1], "phi": "continuous", "quantity": "sum_k alpha_k r_k"}
    return Finding(inputs=inputs, printed=float(code @ similarity), measured=float(right @ similarity))


@code(
    location="released code, binary weights",
    claim="every peer with r_k > 0 has the same weight",
    truth="Definition 3 admits r_k >= lambda, and then the mean similarity is at least lambda + (1 - lambda) w.",
    key="adaptive/remark-3-binary",
    direction="other",
)
def code_no_threshold() -> Finding:
    n, threshold = 20, 0.5
    similarity = np.append(1.0, np.full(n - 1, 0.01))
    admitted = similarity > 0
    code = admitted / admitted.sum()
    inputs = {
        "N": n, "r_k": 0.01, "sigma": 1, "lambda": threshold,
        "quantity": "mean similarity under the weights, against its least value for Definition 3",
    }  # fmt: skip
    least = evaluate(find("adaptive/remark-3-binary"), threshold=threshold, share=1 / n)
    return Finding(inputs=inputs, printed=float(code @ similarity), measured=float(least))


# --- Figure 2 -----------------------------------------------------------------------------------------------


@code(
    location="Appendix A, synthetic dataset of Figure 2",
    claim="there are two clusters, whose clients share their minimiser exactly",
    truth="The released code draws every client's minimiser around one centre, with standard deviation 0.1.",
)
def code_figure_2_clusters() -> Finding:
    optima = [len(generators.adaptive_regression(edition, 10).optimum.unique(dim=0)) for edition in _EDITIONS]
    inputs = {"N": 20, "d": 10, "quantity": "different minimisers among the clients"}
    return Finding(inputs=inputs, printed=float(optima[0]), measured=float(optima[1]))


@code(
    location="Table S1, synthetic dataset of Figure 2",
    claim="the batch size is 2",
    truth="The released code takes one sample per stochastic gradient.",
)
def code_figure_2_batch() -> Finding:
    batch = [generators.adaptive_regression(edition, 10).batch for edition in _EDITIONS]
    inputs = {"N": 20, "d": 10, "quantity": "samples in one stochastic gradient"}
    return Finding(inputs=inputs, printed=float(batch[0]), measured=float(batch[1]))


_EDITIONS = ("stated", "published")
