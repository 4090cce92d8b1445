"""Dissimilarity bounds a peer's excess loss: the line below Assumption 3, and the bias of mixtures in Section 5."""

from __future__ import annotations

import numpy as np

from ...quantities import Quantity, new_quantity
from ...theorem import Definition, records, reduces_to, theorem
from ...units import LOSS
from .paper import source

new_quantity("PEER_EXCESS", "f_i(x_j*) - f_i*", r"f_i(x_j^\star) - f_i^\star", LOSS)
new_quantity(
    "MEAN_PEER_EXCESS",
    "(1/N) sum_ij lambda_ij (f_i(x_j*) - f_i*)",
    r"\frac1N\sum_{i,j}\lambda_{ij}\big(f_i(x_j^\star) - f_i^\star\big)",
    LOSS,
)

_WEAK = "every f_i is mu-strongly convex; |grad f_i(x_j*)| <= b_ij for all i and j (Assumption 3, weak)"

# d_H(D_i, D_j) <= b_ij and grad l(x_j*, .) in H give |grad f_i(x_j*)| = |grad f_i(x_j*) - grad f_j(x_j*)| <= b_ij.
# Strong convexity implies PL: f_i(x_j*) - f_i* <= |grad f_i(x_j*)|^2/(2 mu) <= b_ij^2/(2 mu). The weighted mean over i
# and j is the bias Phi of Theorem 3. Local models beside a common one, x_i = xbar - delta_i, are the weights
# lambda_ii = 1 - alpha_i, lambda_ij = alpha_i/(N - 1): their bias is sum_i alpha_i/(N (N - 1)) sum_j b_ij^2/(2 mu),
# where Section 5 prints sum_i alpha_i/(N (N - 1)) sum_j b_ij, a gradient and not a loss.


@theorem(
    key="sample-optimal/assumption-3-peer",
    title="Excess loss of a peer's optimum",
    source=source("Assumption 3, the line below it"),
    quantity=Quantity.PEER_EXCESS,
    mode="sure",
    hypotheses=_WEAK,
    tight="The bound is tight if f_i has curvature mu and b_ij is attained.",
    monotone={"b": 1, "mu": -1},
)
def peer_excess(*, b, mu):
    """f_i(x_j*) - f_i(x_i*) <= b_ij^2/(2 mu)."""
    return b**2 / (2 * mu)


_MIXTURE = f"{_WEAK}; lambda >= 0 has rows of sum 1, and in Section 5 lambda_ij = alpha_i/(N - 1) for j != i"


@theorem(
    key="sample-optimal/section-5-bias",
    edition="printed",
    title="Bias of a mixture of a common and a local model",
    source=source("Section 5, below Remark 1", bias=r"\frac1N\sum_{ij}\lambda_{ij}b_{ij}"),
    quantity=Quantity.MEAN_PEER_EXCESS,
    mode="sure",
    hypotheses=_MIXTURE,
    fault="b_ij is a gradient and the bias is a loss; b_ij^2/(2 mu) is meant, as in Theorem 3.",
    monotone={"bias": 1},
)
def mixture_bias_printed(*, bias):
    """Mixtures with the weights lambda_ii = 1 - alpha_i, lambda_ij = alpha_i/(N - 1) have bias terms of the form (1/N)
    sum_i alpha_i/(N - 1) sum_j b_ij; full collaboration has (1/N^2) sum_ij b_ij."""
    return 1 * bias


@reduces_to("sample-optimal/assumption-3-peer", "for one pair, lambda_ij = 1", lambda *, b, **_: {"bias2": b**2})
@theorem(
    key="sample-optimal/section-5-bias",
    title="Bias of a mixture of a common and a local model",
    source=source("Section 5, below Remark 1", bias2=r"\frac1N\sum_{ij}\lambda_{ij}b_{ij}^2"),
    quantity=Quantity.MEAN_PEER_EXCESS,
    mode="sure",
    hypotheses=_MIXTURE,
    tight="The bound is tight if all f_i have curvature mu and all b_ij are attained.",
    monotone={"bias2": 1, "mu": -1},
)
def mixture_bias(*, bias2, mu):
    """Mixtures with the weights lambda_ii = 1 - alpha_i, lambda_ij = alpha_i/(N - 1) have a bias of at most (1/N) sum_i
    alpha_i/(N - 1) sum_j b_ij^2/(2 mu); full collaboration has (1/N^2) sum_ij b_ij^2/(2 mu)."""
    return bias2 / (2 * mu)


# Theorem 5 with any threshold. Agents are linked if |mean_i - mean_j| <= u^(1/2), `link`; mean_i - E xi_i and mean_j
# - E xi_j differ by at most r for all pairs at once, `deviation` (r_S of theorem-5-samples with probability 1 - p).
# If r <= u^(1/2) the agents of a cluster are linked, so that components are unions of m <= M whole clusters, and
# clusters k links apart have means of xi at most k (u^(1/2) + r) apart. Over the ordered pairs of a connected graph
# of m vertices the mean of k^2 is at most (m^2 - 1)/6, a path's: a vertex whose removal leaves the rest connected
# sees at least one vertex at every distance up to its largest, so at most 1 + 4 + ... + (m - 1)^2 in all, and the
# rest is no nearer without it. f_i(x_j*) - f_i* <= |grad f_i(x_j*)|^2/(2 mu) <= l_b^2 |E xi_i - E xi_j|^2/(2 mu).


@theorem(
    key="sample-optimal/theorem-5-threshold",
    title="Peer excess of clusters estimated with any threshold",
    source=source("Theorem 5", link=r"\sqrt{u}"),
    quantity=Quantity.MEAN_PEER_EXCESS,
    mode="sure",
    hypotheses="there are `clusters` clusters of C agents each, and agents of a cluster have one E xi; f_i is "
    "mu-strongly convex, |grad f_j(x_i*)| <= sensitivity |E xi_i - E xi_j| (linear-dissimilarity gives it); mean_i - E "
    "xi_i and mean_j - E xi_j differ by at most deviation for all i and j",
    # No cluster falls apart.
    conditions=lambda *, link, deviation: {"no cluster apart, deviation <= link": (deviation, link)},
    tight="The bound is tight for clusters of two agents or more on a line, whose neighbours are link + deviation "
    "apart, and losses of curvature mu.",
    monotone={"mu": -1, "clusters": 1, "sensitivity": 1, "link": 1, "deviation": 1},
)
def theorem_5_threshold(*, mu, clusters, sensitivity, link, deviation):
    """If Lambda averages over the connected components of {|mean_i - mean_j| <= link}, the peer excess is at most the
    bound, and 0 if link + deviation < moment_gap; |W|_F^2/N <= 1/C. So theorem-3-sharp holds with smin = smax = 1,
    weight2 = 1/C + p and peer_excess the bound + p b_max^2/(2 mu), p the probability that deviation is exceeded."""
    return (clusters**2 - 1) * (sensitivity * (link + deviation)) ** 2 / (12 * mu)


THEOREMS = records(peer_excess, mixture_bias_printed, mixture_bias, theorem_5_threshold)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="sample-optimal/definition-1-affine",
        title="Distance d_H of two samples, H the 1-Lipschitz affine functions",
        source=source("Definition 1"),
        latex=r"d_{\mathcal{H}}(\mathcal{D}, \mathcal{D}') = \|\mathbb{E}\xi - \mathbb{E}\xi'\|",
        unit=LOSS,
        units={"own": LOSS, "peer": LOSS},
        shapes={"own": "nd", "peer": "nd"},
        # sup over |A| <= 1 of |A (E xi - E xi')| is at A = I
        reduce=lambda *, own, peer: np.linalg.norm(own.mean(-2) - peer.mean(-2), axis=-1),
    ),
)
