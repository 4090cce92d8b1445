"""Assumption 4 (collaborativeness), Example 2, and what the assumption says about two clients and about a cluster."""

from __future__ import annotations

from ...collaborativeness import consensus_distance, isotropic_heterogeneity, least_gradient_sum, relative_heterogeneity
from ...quantities import Quantity
from ...theorem import Conditions, Definition, printed, records, theorem
from ...units import CURVATURE, GRADIENT_SQUARED, THETA, THETA_SQUARED
from .paper import source

# --- Example 2: f_i = a_i |x - m_i|^2 / 2 ---------------------------------------------------------------------------
#
# Same minimiser m: the gradients' difference and sum are (a_i - a_j)(x - m) and (a_i + a_j)(x - m).
# Minimisers at distance D, s = a_i^2 + a_j^2: a_i^2 |x - m_i|^2 + a_j^2 |x - m_j|^2 is least at
# x = (a_i^2 m_i + a_j^2 m_j)/s, where it is a_i^2 (a_j^2/s)^2 D^2 + a_j^2 (a_i^2/s)^2 D^2 = a_i^2 a_j^2 D^2 / s.
# The print has s^2.


@theorem(
    key="cobo/example-2-similarity",
    title="Collaborativeness of two quadratics of one cluster",
    source=source("Example 2"),
    quantity=Quantity.COLLABORATIVENESS,
    mode="sure",
    hypotheses="both losses have one minimiser m",
    tight="Equality holds at every x; M_ij = 0, which (A4) as printed excludes, is allowed.",
)
def example_2_similarity(*, own_curvature, peer_curvature):
    """For f_i = a_i |x - m|^2 / 2 and f_j = a_j |x - m|^2 / 2, (A4) holds with M_ij = |a_i - a_j| / (a_i + a_j)."""
    return abs(own_curvature - peer_curvature) / (own_curvature + peer_curvature)


@theorem(
    key="cobo/example-2-dissimilarity",
    title="Dissimilarity of two quadratics of different clusters",
    source=source("Example 2"),
    quantity=Quantity.GRADIENT_SUM,
    direction="lower",
    mode="sure",
    hypotheses="the minimisers of both losses are at distance D",
    tight="The bound is attained at x = (a_i^2 m_i + a_j^2 m_j) / (a_i^2 + a_j^2).",
    monotone={"separation": 1, "own_curvature": 1, "peer_curvature": 1},
)
def example_2_dissimilarity(*, own_curvature, peer_curvature, separation):
    """For f_i = a_i |x - m_i|^2 / 2 and f_j = a_j |x - m_j|^2 / 2, D = |m_i - m_j|: at every x, |grad f_i|^2 + |grad
    f_j|^2 >= a_i^2 a_j^2 / (a_i^2 + a_j^2) D^2 = zeta_ij^2."""
    return own_curvature**2 * peer_curvature**2 / (own_curvature**2 + peer_curvature**2) * separation**2


@printed(
    example_2_dissimilarity,
    fault="(a_i^2 + a_j^2)^2 stands where a_i^2 + a_j^2 is needed, so that the bound is no squared gradient and is too "
    "large when a_i^2 + a_j^2 < 1; and the sum is at least its minimum, not equal to it.",
    monotone={"separation": 1},
)
def example_2_dissimilarity_printed(*, own_curvature, peer_curvature, separation):
    """For f_i = a_i |x - m_i|^2 / 2 and f_j = a_j |x - m_j|^2 / 2, D = |m_i - m_j| > 0: |grad f_i|^2 + |grad
    f_j|^2 = a_i^2 a_j^2 / (a_i^2 + a_j^2)^2 D^2 = zeta_ij^2."""
    return own_curvature**2 * peer_curvature**2 / (own_curvature**2 + peer_curvature**2) ** 2 * separation**2


# --- Assumption 4, two clients --------------------------------------------------------------------------------------


def collaborative(*, M) -> Conditions:
    """Beyond M = 1 the assumption lets gradients point in opposite directions."""
    return {"relative heterogeneity M <= 1": (M, 1)}


_PAIR = "f_i and f_j satisfy |grad f_i - grad f_j| <= M |grad f_i + grad f_j|, both gradients at one point"

# S = |grad f_i|^2 + |grad f_j|^2 and p = <grad f_i, grad f_j>: S - 2 p <= M^2 (S + 2 p), hence
# p >= (1 - M^2) S / (2 (1 + M^2)).


@theorem(
    key="cobo/alignment",
    title="Collaborative clients' gradients are aligned",
    source=source("Appendix A.2, case 1", gradient=r"\|\nabla f_i\|"),
    quantity=Quantity.INNER_PRODUCT,
    direction="lower",
    mode="sure",
    hypotheses=_PAIR,
    conditions=collaborative,
    tight="The bound is tight if (A4) holds with equality.",
    monotone={"gradient": 1, "peer_gradient": 1, "M": -1},
)
def alignment(*, M, gradient, peer_gradient):
    """Under (A4) with M < 1 the inner product of the two gradients is at least (1 - M^2) / (2 (1 + M^2)) (|grad f_i|^2
    + |grad f_j|^2): with exact gradients a weight at 1 stays there."""
    return (1 - M) * (1 + M) / (2 * (1 + M**2)) * (gradient**2 + peer_gradient**2)


# --- Assumption 4, a cluster of c -----------------------------------------------------------------------------------
#
# Sum A4 over the ordered pairs i != j, with g the mean of the g_i = grad f_i(x) and V = sum_i |g_i - g|^2:
#     sum |g_i - g_j|^2 = 2 c V,        sum |g_i + g_j|^2 = (2 c - 4) V + 4 c (c - 1) |g|^2.
# Hence V (c - (c - 2) M^2) <= 2 c (c - 1) M^2 |g|^2, and c - (c - 2) M^2 = c (1 - M^2) + 2 M^2 does not cancel.


@theorem(
    key="cobo/cluster-dissimilarity",
    title="Gradients of a cluster around their mean",
    source=source("(A4), summed over a cluster"),
    quantity=Quantity.CLUSTER_DISSIMILARITY,
    mode="sure",
    hypotheses="(A4) holds for every pair of the cluster, and M is the largest M_ij",
    conditions=collaborative,
    tight="The bound is tight for gradients g + u_i, where the u_i are the corners of a regular simplex orthogonal to "
    "g.",
    monotone={"M": 1, "size": 1},
)
def cluster_dissimilarity(*, M, size):
    """If all pairs of a cluster of c clients satisfy (A4) with M <= 1, then at every x (1/c) sum_i |grad f_i - grad
    fbar|^2 <= m^2 |grad fbar|^2, m^2 = 2 M^2 (c - 1) / (c - (c - 2) M^2), fbar the cluster's mean loss."""
    return 2 * M**2 * (size - 1) / (size * (1 - M) * (1 + M) + 2 * M**2)


THEOREMS = records(
    example_2_similarity, example_2_dissimilarity_printed, example_2_dissimilarity, alignment, cluster_dissimilarity
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="cobo/example-2-cluster",
        title="Relative heterogeneity of a cluster of isotropic quadratics",
        source=source("Example 2"),
        latex=r"M = \max_{i,j} \frac{|a_i - a_j|}{a_i + a_j}",
        units={"curvature": CURVATURE},
        reduce=isotropic_heterogeneity,
    ),
    Definition(
        key="cobo/assumption-4-similarity",
        title="Relative heterogeneity of two quadratics with one minimiser",
        source=source("(A4), first case"),
        latex=r"M_{ij} = \|(H_i - H_j)(H_i + H_j)^{-1}\|",
        units={"own": CURVATURE, "peer": CURVATURE},
        shapes={"own": "dd", "peer": "dd"},
        reduce=relative_heterogeneity,
    ),
    Definition(
        key="cobo/assumption-4-dissimilarity",
        title="Least sum of squared gradients of two quadratics",
        source=source("(A4), second case"),
        latex=r"\zeta_{ij}^2 = (m_i - m_j)^T (H_i^{-2} + H_j^{-2})^{-1} (m_i - m_j)",
        unit=GRADIENT_SQUARED,
        units={"own": CURVATURE, "peer": CURVATURE, "shift": THETA},
        shapes={"own": "dd", "peer": "dd", "shift": "d"},
        reduce=least_gradient_sum,
    ),
    Definition(
        key="cobo/consensus-distance",
        title="Consensus distance of a cluster's models",
        source=source("Theorem I: half of its mean over pairs"),
        latex=r"\Xi = \frac1c\sum_i \|x_i - \bar x\|^2 = \frac1{2c^2}\sum_{i,j} \|x_i - x_j\|^2",
        unit=THETA_SQUARED,
        units={"models": THETA},
        shapes={"models": "nd"},
        reduce=consensus_distance,
    ),
)
