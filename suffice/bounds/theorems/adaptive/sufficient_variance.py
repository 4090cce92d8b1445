"""The sufficient variance of Definition 2: tight for binary weights, its limits, and the best threshold."""

from __future__ import annotations

import numpy as np

from ...elementary import log, maximum
from ...quantities import Quantity
from ...sufficient_cluster import best_threshold
from ...sufficient_variance import combined_variance
from ...theorem import Conditions, Definition, no_conditions, printed, records, theorem
from ...units import GRADIENT_SQUARED, Unit
from .paper import source

# --- Sufficient variance of binary weights -------------------------------------------------------------------


def members(*, threshold, mass, similar_mass) -> Conditions:
    """Similarities of members are between lambda and 1."""
    return {
        "similarities at least lambda, threshold mass <= similar_mass": (threshold * mass, similar_mass),
        "similarities at most 1, similar_mass <= mass": (similar_mass, mass),
    }


_RUNNING = (
    "weights are the binary ones of Definition 3; S and P sum 1/sigma_k^2 and rho_k/sigma_k^2 over the k with rho_k >= "
    "lambda"
)

# Similarities are at least rho; S = sum a_k and P = sum a_k rho_k over the k with rho_k >= lambda. Binary weights give
# V = sum a / (sum a r)^2 over the realised members. V falls when a member's r_k rises: members sit at rho_k. Others may
# join at r = lambda, with mass x / lambda in all: V = (S + x / lambda) / (P + x)^2 is largest at
# x = max(0, P - 2 lambda S). Definition 2 gives 1 / (lambda P), which is larger: (P + x)^2 >= lambda P (S + x / lambda)
# for P >= lambda S and x >= 0.


@theorem(
    key="adaptive/definition-2-binary",
    title="Tight sufficient variance of binary weights",
    source=source("Definition 2, sharpened"),
    quantity=Quantity.COMBINED_VARIANCE,
    mode="sure",
    hypotheses=_RUNNING,
    conditions=members,
    tight="The bound is tight if r_k = rho_k for the members, beside peers of total mass x/lambda with rho_k < lambda "
    "= r_k.",
    monotone={"threshold": -1, "similar_mass": -1},
)
def definition_2_binary(*, threshold, mass, similar_mass):
    """While r_k >= rho_k for all k: V_t <= (S + x/lambda) / (P + x)^2 with x = max(0, P - 2 lambda S); that is S/P^2 if
    lambda >= 1/2.

    (S + x / lambda) / (P + x)^2, x = max(0, P - 2 lambda S)."""
    joining = maximum(0, similar_mass - 2 * threshold * mass)
    return (mass + joining / threshold) / (similar_mass + joining) ** 2


@printed(
    definition_2_binary,
    fault="The statement is true (given b^2 for b in rho_k) and not sharp: the variance of the weights is below "
    "sigma_psi^2, by up to 1/lambda.",
    title="Sufficient variance of binary weights",
    source=source("Definition 2"),
    conditions=no_conditions,
    monotone={"threshold": -1, "similar_mass": -1},
)
def definition_2_binary_printed(*, threshold, similar_mass):
    """While r_k >= rho_k for all k: V_t <= 1 / (lambda P)."""
    return 1 / (threshold * similar_mass)


# --- The price of the best threshold -------------------------------------------------------------------------
#
# Units with a_i = 1; similarities in falling order, r_1 = r_i = 1; R_j = sum_{l <= j} a_l r_l. The best threshold
# gives 1 / sigma_bin^2 = m := max_j r_j R_j, continuous weights 1 / sigma_cont^2 = K := sum_j a_j r_j^2. Divide every
# r_j by sqrt(m): then m = 1 and r_1 <= 1. As r_j R_j <= 1 and ln(R_j / R_{j-1}) >= (R_j - R_{j-1}) / R_j,
#     a_j r_j^2 <= a_j r_j / R_j <= ln(R_j / R_{j-1}).
# Let j be the first with R_j >= 1 (if there is none, K <= r_1 R_N <= 1). If j > 1, put x = R_{j-1} < 1 and R = R_j;
# then r_1 <= x and
#     K <= r_1 x + a_j r_j^2 + ln(R_N / R),   a_j r_j^2 = r_j (R - x) <= min(x, 1/R) (R - x).
# If x R <= 1, r_1 x + a_j r_j^2 <= x R <= 1 <= 1 + ln R. Otherwise r_1 x + a_j r_j^2 - ln R <= x^2 + 1 - x/R - ln R,
# which falls in R >= 1/x and is 1 + ln x <= 1 there. If j = 1, a_1 r_1^2 <= 1. So K <= 1 + ln R_N, and
#     R_N^2 = sum_j (2 a_j r_j R_j - a_j^2 r_j^2) <= 1 + 2 sum_{k != i} a_k = 2/w - 1.
# Attained by many peers of vanishing mass with r_j R_j = 1: then every inequality is an equality.


@theorem(
    key="adaptive/best-threshold-gap",
    title="Price of the best binary threshold",
    source=source("Definition 3, with the best threshold"),
    quantity=Quantity.VARIANCE_RATIO,
    mode="sure",
    hypotheses="both have the same lower bounds rho_k of the similarities; rho_i = 1",
    # A share, so that the logarithm is of a number >= 1.
    conditions=lambda *, share: {"share <= 1": (share, 1.0)},
    tight="The bound is tight for many peers of vanishing share, if rho_k sum_{rho_l >= rho_k} rho_l "
    "sigma_i^2/sigma_l^2 = 1 for every k.",
    monotone={"share": -1},
)
def best_threshold_gap(*, share):
    """At the threshold of least sufficient variance, Definition 2's binary value is at most 1 + ln(2/w - 1)/2 times its
    continuous one, w the inverse-variance share of client i; that is 1 + ln(2N - 1)/2 for equal variances."""
    return 1 + log(2 / share - 1) / 2


# --- Limits of Definition 2 in the precision -------------------------------------------------------------------
#
# rho_k(eps) = (1 - b_k^2/(2 mu eps) - c_k)_+ is (1 - c_k)_+ at every eps if b_k = 0. Otherwise it is 0 for small eps
# and rises to (1 - c_k)_+ from below as eps grows, without reaching it: where psi jumps, its left limit stays.


def limit_at_zero_printed(*, values, b, sigma2):
    """1 / sum_k sigma_k^2 psi((1 - c_k)_+) 1{b_k = 0}."""
    with np.errstate(divide="ignore"):
        return combined_variance(values=values * (b == 0), sigma2=1 / sigma2)


def limit_at_zero(*, values, b, sigma2):
    """1 / sum_k sigma_k^-2 psi((1 - c_k)_+) 1{b_k = 0}; infinite when no client, not even i, has b_k = 0."""
    with np.errstate(divide="ignore"):
        return combined_variance(values=values * (b == 0), sigma2=sigma2)


def limit_at_infinity(*, values, left, b, sigma2):
    """1 / sum_k sigma_k^-2 psi_k, psi_k the value of psi at (1 - c_k)_+ if b_k = 0, else its left limit there."""
    return combined_variance(values=np.where(np.equal(b, 0), values, left), sigma2=sigma2)


THEOREMS = records(definition_2_binary_printed, definition_2_binary, best_threshold_gap)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="adaptive/definition-2-limit-zero",
        edition="printed",
        title="Sufficient variance as the precision goes to 0, from values psi((1 - c_k)_+)",
        source=source("after Definition 2"),
        latex=r"\Big(\sum_k \sigma_k^2 \psi((1 - c_{ik})_+) \mathbf{1}\{b_{ik} = 0\}\Big)^{-1}",
        unit=Unit(-2, 2),
        reduce=limit_at_zero_printed,
        fault="sigma_k^2 stands where 1/sigma_k^2 is needed; the unit is that of an inverse variance.",
    ),
    Definition(
        key="adaptive/definition-2-limit-zero",
        title="Sufficient variance as the precision goes to 0, from values psi((1 - c_k)_+)",
        source=source("after Definition 2"),
        latex=r"\Big(\sum_k \sigma_k^{-2} \psi((1 - c_{ik})_+) \mathbf{1}\{b_{ik} = 0\}\Big)^{-1}",
        unit=GRADIENT_SQUARED,
        reduce=limit_at_zero,
    ),
    Definition(
        key="adaptive/definition-2-limit-infinity",
        edition="printed",
        title="Sufficient variance as the precision grows, from values psi((1 - c_k)_+)",
        source=source("after Definition 2"),
        latex=r"\Big(\sum_k \sigma_k^{-2} \psi((1 - c_{ik})_+)\Big)^{-1}",
        unit=GRADIENT_SQUARED,
        reduce=combined_variance,
        fault="The formula is not the limit where psi jumps at 1 - c_k and b_k > 0, because peer k never enters there; "
        "and it is printed as a limit of sigma_cont.",
    ),
    Definition(
        key="adaptive/definition-2-limit-infinity",
        title="Sufficient variance as the precision grows, from psi((1 - c_k)_+) and its left limits there",
        source=source("after Definition 2"),
        latex=r"\Big(\sum_{b_{ik} = 0} \sigma_k^{-2} \psi((1 - c_{ik})_+) + "
        r"\sum_{b_{ik} > 0} \sigma_k^{-2} \psi((1 - c_{ik})_+^-)\Big)^{-1}",
        unit=GRADIENT_SQUARED,
        reduce=limit_at_infinity,
    ),
    Definition(
        key="adaptive/definition-3-threshold",
        title="Binary threshold of least sufficient variance",
        source=source("Definition 3, sharpened"),
        latex=r"\lambda^* = r_{(j^*)},\quad j^* = \arg\max_j r_{(j)}\sum_{l\le j}\sigma_{(l)}^{-2} r_{(l)}",
        reduce=best_threshold,
    ),
)
