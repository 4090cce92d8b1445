"""Stein (1956, 1981), James and Stein (1961): what weights on others' estimates can and cannot do.

Site k has an estimate x_k ~ N(theta_k, v_k I_d), independent of the others', and uses theta_w = sum_k w_k x_k, or moves
by a rule that looks at the estimates. Third Berkeley Symposium, 197-206; Fourth, 361-379; Ann. Statist. 9, 1135-1151.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.support.errors import InputError

from ..elementary import difference, log, log1p
from ..papers import OWN
from ..parameters import new_parameter
from ..quantities import new_quantity
from ..theorem import Conditions, Definition, Source, Theorem, records, theorem
from ..units import DIMENSIONLESS, THETA, THETA_SQUARED

_PAPER = OWN["stein"].citation


new_parameter("own_weight", "w_i", DIMENSIONLESS, (0.01, 1.0), "weight of the site's own estimate")
new_parameter(
    "own_variance", "V_i", THETA_SQUARED, (0.01, 10.0), "total variance E|x_i - theta_i|^2 of the site's own estimate"
)
new_parameter(
    "apart2",
    r"D_w",
    THETA_SQUARED,
    (0.01, 10.0),
    "mean squared distance E|theta_w - x_i|^2 from the site's own estimate",
)
new_parameter("v", "v", THETA_SQUARED, (0.01, 10.0), "variance of one coefficient of an estimate", positive=True)
new_parameter(
    "shrink", "c", THETA_SQUARED, (0.01, 10.0), "constant of the weight min(1, c/|x_i - x_k|^2) on the other's estimate"
)
new_parameter(
    "gap2", r"\Delta^2", THETA_SQUARED, (0.01, 10.0), "mean squared distance E|x_k - theta_i|^2 of the other's estimate"
)
new_parameter("inner", "a", THETA, (0.01, 10.0), "radius within which the bias is averaged", positive=True)
new_parameter("outer", "b", THETA, (0.1, 100.0), "radius within which the rule never harms", positive=True)

new_parameter(
    "misplaced2",
    r"\|(I-P_c)\theta\|^2",
    THETA_SQUARED,
    (0.01, 10.0),
    "squared distance of all sites' means from a clustering's cluster means",
)
new_parameter("prior", r"\pi_c", DIMENSIONLESS, (0.01, 1.0), "prior weight of a clustering", positive=True, upper=1.0)
new_parameter("mean_score", r"\bar r", THETA_SQUARED, (1.0, 10.0), "E sum_c w_c r_c, r_c the score of a clustering")
new_parameter(
    "disagreement", r"\bar D", THETA_SQUARED, (0.01, 1.0), "E sum_c w_c |P_c x - mix|^2, how far the clusterings differ"
)
new_parameter("temperature", r"\beta", THETA_SQUARED, (0.1, 10.0), "beta of weights exp(-r_c/beta)", positive=True)

_RISK = new_quantity("RISK_OF_WEIGHTS", "E|theta_w - theta_i|^2", r"\mathbb{E}\|\theta_w - \theta_i\|^2", THETA_SQUARED)
_MIXED = new_quantity("RISK_OF_CLUSTERINGS", "E|mix - theta|^2", r"\mathbb{E}\|\hat\theta - \theta\|^2", THETA_SQUARED)
_INFORMED = new_quantity(
    "RISK_AND_INFORMATION",
    "E[|mix - theta|^2 + 4 v KL(w, pi)]",
    r"\mathbb{E}\big[\|\hat\theta - \theta\|^2 + 4v\,\mathrm{KL}(w, \pi)\big]",
    THETA_SQUARED,
)
_BIAS = new_quantity(
    "MEAN_SQUARED_BIAS",
    "mean over |theta| <= a of |E[estimate] - theta|^2",
    r"\frac{1}{|B_a|}\int_{\|\theta\|\le a}\|\mathbb{E}\hat\theta - \theta\|^2\,d\theta",
    THETA_SQUARED,
)


# theta_w - theta_i has the bias sum_k w_k theta_k - theta_i and the variance sum_k w_k^2 V_k; theta_w - x_i the same
# bias, and (1 - w_i)^2 V_i in place of w_i^2 V_i, since x_i is independent of the others: V_i (2 w_i - 1) more risk.
# So |theta_w - x_i|^2 + V_i (2 w_i - 1) is an unbiased estimate of the risk, for weights that look at no x.


@theorem(
    key="stein/weighting",
    title="Unbiased risk of a weighting",
    source=Source(paper=_PAPER, locator="1981, Theorem 1, for fixed weights"),
    quantity=_RISK,
    hypotheses="x_i is unbiased, of total variance V_i and uncorrelated with the others; the weights do not depend on "
    "any estimate",
    # What the site's own noise adds to the distance.
    conditions=lambda *, own_weight, own_variance, apart2: {
        "own noise (1 - own_weight)^2 own_variance <= apart2": ((1 - own_weight) ** 2 * own_variance, apart2)
    },
    tight="Equality always holds.",
    monotone={"apart2": 1, "own_weight": 1},
)
def weighting(*, own_weight, own_variance, apart2):
    """For fixed weights the squared distance of theta_w from the site's own estimate, plus V_i (2 w_i - 1), is an
    unbiased estimate of its risk."""
    return difference(apart2 + 2 * own_weight * own_variance, own_variance)


# For two sites the estimate is (1 - w)^2 D + V (2 w - 1), D = |x_i - x_k|^2, least at 1 - w = min(1, V/D): the
# positive-part rule of James and Stein about x_k with c = V = d v. Given x_k put z = x_i - x_k and h(z) = -c z/|z|^2.
# Stein's identity E z'h = v E div h about the mean gives the risk d v + E[|h|^2 + 2 v div h], that is
#     d v - c (2 (d - 2) v - c) E[1/|z|^2],   E[1/|z|^2] >= 1 / E|z|^2 = 1 / (|x_k - theta_i|^2 + d v),
# and cutting the weight at 1 lowers it. 1/x is convex, so a random x_k has the mean of its squared distance in it.


@theorem(
    key="stein/james-stein",
    title="Positive-part James-Stein between two sites",
    source=Source(paper=_PAPER, locator="1981, section 4; James and Stein (1961)"),
    quantity=_RISK,
    hypotheses="x_i ~ N(theta_i, v I_d) is independent of x_k",
    # No harm; c = d v, which minimises the unbiased estimate, meets it from d = 4 on.
    conditions=lambda *, d, v, shrink: {"shrink <= 2 (d - 2) v": (shrink, 2 * (d - 2) * v)},
    tight="The bound is tight as the sites move apart: the gain times Delta^2 tends to c (2 (d - 2) v - c).",
    monotone={"gap2": 1},
)
def james_stein(*, d, v, shrink, gap2):
    """For two sites and theta_w = x_i + min(1, c/|x_i - x_k|^2) (x_k - x_i), the risk is at most the bound, which is
    below d v, that of being alone. c = d v minimises the unbiased estimate of the risk of a weighting."""
    return difference(d * v, shrink * (2 * (d - 2) * v - shrink) / (gap2 + d * v))


# The exact risk. z = x_i - x_k ~ N(Delta, S I), S = v + v_k, and given x_k Stein's identity holds for h(z) =
# -min(1, c/|z|^2) z, which is Lipschitz: |h|^2 + 2 v div h is w - 2 v d where w = |z|^2 < c, beyond it
# (c^2 - 2 v (d - 2) c)/w. w/S is a Poisson(|Delta|^2/(2 S)) mixture of chi^2_k, k = d + 2 j, whose truncated
# moments are incomplete gamma functions.


def james_stein_risk(*, offset, v, peer_v, shrink):
    """E|theta_w - theta_i|^2 of the rule of `james_stein`, x_k ~ N(theta_k, v_k I), offset = theta_i - theta_k."""
    from scipy.special import gammainc, gammaincc, gammaln, xlogy

    offset, v, peer_v, c = (np.asarray(x, dtype=float) for x in (offset, v, peer_v, shrink))
    d = offset.shape[-1]
    if d < 3:
        raise InputError("d", d, "the rule needs at least 3 coefficients; with fewer nothing is gained without harm")
    S = v + peer_v
    mean = (offset**2).sum(-1) / (2 * S)
    reach = 12 * np.sqrt(mean.max(initial=0)) + 60  # of a Poisson variable, all but 1e-20
    j = np.floor(np.maximum(mean - reach, 0))[..., None] + np.arange(2 * reach)
    chance = np.exp(xlogy(j, mean[..., None]) - mean[..., None] - gammaln(j + 1))
    k, at = d + 2 * j, (c / (2 * S))[..., None]
    inside, below = gammainc(k / 2, at), k * S[..., None] * gammainc(k / 2 + 1, at)
    beyond = gammaincc(k / 2 - 1, at) / ((k - 2) * S[..., None])
    change = below - 2 * d * v[..., None] * inside + (c**2 - 2 * v * (d - 2) * c)[..., None] * beyond
    return d * v + (chance * change).sum(-1)


# Clusterings. x ~ N(theta, v I) holds all sites' estimates, P_c x replaces each by its cluster's mean: an orthogonal
# projection of rank d times the number of clusters. Its score r_c = |x - P_c x|^2 + 2 v tr P_c - n v is an unbiased
# estimate of its risk, |(I - P_c) theta|^2 + v tr P_c. Weights w_c ~ pi_c exp(-r_c/beta) have grad w_c = (2 w_c/beta)
# (P_c x - mix), mix = sum_c w_c P_c x, so Stein's identity gives
#     E|mix - theta|^2 = E[sum w r + (4 v/beta - 1) sum w |P_c x - mix|^2].
# At beta = 4 v the last term is 0, and w minimises sum w r + 4 v KL(w, pi) over all weights: at the weights that are
# all on c this is r_c + 4 v ln(1/pi_c). (Leung and Barron, IEEE Trans. Inf. Theory 52, 2006, 3396-3410.)

_CLUSTERINGS = (
    "N sites' estimates x ~ N(theta, v I) have d coefficients each; there are finitely many clusterings c, their "
    "priors pi_c have the sum 1, and P_c x are the cluster means; weights are w_c ~ pi_c exp(-r_c/beta), and mix = "
    "sum_c w_c P_c x"
)


@theorem(
    key="stein/clusterings-score",
    title="Unbiased risk of a mixture of clusterings",
    source=Source(paper=_PAPER, locator="1981, Theorem 1, for exponential weights"),
    quantity=_MIXED,
    hypotheses=_CLUSTERINGS,
    tight="Equality always holds.",
    monotone={"mean_score": 1, "temperature": -1},
)
def clusterings_score(*, mean_score, disagreement, temperature, v):
    """If clusterings are mixed with weights exp(-r_c/beta), the risk is the mean score, plus (4 v/beta - 1) times how
    far the clusterings disagree. At beta = 4 v it is the mean score."""
    return difference(mean_score + 4 * v / temperature * disagreement, disagreement)


@theorem(
    key="stein/clusterings",
    title="Oracle inequality for clusterings",
    source=Source(paper=_PAPER, locator="1981, Theorem 1, for exponential weights"),
    quantity=_INFORMED,
    hypotheses=f"{_CLUSTERINGS}; beta = 4 v. No separation of the clusters is needed",
    tight="The bound is tight if one clustering is far better than all others: KL(w, pi) is then ln(1/pi_c), and the "
    "risk is that of c alone.",
    monotone={"misplaced2": 1, "v": 1, "clusters": 1, "d": 1, "prior": -1},
)
def clusterings(*, misplaced2, v, clusters, d, prior):
    """With beta = 4 v, for every clustering c: the mixture's risk, and with it 4 v times E KL(w, pi) >= 0, is at most
    that of c plus 4 v ln(1/pi_c).

    |(I - P_c) theta|^2 + v d M + 4 v ln(1/pi_c), M its number of clusters."""
    return misplaced2 + v * d * clusters + 4 * v * log(1 / prior)


# N sites of d coefficients each have p = (N - 1) d contrasts x ~ N(theta, v I_p); a rule that moves with all estimates
# alike acts on these alone. With bias beta(theta) the information inequality bounds its risk from below,
#     R >= |beta|^2 + v tr((I + beta')(I + beta')') >= |beta|^2 + p v + 2 v div beta.
# If R <= p v for |theta| <= b, then for H(r), the integral of |beta|^2 over |theta| <= r <= b, the divergence theorem
# gives H + 2 v F <= 0 with F the flux through the sphere of area S r^(p-1), so by Cauchy and Schwarz
#     H' >= F^2 / (S r^(p-1)) >= H^2 / (4 v^2 S r^(p-1)),   1/H(a) >= int_a^b dr / (4 v^2 S r^(p-1)).
# Over the ball's volume S a^p / p. For p = 1, 2 the integral grows without limit in b: a rule that harms nowhere is
# unbiased, and x is the only unbiased one (the normal family is complete). For p >= 3 it stays below a^(2-p)/(p - 2),
# and H = 4 (p - 2) v^2 S a^(p-2) belongs to James and Stein's rule.


def line(*, v, inner, outer):
    """4 v^2 / (a (b - a))."""
    return 4 * v**2 / (inner * (outer - inner))


def plane(*, v, inner, outer):
    """8 v^2 / (a^2 ln(b/a))."""
    return 8 * v**2 / (inner**2 * log1p((outer - inner) / inner))


def within(*, inner, outer) -> Conditions:
    """One ball inside the other, short of where the bound is infinite: a rounding beyond, it would be negative."""
    return {"inner <= 0.999 outer": (inner, 0.999 * outer)}


def _harmless(p: int, bound: Any) -> Theorem:
    return Theorem(
        key=f"stein/harmless-{'line' if p == 1 else 'plane'}",
        title=f"No gain without harm, (N - 1) d = {p}",
        source=Source(
            paper=_PAPER, locator=f"1956, admissibility in {p} dimension{'s' * (p - 1)}, for a finite radius"
        ),
        statement=f"For N sites with estimates of d coefficients, (N - 1) d = {p}: if a rule that moves with all "
        "estimates alike has at most the risk of being alone wherever the sites' contrasts theta are within b of 0, "
        "its mean squared bias within a < b is at most the bound. As b grows that tends to 0: a rule that never harms "
        "is unbiased, and then it is being alone, without any gain.",
        quantity=_BIAS,
        mode="sure",
        hypotheses="x ~ N(theta, v I); E|estimate - theta|^2 <= (N - 1) d v for all |theta| <= b",
        bound=bound,
        conditions=within,
        tight="The bound is tight as a^2/v and b/a grow, for moves of about 2 v/(b - |x|) towards 0."
        if p == 1
        else "The bound is tight as ln(a^2/v) grows, for moves of about 2 v/(|x| ln(b/|x|)) towards 0.",
        monotone={"v": 1, "outer": -1},
    )


THEOREMS = records(weighting, james_stein, clusterings_score, clusterings, _harmless(1, line), _harmless(2, plane))

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="stein/james-stein-risk",
        title="Exact risk of positive-part James-Stein between two sites",
        source=Source(paper=_PAPER, locator="1981, section 4"),
        latex=r"dv + \mathbb{E}\Big[(w - 2vd)\mathbf{1}\{w < c\} + \frac{c^2 - 2v(d-2)c}{w}\mathbf{1}\{w \ge c\}\Big],"
        r"\quad w = \|x_i - x_k\|^2",
        unit=THETA_SQUARED,
        units={"offset": THETA, "peer_v": THETA_SQUARED},
        shapes={"offset": "d", "v": "", "peer_v": "", "shrink": ""},
        reduce=james_stein_risk,
    ),
)
