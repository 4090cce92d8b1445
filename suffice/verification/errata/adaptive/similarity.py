"""Errata of the adaptive paper on similarity: Property 1, Definitions 1 and 2, Lemma 2, and what follows from them."""

from __future__ import annotations

import numpy as np

from suffice.bounds import (
    DEFINITIONS,
    Binary,
    Continuous,
    Definition,
    collaboration_weights,
    evaluate,
    find,
    property_1,
    sufficient_variance,
)
from suffice.bounds.sufficient_variance import combined_variance

from ..erratum import Finding
from .paper import constant, false, hypothesis, typo


def _definition(key: str, edition: str) -> Definition:
    (found,) = (entry for entry in DEFINITIONS if (entry.key, entry.edition) == (key, edition))
    return found


def _lines(theta: float, minimisers: tuple[float, ...]) -> tuple[float, np.ndarray]:
    """R_k = (theta - m_k)^2 / 2: client i's excess loss and all similarities, at theta."""
    gradients = theta - np.array(minimisers)
    similarity = np.maximum(1 - (gradients - gradients[0]) ** 2 / gradients[0] ** 2, 0)
    return float(gradients[0] ** 2 / 2), similarity


# --- Property 1 -------------------------------------------------------------------------------------------


@constant(
    location="Property 1",
    claim="b_ik <= sqrt(2) |A_k (xi_i - xi_k)| and c_ik <= 2 |I - A_k A_i^-1|^2",
    truth="b = 2 sqrt(2) |A_k (xi_i - xi_k)| is needed, because the loss has no 1/2 and its gradient has a factor 2.",
    key="adaptive/property-1",
)
def property_1_constant() -> Finding:
    A, xi = np.ones((2, 1, 1)), np.array([[1.0], [0.0]])
    printed = property_1(A, xi, edition="printed")
    theta = 3.0  # equal Hessians: the gap is the same everywhere, the bound is smallest at c = 0
    gap = float((2 * (theta + 1) - 2 * theta) ** 2)
    inputs = {"R_i": "(theta + 1)^2", "R_k": "theta^2", "quantity": "b^2 + c |grad R_i|^2 against |grad gap|^2"}
    return Finding(inputs=inputs, printed=float(printed.b2[0, 1]), measured=gap)


@hypothesis(
    location="Property 1",
    claim="it holds of the losses (theta + xi_i)^T A_i (theta + xi_i) for A_i in R^{d x d}",
    truth="A_i has to be symmetric positive definite: the gradient is (A_i + A_i^T)(theta + xi_i) otherwise.",
    key="adaptive/property-1",
)
def property_1_symmetric() -> Finding:
    A = np.array([[1.0, 1.0], [0.0, 0.3]])
    xi = np.array([[1.0, -1.0], [0.0, 0.0]])
    pair = property_1(np.stack((A, A)), xi)
    gap = (A + A.T) @ (xi[0] - xi[1])  # grad R_i - grad R_k, the same everywhere
    inputs = {
        "A_i = A_k": A.tolist(),
        "xi_i - xi_k": [1, -1],
        "quantity": "b^2 + c |grad R_i|^2, with the corrected b, against |grad gap|^2",
    }
    return Finding(inputs=inputs, printed=float(pair.b2[0, 1]), measured=float(gap @ gap))


# --- Definition 1 -----------------------------------------------------------------------------------------


@false(
    location="Introduction, before the update of All-for-one",
    claim="the weights alpha_ik are in [0, 1]",
    truth="The weights of Definition 1 are at most 1/r_ik, so that the weight of a peer of small variance can exceed "
    "1.",
    key="adaptive/definition-1-weights",
)
def definition_1_above_one() -> Finding:
    r, sigma2 = np.array([1.0, 0.5]), np.array([1.0, 1e-4])
    alpha = collaboration_weights(Binary(threshold=0.5), similarity=r, sigma2=sigma2)
    printed = evaluate(find("adaptive/definition-1-weights", "printed"), similarity=0.5)
    inputs = {"sigma": [1, 0.01], "r": [1, 0.5], "lambda": 0.5, "quantity": "largest weight alpha_k"}
    return Finding(inputs=inputs, printed=float(printed), measured=float(alpha.max()))


@hypothesis(
    location="Definition 1",
    claim="phi nondecreasing, phi(0) = 0 and phi(x) <= x give weights with sum_k alpha_k r_k = 1 (Appendix B.2)",
    truth="phi(1) > 0 is needed: phi = 0, binary weights with lambda = 0, has no weights.",
    key="adaptive/definition-1-effective-local",
    direction="equality",
)
def definition_1_zero_criterion() -> Finding:
    r, sigma2, phi = np.array([1.0, 0.5]), np.ones(2), np.zeros(2)
    total = (phi * r / sigma2).sum()
    alpha = np.divide(phi / sigma2, total, out=np.zeros(2), where=total > 0)
    inputs = {"phi": "0", "sigma": [1, 1], "r": [1, 0.5], "quantity": "sum_k alpha_k r_k, 0/0 read as 0"}
    right = collaboration_weights(Continuous(), similarity=r, sigma2=sigma2)
    return Finding(inputs=inputs, printed=float((right * r).sum()), measured=float((alpha * r).sum()))


# --- Definition 2 and Lemma 2 -------------------------------------------------------------------------------


@constant(
    location="Definition 2, Lemma 2, Corollary 1",
    claim="N*(eps) = {k: psi((1 - b_k/(2 mu eps) - c_k)_+) > 0} is in N^t: r_k >= 1 - b_k/(2 mu eps) - c_k there",
    truth="b_k^2 is needed for b_k, as the dimensions require and the proof of Lemma 2 has it.",
    key="adaptive/lemma-2",
)
def definition_2_square() -> Finding:
    # at theta = 2: e = 2, b = 3, c = 0, mu = 1
    excess, similarity = _lines(2.0, (0.0, 3.0))
    printed = evaluate(find("adaptive/lemma-2", "printed"), b=3.0, c=0.0, mu=1.0, eps=excess)
    inputs = {"R_i": "theta^2/2", "R_k": "(theta - 3)^2/2", "b": 3, "c": 0, "mu": 1, "theta": 2, "eps": 2,
              "quantity": "similarity ratio r_k, e = eps"}  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=float(similarity[1]))


@typo(
    location="text after Definition 2",
    claim="lim sigma_suf^2 = 1 / sum_k sigma_k^2 psi((1 - c_k)_+) 1{b_k = 0}",
    truth="sigma_k^-2 stands in the sum.",
    key="adaptive/definition-2-limit-zero",
)
def definition_2_limit() -> Finding:
    criterion, sigma2, similarity = Binary(threshold=0.5), np.array([1.0, 4.0]), np.array([1.0, 0.5])
    printed = _definition("adaptive/definition-2-limit-zero", "printed")
    limit = printed.reduce(values=criterion.psi(similarity), b=np.zeros(2), sigma2=sigma2)
    # At b = 0 Definition 2 does not depend on the precision: its value is its own limit.
    variance = sufficient_variance(criterion, similarity=similarity, sigma2=sigma2)
    inputs = {
        "sigma": [1, 2],
        "b": [0, 0],
        "c": [0, 0.5],
        "lambda": 0.5,
        "quantity": "limit of sigma_suf^2 as eps -> 0",
    }
    return Finding(inputs=inputs, printed=float(limit), measured=float(variance))


@hypothesis(
    location="text after Definition 2",
    claim="sigma_cont^2(eps) -> 1 / sum_k sigma_k^-2 psi((1 - c_k)_+) as eps -> infinity, with sigma_suf^2 meant",
    truth="The limit holds for continuous psi, as the subscript has it; psi_bin jumps at lambda: with 1 - c_k = lambda "
    "and b_k > 0 peer k never enters.",
    key="adaptive/definition-2-limit-infinity",
)
def definition_2_jump() -> Finding:
    criterion, c, b2, sigma2 = Binary(threshold=0.5), np.array([0, 0.5]), np.array([0, 1.0]), np.ones(2)
    printed = _definition("adaptive/definition-2-limit-infinity", "printed")
    limit = printed.reduce(values=criterion.psi(1 - c), sigma2=sigma2)
    mu, eps = 1.0, 1e9
    variance = sufficient_variance(criterion, similarity=1 - b2 / (2 * mu * eps) - c, sigma2=sigma2)
    inputs = {
        "sigma": [1, 1], "b": [0, 1], "c": [0, 0.5], "lambda": 0.5, "mu": mu, "eps": eps,
        "quantity": "sigma_suf^2 of binary weights at a large eps against the display",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(limit), measured=float(variance))


@typo(
    location="text after Definition 2",
    claim="sigma_cont^2(eps) -> 1 / sum_k sigma_k^-2 psi((1 - c_k)_+) as eps -> infinity, read with the psi in use",
    truth="sigma_suf^2 is meant, as in the limit before; sigma_cont^2 has this limit for psi_cont alone.",
    key="adaptive/definition-2-limit-infinity",
)
def definition_2_name() -> Finding:
    criterion, sigma2, similarity = Binary(threshold=0.5), np.ones(2), np.ones(2)
    limit = combined_variance(values=criterion.psi(similarity), sigma2=sigma2)
    continuous = sufficient_variance(Continuous(), similarity=similarity, sigma2=sigma2)
    inputs = {"sigma": [1, 1], "b": [0, 0], "c": [0, 0], "psi": "psi_bin, lambda = 0.5",
              "quantity": "sigma_cont^2 at every eps against the display"}  # fmt: skip
    return Finding(inputs=inputs, printed=float(limit), measured=float(continuous))


def _sufficient_at(eps: float) -> float:
    """R_i = theta^2/2 and R_k = (theta - 1)^2/2, so b = b^2 = 1, c = 0, mu = 1: sigma_suf^2, sigma = 1."""
    rho = evaluate(find("adaptive/lemma-2"), b=np.array([0.0, 1.0]), c=0.0, mu=1.0, eps=eps)
    return float(sufficient_variance(Continuous(), similarity=rho, sigma2=np.ones(2)))


def _effective(theta: float) -> float:
    return float(sufficient_variance(Continuous(), similarity=_lines(theta, (0.0, 1.0))[1], sigma2=np.ones(2)))


_TWO_LINES = {"R_i": "theta^2/2", "R_k": "(theta - 1)^2/2", "sigma": 1, "phi": "continuous", "eps": 2}


@typo(
    location="Lemma 2",
    claim="eps <= eps_i^t gives sigma_eff^t <= sigma_suf(eps)",
    truth="The ratios of iteration t are taken at theta_{t-1}, so that eps <= e_{t-1} is needed.",
    key="adaptive/lemma-2",
    direction="upper",
)
def lemma_2_index() -> Finding:
    # r = 0 at theta_0, so the first step follows the client's own gradient: theta_1 = (1 - eta) theta_0 - eta noise
    start, eta, sigma2, eps = 1.0, 0.5, 100.0, 12.0
    after = ((1 - eta) ** 2 * start**2 + eta**2 * sigma2) / 2
    assert after >= eps
    inputs = {
        **_TWO_LINES, "sigma": 10, "eps": eps, "theta_0": start, "eta": eta, "t": 1,
        "quantity": f"(sigma_eff^1)^2, with eps_i^1 = E[e_1] = {after:.5g} >= eps",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=sigma2 * _sufficient_at(eps), measured=sigma2 * _effective(start))


@false(
    location="Lemma 2",
    claim="eps <= eps_i^t, the mean of the excess e, gives sigma_eff <= sigma_suf(eps)",
    truth="The bound holds on the paths, and at the iterations, where e itself is at least eps.",
    key="adaptive/lemma-2",
    direction="upper",
)
def lemma_2_expectation() -> Finding:
    models = (0.1, 2.83)
    mean = sum(_lines(theta, (0.0,))[0] for theta in models) / 2
    assert mean >= 2
    inputs = {
        **_TWO_LINES,
        "theta": "0.1 or 2.83, equally likely",
        "quantity": f"largest sigma_eff^2 that occurs, with E[e] = {mean:.4g} >= eps",
    }
    return Finding(inputs=inputs, printed=_sufficient_at(2.0), measured=max(map(_effective, models)))


@typo(
    location="Lemma 2, proof",
    claim="|grad R_i(theta_i) - grad R_k(theta_k)|^2 <= b^2 + c |grad R_k(theta_k)|^2",
    truth="Both gradients are taken at theta_i, and c multiplies |grad R_i(theta_i)|^2.",
    key="adaptive/lemma-2",
    direction="upper",
)
def lemma_2_models() -> Finding:
    own, other = 1.0, 0.0
    b2, c = 0.0, 0.0  # the same loss
    inputs = {
        "R_i = R_k": "theta^2/2",
        "theta_i": own,
        "theta_k": other,
        "quantity": "b^2 + c |grad R_k(theta_k)|^2 against |grad R_i(theta_i) - grad R_k(theta_k)|^2",
    }
    return Finding(inputs=inputs, printed=b2 + c * other**2, measured=(own - other) ** 2)
