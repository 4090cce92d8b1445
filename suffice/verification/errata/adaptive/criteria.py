"""Errata of the adaptive paper on its criteria and their estimation: Remark 3, Section 4, Equation (1)."""

from __future__ import annotations

import numpy as np

from suffice.bounds import Binary, Continuous, find, sufficient_variance
from suffice.bounds.similarity_estimator import similarity_estimate
from suffice.bounds.sufficient_variance import combined_variance

from ..erratum import Finding
from .paper import constant, loose, typo

# --- Remark 3, Definition 3 and Section 4 ------------------------------------------------------------------------


@typo(
    location="Remark 3",
    claim="sigma_phi^2 = 1 / sum_k sigma_k^-2 psi(r_k)",
    truth="phi(r_k) stands in the sum.",
    key="adaptive/remark-3-continuous",
    direction="equality",
)
def remark_3_phi() -> Finding:
    similarity, sigma2, criterion = np.array([1.0, 0.5]), np.ones(2), Continuous()
    printed = combined_variance(values=criterion.psi(similarity), sigma2=sigma2)
    measured = combined_variance(values=criterion.phi(similarity), sigma2=sigma2)
    inputs = {"sigma": [1, 1], "r": [1, 0.5], "phi": "continuous", "quantity": "sigma_phi^2"}
    return Finding(inputs=inputs, printed=float(printed), measured=float(measured))


@constant(
    location="Section 4, after Definition 3",
    claim="the least psi_bin on the sufficient cluster is lambda",
    truth="psi_bin(lambda) = lambda^2, so that the least value is between lambda^2 and lambda.",
    key="adaptive/definition-2-binary",
    direction="equality",
)
def definition_3_least_psi() -> Finding:
    threshold = 0.5
    psi = Binary(threshold=threshold).psi(np.linspace(0, 1, 1001))
    inputs = {"lambda": threshold, "quantity": "least positive value of psi_bin"}
    return Finding(inputs=inputs, printed=threshold, measured=float(psi[psi > 0].min()))


@loose(
    location="Section 4, after Definition 3",
    claim="min psi_cont over N* can become arbitrarily small, which may degrade the bound sigma^2/(|N*| min psi_cont)",
    truth="The minimum can; the sum that it bounds, sigma_suf^2 of Definition 2, is at most the one of binary weights "
    "at every lambda.",
    key="adaptive/continuous-dominates",
)
def definition_3_continuous() -> Finding:
    rho, sigma2 = np.array([1.0, 0.6, 0.01]), np.ones(3)
    psi = Continuous().psi(rho)
    variance = sufficient_variance(Continuous(), similarity=rho, sigma2=sigma2)
    thresholds = Binary(threshold=rho[:, None])
    binary = sufficient_variance(thresholds, similarity=rho, sigma2=sigma2).min()
    inputs = {
        "sigma": 1,
        "1 - b^2/(2 mu eps)": rho.tolist(),
        "quantity": f"sigma_suf,cont^2; sigma_suf,bin^2 is at least {binary:.4g} for every lambda",
    }
    return Finding(inputs=inputs, printed=float(1 / (len(rho) * psi.min())), measured=float(variance))


# --- Equation (1) -------------------------------------------------------------------------------------------


def _normal() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the trapezoid rule for a standard normal variable."""
    x = np.linspace(-9, 9, 901)
    weight = np.exp(-(x**2) / 2)
    return x, weight / weight.sum()


@loose(
    location="Equation (1)",
    claim="rhat_ik = (1 - Z_ik/Z_i)_+ takes the place of r_ik, which is 1 for identical clients",
    truth="E Z_ik < E Z_i holds only while |grad R_i|^2 > sigma_k^2/m: near its optimum a client drops clients that "
    "are identical to it.",
    key="adaptive/equation-1-identical",
    direction="other",
)
def equation_1_identical() -> Finding:
    from scipy.special import ndtr

    gradient = 0.1**0.5
    x, weight = _normal()
    own = gradient + x
    # rhat > 0 iff the peer's sample is closer to the client's than 0 is
    chance = ndtr(own + np.abs(own) - gradient) - ndtr(own - np.abs(own) - gradient)
    inputs = {
        "grad R_i = grad R_k": "0.1^(1/2)", "sigma": 1, "d": 1, "m": 1,
        "quantity": "P(rhat_ik > 0), Gaussian noise; r_ik = 1",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=1.0, measured=float(weight @ chance))


@loose(
    location="Equation (1)",
    claim="rhat_ik = (1 - Z_ik/Z_i)_+ takes the place of r_ik, which is 0 for opposite gradients",
    truth="The positive part makes the mean of the estimate positive, so that dissimilar clients are admitted by "
    "chance.",
    key="adaptive/equation-1-gap",
    direction="other",
)
def equation_1_dissimilar() -> Finding:
    own, peer = 1.0, -1.0
    x, weight = _normal()
    estimate = similarity_estimate(own=(own + x)[:, None, None, None], peer=(peer + x)[:, None, None])
    true = max(1 - (peer - own) ** 2 / own**2, 0.0)
    inputs = {"grad R_i": 1, "grad R_k": -1, "sigma": 1, "d": 1, "m": 1, "quantity": "E[rhat_ik], Gaussian noise"}
    return Finding(inputs=inputs, printed=true, measured=float(weight @ estimate @ weight))


# --- the size of the sufficient cluster -----------------------------------------------------------------------


@constant(
    location="Lemma 2, its second chain",
    claim="above the precision eps, sigma_eff <= sigma_suf(eps), with the b/(2 mu eps) of Definition 2",
    truth="The term is b^2/(2 mu eps): if b > 1, the printed cluster can hold peers that get no weight.",
    key="adaptive/lemma-2-variance",
)
def lemma_2_chain() -> Finding:
    # R_i = x^2/2 at e = eps = 2: |grad R_i|^2 = 4 and the peer is 2 away: r = 0, where 1 - b/(2 mu eps) is 1/2
    chain = find("adaptive/lemma-2-variance", "printed").bound
    assert chain is not None
    printed = chain(b=2.0, c=0.0, mu=1.0, eps=2.0, sigma2=1.0, peer_sigma2=1.0)
    r = max(0.0, 1 - 2.0**2 / 4)
    variance = sufficient_variance(Continuous(), similarity=np.array([1.0, r]), sigma2=np.ones(2))
    inputs = {"R_i": "x^2/2", "R_k": "(x - 2)^2/2", "x": 2, "eps": 2, "b": 2, "c": 0, "sigma": 1, "phi": "continuous",
              "quantity": "sigma_eff^2, e = eps"}  # fmt: skip
    return Finding(inputs=inputs, printed=float(printed), measured=float(variance))


@typo(
    location="Corollary 1, second display, and Appendix B.3",
    claim="sigma_suf^2 <= sigma^2/(N* min_{j in N*} psi(1 - b_ik/(2 mu eps)))",
    truth="The minimum is over j, so that b_ij (squared) stands in it; and |N*|, not the set, stands before the "
    "minimum.",
    key="adaptive/corollary-1-variance",
)
def corollary_1_index() -> Finding:
    rho = np.array([1.0, 0.9, 0.3])
    psi = Continuous().psi(rho)
    variance = sufficient_variance(Continuous(), similarity=rho, sigma2=np.ones(3))
    inputs = {
        "sigma": 1, "phi": "continuous", "1 - b_j^2/(2 mu eps)": rho.tolist(),
        "quantity": "sigma_suf^2 against the display at k = i",
    }  # fmt: skip
    return Finding(inputs=inputs, printed=float(1 / (len(rho) * psi[0])), measured=float(variance))


@typo(
    location="Section 4, below Definition 3",
    claim="sigma_suf^2 > sigma^2/(psi(1) |N*|), for equal variances and c = 0",
    truth=">= is meant, as in the display that proves it; the two are equal where b_k = 0 for all of N*.",
    key="adaptive/section-4-variance",
    direction="equality",
)
def section_4_strict() -> Finding:
    variance = sufficient_variance(Continuous(), similarity=np.ones(4), sigma2=np.ones(4))
    larger = variance > 1 / (Continuous().psi(1.0) * 4)
    inputs = {"N": 4, "sigma": 1, "b": 0, "c": 0, "quantity": "1 if sigma_suf^2 is larger, 0 if not"}
    return Finding(inputs=inputs, printed=1.0, measured=float(larger))
