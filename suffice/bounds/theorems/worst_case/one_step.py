"""One step of All-for-one against the worst loss and the worst peers, and the weights that are best there."""

from __future__ import annotations

from ...elementary import maximum, spare, sqrt, survive
from ...quantities import Quantity
from ...theorem import Conditions, Definition, records, theorem
from ...units import Unit
from .paper import source


def pull_condition(*, weight, pull) -> Conditions:
    """1 - sqrt(1 - r_k) is at most 1."""
    return {"pull <= weight": (pull, weight)}


_STEP = (
    "R_i is beta-smooth; gradients are unbiased, of total variance at most sigma_k^2, uncorrelated across clients "
    "given the past; |grad R_k - grad R_i|^2 <= (1 - r_k) |grad R_i|^2 where alpha_k > 0"
)

# Smoothness: E[e_t | F] - e_{t-1} <= -eta <g_i, h> + (eta^2 beta / 2) (|h|^2 + V) with h = sum_k alpha_k g_k, an
# equality where R_i has curvature beta. Complete the square: the right side is
#     (eta^2 beta / 2) |h - g_i / (eta beta)|^2 - |g_i|^2 / (2 beta) + eta^2 beta V / 2.
# h ranges over the ball around A g_i of radius (A - A_-) |g_i|; its farthest point from g_i / (eta beta) is on the line
# of g_i, at A_- g_i or at (2 A - A_-) g_i. Hence, with equality in dimension 1,
#     E[e_t - e_{t-1} | F] + |g_i|^2 / (2 beta)
#         <= (|g_i|^2 / (2 beta)) max((1 - eta beta A_-)^2, (eta beta (2 A - A_-) - 1)^2) + eta^2 beta V / 2.


@theorem(
    key="worst-case/one-step",
    title="Exact worst case of one step",
    source=source("one step of All-for-one"),
    quantity=Quantity.SHORTFALL,
    hypotheses=f"{_STEP}; weights are at least 0",
    conditions=pull_condition,
    tight="The bound is always attained, in dimension 1 by R_i of curvature beta and grad R_k = (1 -+ sqrt(1 - r_k)) "
    "grad R_i.",
    monotone={"V": 1, "gradient": 1},
)
def one_step(*, eta, beta, weight, pull, gradient, V):
    """Over all beta-smooth R_i and all peers of similarities r_k, the largest E[e_t - e_{t-1} | F_{t-1}] is the bound
    less |grad R_i|^2/(2 beta), the decrease of the exact gradient step 1/beta.

    What one step falls short of the decrease |g_i|^2 / (2 beta)."""
    farthest = maximum(survive(eta * beta * pull, 2), spare(eta * beta * (2 * weight - pull)) ** 2)
    return gradient**2 / (2 * beta) * farthest + eta**2 * beta * V / 2


# Best weights: with p_k = 1 - sqrt(1 - r_k), x_k = eta alpha_k, G = |g_i|^2 the first branch is
# (G / (2 beta)) (1 - beta sum_k p_k x_k)^2 + (beta / 2) sum_k x_k^2 sigma_k^2, convex, stationary at
# x_k = G p_k / (beta sigma_k^2 (1 + G Y)) with value G / (2 beta (1 + G Y)), Y = sum p_k^2 / sigma_k^2. There
# beta sum x_k = G Z / (1 + G Y), Z = sum p_k / sigma_k^2; if that is <= 1 the first branch is the larger one.


@theorem(
    key="worst-case/sharp-step",
    title="Best weights for the worst case of one step",
    source=source("one step of All-for-one, weights proportional to (1 - sqrt(1 - r_k)) / sigma_k^2"),
    quantity=Quantity.SHORTFALL,
    hypotheses=_STEP,
    # The step limit eta beta A <= 1 at the best weights, and p_k <= 1.
    conditions=lambda *, gradient, agreement, sharp_mass: {
        "step limit gradient^2 sharp_mass <= 1 + gradient^2 agreement": (
            gradient**2 * sharp_mass,
            1 + gradient**2 * agreement,
        ),
        "agreement <= sharp_mass": (agreement, sharp_mass),
    },
    tight="The bound is always attained, and no other weights have a lower worst case.",
    monotone={"beta": -1, "gradient": 1, "agreement": -1},
)
def sharp_step(*, beta, gradient, agreement):
    """The step weights eta alpha_k = G p_k / (beta sigma_k^2 (1 + G Y)), p_k = 1 - sqrt(1 - r_k), G = |grad R_i|^2,
    have the least worst case of one step: E[e_t - e_{t-1} | F_{t-1}] <= -G^2 Y / (2 beta (1 + G Y))."""
    return gradient**2 / (2 * beta * (1 + gradient**2 * agreement))


def agreement(*, similarity, sigma2):
    """sum_k (1 - sqrt(1 - r_k))^2 / sigma_k^2."""
    return ((similarity / (1 + sqrt(1 - similarity))) ** 2 / sigma2).sum(-1)


THEOREMS = records(one_step, sharp_step)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="worst-case/pull",
        title="Least pull of the weighted gradients along the client's own",
        source=source("one step of All-for-one"),
        latex=r"\mathcal{A}_- = \sum_k \alpha_k (1 - \sqrt{1 - r_k})",
        # 1 - sqrt(1 - r_k) without cancellation at small r_k
        reduce=lambda *, weights, similarity: (weights * similarity / (1 + sqrt(1 - similarity))).sum(-1),
    ),
    Definition(
        key="worst-case/agreement",
        title="What the sharp weights gather",
        source=source("one step of All-for-one"),
        latex=r"Y = \sum_k \sigma_k^{-2} (1 - \sqrt{1 - r_k})^2",
        unit=Unit(-2, 2),
        reduce=agreement,
    ),
)
