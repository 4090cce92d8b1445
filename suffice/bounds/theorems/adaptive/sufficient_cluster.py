"""The sufficient cluster bounds variances: Lemma 2's chain, Corollary 1's second display, and Section 4."""

from __future__ import annotations

from ...elementary import quotient
from ...parameters import new_parameter
from ...quantities import Quantity, new_quantity
from ...theorem import records, theorem
from ...units import DIMENSIONLESS, GRADIENT_SQUARED
from .paper import source
from .property_1_and_lemma_2 import lemma_2, lemma_2_printed

new_parameter(
    "least_psi",
    r"\min_{k \in \mathcal{N}_i^*} \psi(\rho_k)",
    DIMENSIONLESS,
    (0.01, 1.0),
    "least psi(rho_k) of the sufficient cluster, rho_k = (1 - b_k^2/(2 mu eps) - c_k)_+",
    positive=True,
    upper=1.0,
)
new_quantity(
    "SUFFICIENT_VARIANCE",
    "sigma_suf^2 = 1 / sum_k psi(rho_k) / sigma_k^2",
    r"\Big(\sum_k \sigma_k^{-2} \psi(\rho_k)\Big)^{-1}",
    GRADIENT_SQUARED,
)

# --- Lemma 2's chain ----------------------------------------------------------------------------------------
#
# psi does not fall. At every model with e >= eps, r_k >= rho_k(e) >= rho_k(eps) (Lemma 2), so psi(rho_k(eps)) > 0 gives
# psi(rho_k(e)) > 0 and psi(r_k) > 0: N*(eps) is in N*(e), which is in N^t. Term by term
#     1/sigma_psi^2 = sum_k psi(r_k)/sigma_k^2 >= 1/sigma_suf^2(e) >= 1/sigma_suf^2(eps).
# One peer and psi(x) = x^2, client i's own similarity being 1; further peers add their terms to the sum.


def _with_peer(rho, sigma2, peer_sigma2):
    """1/(1/sigma_i^2 + rho^2/sigma_k^2): sigma_i^2 where rho = 0, whatever the peer's noise."""
    return sigma2 / (1 + quotient(rho**2 * sigma2, peer_sigma2))


_PAIR = "client i has one peer, and psi(x) = x^2; R_i satisfies PL(mu) and, with the peer, Assumption 3 (b, c)"


@theorem(
    key="adaptive/lemma-2-variance",
    edition="printed",
    title="Effective variance above a precision",
    source=source("Lemma 2, its second chain", peer_sigma2=r"\sigma_k^2", sigma2=r"\sigma_i^2"),
    quantity=Quantity.EFFECTIVE_VARIANCE,
    mode="sure",
    hypotheses=_PAIR,
    fault="b stands where b^2 is needed: if b > 1, the sufficient cluster holds peers that get no weight.",
    monotone={"b": 1, "c": 1, "mu": -1, "eps": -1, "sigma2": 1, "peer_sigma2": 1},
)
def lemma_2_variance_printed(*, b, c, mu, eps, sigma2, peer_sigma2):
    """While the excess loss is at least eps, N*(eps) is in N^t and sigma_eff <= sigma_suf(eps), with b/(2 mu eps) in
    both."""
    return _with_peer(lemma_2_printed(b=b, c=c, mu=mu, eps=eps), sigma2, peer_sigma2)


@theorem(
    key="adaptive/lemma-2-variance",
    title="Effective variance above a precision",
    source=source("Lemma 2, its second chain", peer_sigma2=r"\sigma_k^2", sigma2=r"\sigma_i^2"),
    quantity=Quantity.EFFECTIVE_VARIANCE,
    mode="sure",
    hypotheses=_PAIR,
    tight="The bound is tight if mu = beta, b is attained and e = eps; and where the peer does not count.",
    monotone={"b": 1, "c": 1, "mu": -1, "eps": -1, "sigma2": 1, "peer_sigma2": 1},
)
def lemma_2_variance(*, b, c, mu, eps, sigma2, peer_sigma2):
    """At every model with R_i - min R_i = e >= eps: N*(eps) is in N*(e), which is in N^t, and
    sigma_psi^2 <= sigma_suf^2(e) <= sigma_suf^2(eps) = 1/(1/sigma_i^2 + sum_k rho_k^2/sigma_k^2); the bound is the
    last, with one peer."""
    return _with_peer(lemma_2(b=b, c=c, mu=mu, eps=eps), sigma2, peer_sigma2)


# --- Equal variances ----------------------------------------------------------------------------------------

_EQUAL = "all clients have the variance sigma2; near = |N*(eps)|, client i included"
_CLUSTER = {"near": r"|\mathcal{N}_i^*|"}

# sigma_k = sigma for all k: sigma^2/sigma_suf^2 is the sum of psi(rho_k) over N*, between |N*| min psi and |N*| psi(1).
# psi(1) = phi(1). The first is Corollary 1's second display, which puts sigma^2/(|N*| min psi) for sigma_suf^2 into
# T_eps; both corollaries and rows grow with s2, so that any bound of it may be put there.


@theorem(
    key="adaptive/corollary-1-variance",
    title="Sufficient variance by the size of the cluster, from above",
    source=source("Corollary 1, second display", **_CLUSTER),
    quantity=Quantity.SUFFICIENT_VARIANCE,
    mode="sure",
    hypotheses=_EQUAL,
    tight="The bound is tight if psi(rho_k) = psi(1) for all of N*.",
    monotone={"sigma2": 1, "near": -1, "least_psi": -1},
)
def corollary_1_variance(*, sigma2, near, least_psi):
    """sigma_suf^2(eps) <= sigma^2/(|N*(eps)| min psi(rho_k)), the minimum over N*(eps). In Corollary 1 and in the rows
    of Theorem 2 it may stand for s2."""
    return sigma2 / (near * least_psi)


@theorem(
    key="adaptive/section-4-variance",
    title="Sufficient variance by the size of the cluster, from below",
    source=source("Section 4, below Definition 3", **_CLUSTER),
    quantity=Quantity.SUFFICIENT_VARIANCE,
    direction="lower",
    mode="sure",
    hypotheses=f"{_EQUAL}; psi(1) = phi(1)",
    tight="The bound is tight if b_k = c_k = 0 for all of N*.",
    monotone={"sigma2": 1, "near": -1, "peak": -1},
)
def section_4_variance(*, sigma2, near, peak):
    """sigma_suf^2(eps) >= sigma^2/(psi(1) |N*(eps)|)."""
    return sigma2 / (peak * near)


THEOREMS = records(lemma_2_variance_printed, lemma_2_variance, corollary_1_variance, section_4_variance)
