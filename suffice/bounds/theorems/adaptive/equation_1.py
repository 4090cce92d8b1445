"""Equation (1): what the estimator of similarity measures. The paper states no guarantee for it.

m stochastic gradients of each client at theta_i, unbiased, of total variances sigma_i^2 and sigma_k^2, uncorrelated
across clients and samples. A mean of m of them has variance sigma^2 / m, and E|X|^2 = |E X|^2 + Var X.
"""

from __future__ import annotations

from ...elementary import quotient
from ...quantities import Quantity
from ...similarity_estimator import debiased_estimate, similarity_estimate
from ...theorem import Definition, records, theorem
from ...units import GRADIENT
from .paper import source

_SAMPLES = (
    "each client draws m unbiased stochastic gradients at theta_i, uncorrelated across clients and samples, of total "
    "variances at most sigma_i^2 and sigma_k^2"
)
_SOURCE = source("Equation (1)", sigma2=r"\sigma_i^2")


@theorem(
    key="adaptive/equation-1-gap",
    title="Mean of the estimated gap",
    source=_SOURCE,
    quantity=Quantity.MEAN_GAP_ESTIMATE,
    hypotheses=_SAMPLES,
    tight="Equality always holds if sigma_i^2 and sigma_k^2 are the variances at theta_i.",
    monotone={"gap": 1, "sigma2": 1, "peer_sigma2": 1, "m": -1},
)
def equation_1_gap(*, gap, sigma2, peer_sigma2, m):
    """Z_ik = |mean_j (g_i^j - g_k^j)|^2 over m samples has mean |grad R_i - grad R_k|^2 + (sigma_i^2 + sigma_k^2)/m,
    which is too large, so that similarity is underestimated far from the clip at 0."""
    return gap**2 + (sigma2 + peer_sigma2) / m


@theorem(
    key="adaptive/equation-1-norm",
    title="Mean of the estimated squared gradient",
    source=_SOURCE,
    quantity=Quantity.MEAN_NORM_ESTIMATE,
    hypotheses=_SAMPLES,
    tight="Equality always holds if sigma_i^2 is the variance at theta_i.",
    monotone={"gradient": 1, "sigma2": 1, "m": -1},
)
def equation_1_norm(*, gradient, sigma2, m):
    """Z_i = |mean_j g_i^j|^2 over m samples has mean |grad R_i|^2 + sigma_i^2/m."""
    return gradient**2 + sigma2 / m


# Identical clients: the quotient of the two. It is below 1 - lambda, so that means are found lambda-similar, iff
# |grad R_i|^2 > (lambda sigma_i^2 + sigma_k^2) / ((1 - lambda) m); with lambda -> 0 iff |grad R_i|^2 > sigma_k^2 / m.


@theorem(
    key="adaptive/equation-1-identical",
    title="Identical clients as the estimator sees them",
    source=_SOURCE,
    quantity=Quantity.IDENTICAL_RATIO,
    hypotheses=_SAMPLES.replace("at most ", "exactly "),
    tight="Equality always holds.",
    monotone={"gradient": -1, "peer_sigma2": 1, "m": -1},
)
def equation_1_identical(*, gradient, sigma2, peer_sigma2, m):
    """For R_k = R_i, whose similarity is 1, E[Z_ik] / E[Z_i] is the bound. It is below 1, so that they look similar at
    all, iff |grad R_i|^2 > sigma_k^2/m: near its optimum a client drops clients that are identical to it."""
    return quotient(sigma2 + peer_sigma2, m * gradient**2 + sigma2)


THEOREMS = records(equation_1_gap, equation_1_norm, equation_1_identical)

_GRADIENTS = {"own": GRADIENT, "peer": GRADIENT}
_SHAPES = {"own": "nd", "peer": "nd"}

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="adaptive/equation-1-estimate",
        title="Similarity estimated from m stochastic gradients of each client",
        source=source("Equation (1)"),
        latex=r"\hat r_{ik} = \Big(1 - \frac{Z_{ik}}{Z_i}\Big)_+,\quad "
        r"Z_{ik} = \Big\|\frac1m\sum_{j=1}^m (g_i^j - g_k^j)\Big\|^2,\ Z_i = \Big\|\frac1m\sum_{j=1}^m g_i^j\Big\|^2",
        units=_GRADIENTS,
        shapes=_SHAPES,
        reduce=similarity_estimate,
    ),
    Definition(
        key="adaptive/equation-1-debiased",
        title="Similarity estimated without bias in Z_ik and Z_i",
        source=source("Equation (1), debiased"),
        latex=r"\hat r_{ik} = \min\Big(1, \Big(1 - \frac{Z_{ik} - \hat v_{ik}/m}{Z_i - \hat v_i/m}\Big)_+\Big),\quad "
        r"\hat v = \text{sample variances of } g_i^j - g_k^j \text{ and } g_i^j",
        units=_GRADIENTS,
        shapes=_SHAPES,
        reduce=debiased_estimate,
    ),
)
