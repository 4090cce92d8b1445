"""Assumption 3 (expected smoothness): E|g_i - grad f_i(x_i*)|^2 <= 2 A_i D + C_i, with its constants A_i and C_i.

D = f_i(x) - f_i(x_i*) - <grad f_i(x_i*), x - x_i*> is the Bregman divergence of f_i at the model x of client i; the
footnote mark on A_i >= L_i is not a square.
"""

from __future__ import annotations

import numpy as np

from ...elementary import maximum
from ...parameters import new_parameter
from ...quantities import Quantity
from ...theorem import Definition, printed, records, reduces_to, theorem
from ...units import CURVATURE, GRADIENT, GRADIENT_SQUARED
from .paper import source

new_parameter(
    "beta_drawn",
    r"\max_j \frac{L_{ij}}{n_i p_j}",
    CURVATURE,
    (1.0, 100.0),
    "largest smoothness constant of a sample's loss over n_i times the probability that it is drawn",
    positive=True,
)

# A convex L-smooth f has |grad f(x) - grad f(x*)|^2 <= 2 L D. An additive error of mean zero and variance sigma^2 adds
# sigma^2: A_i = L_i, C_i = sigma^2.


@theorem(
    key="scafflix/assumption-3-additive",
    title="Expected smoothness of a gradient with additive noise",
    source=source("Assumption 3, case 1"),
    quantity=Quantity.SECOND_MOMENT,
    hypotheses="f_i is convex and L_i-smooth",
    tight="The bound is tight for f_i = L_i |x|^2 / 2.",
    monotone={"beta": 1, "bregman": 1, "sigma2": 1},
)
def additive(*, beta, bregman, sigma2):
    """If g_i is the gradient of f_i plus an error of mean zero and variance sigma_i^2, then (2) holds with A_i = L_i
    and C_i = sigma_i^2."""
    return 2 * beta * bregman + sigma2


_SAMPLES = "f_i = (1/n_i) sum_j f_ij, where every f_ij is convex and max_j L_ij-smooth; samples are drawn uniformly"

# One sample j of n_i, uniformly: g_i = grad f_ij(x). Put u_j = grad f_ij(x) - grad f_ij(x*) and
# w_j = grad f_ij(x*) - grad f_i(x*), so that g_i - grad f_i(x*) = u_j + w_j. E|u_j + w_j|^2 <= 2 E|u_j|^2 + 2 E|w_j|^2,
# E|w_j|^2 = sigma_*^2, and if every f_ij is convex and L_ij-smooth, |u_j|^2 <= 2 L_ij D_fij, whose mean is at most
# 2 max_j L_ij D. Hence A_i = 2 max_j L_ij and C_i = 2 sigma_*^2.
# The print asks for L_i-smooth f_ij, one L_i for all of them and not the constant of f_i in Assumption 1, but not for
# convexity: f_ij = 5 x^2 and -4.5 x^2 have E|g|^2 = 90.5 x^2, and 4 L_i D is 10 x^2.


@theorem(
    key="scafflix/assumption-3-finite-sum",
    title="Expected smoothness of one sample",
    source=source("Assumption 3, case 2"),
    quantity=Quantity.SECOND_MOMENT,
    hypotheses=_SAMPLES,
    tight="The bound is tight as n_i grows, for f_ij = L (e_j^T x - s)^2 / 2 with e_j orthonormal, at e_j^T (x - x_i*) "
    "= e_j^T x_i* - s.",
    monotone={"beta_max": 1, "bregman": 1, "sigma2_star": 1},
)
def finite_sum(*, beta_max, bregman, sigma2_star):
    """If g_i is the gradient of one f_ij drawn uniformly, every f_ij convex and L_ij-smooth, then (2) holds with
    A_i = 2 max_j L_ij and C_i = 2 mean_j |grad f_ij(x_i*)|^2 - 2 |grad f_i(x_i*)|^2."""
    return 4 * beta_max * bregman + 2 * sigma2_star


@printed(
    finite_sum,
    fault="The samples' losses must be convex; and the letter L_i stands for the constant of f_i in Assumption 1 too, "
    "which the samples exceed unless all are alike.",
    hypotheses="f_i = (1/n_i) sum_j f_ij, where every f_ij is L_i-smooth",
    monotone={"beta": 1, "bregman": 1, "sigma2_star": 1},
)
def finite_sum_printed(*, beta, bregman, sigma2_star):
    """If f_i = (1/n_i) sum_j f_ij for some L_i-smooth f_ij and g_i is the gradient of one f_ij drawn uniformly, then
    (2) holds with A_i = 2 L_i and C_i = 2 mean_j |grad f_ij(x_i*)|^2 - 2 |grad f_i(x_i*)|^2."""
    return 4 * beta * bregman + 2 * sigma2_star


# m samples with replacement: E|g_i - grad f_i(x*)|^2 = |mean u|^2 + (1/m) E|u_j - mean u + w_j|^2, and the last
# expectation is at most 2 E|u_j|^2 - 2 |mean u|^2 + 2 E|w_j|^2. So |mean u|^2, at most 2 L_i D, counts 1 - 2/m times
# (if m >= 2) and the rest is that of one sample, divided by m.


@reduces_to(
    "scafflix/assumption-3-finite-sum", "for one sample, m = 1", lambda *, beta_max, **_: {"beta": beta_max, "batch": 1}
)
@theorem(
    key="scafflix/assumption-3-minibatch",
    title="Expected smoothness of a minibatch",
    source=source("Assumption 3, case 2, last remark"),
    quantity=Quantity.SECOND_MOMENT,
    hypotheses=_SAMPLES + " with replacement",
    # A mean is as smooth as its least smooth term, or smoother.
    conditions=lambda *, beta, beta_max: {"smoothness beta <= beta_max": (beta, beta_max)},
    tight="The bound is tight where it is for one sample, and for f_ij = L_i |x|^2 / 2 as m grows.",
    monotone={"beta": 1, "beta_max": 1, "bregman": 1, "sigma2_star": 1, "batch": -1},
)
def minibatch(*, beta, beta_max, batch, bregman, sigma2_star):
    """If g_i is the mean gradient of m samples drawn uniformly with replacement, then (2) holds with A_i = (1 - 2/m)_+
    L_i + (2/m) max_j L_ij and C_i that of one sample divided by m."""
    return 2 * (maximum(0, batch - 2) / batch * beta + 2 / batch * beta_max) * bregman + 2 / batch * sigma2_star


# One sample j with probability p_j, g_i = grad f_ij/(n_i p_j): the mean is grad f_i, and with u_j, w_j as above
# E|g_i - grad f_i(x*)|^2 <= 2 E|u_j/(n_i p_j)|^2 + 2 E|grad f_ij(x*)/(n_i p_j) - grad f_i(x*)|^2. The first mean is
# sum_j |u_j|^2/(n_i^2 p_j) <= (2/n_i) sum_j (L_ij/(n_i p_j)) D_fij <= 2 max_j L_ij/(n_i p_j) D. Least for p_j
# proportional to L_ij, where the maximum is the mean of the L_ij.


@reduces_to("scafflix/assumption-3-finite-sum", "at p_j = 1/n_i", lambda *, beta_max, **_: {"beta_drawn": beta_max})
@theorem(
    key="scafflix/assumption-3-nonuniform",
    title="Expected smoothness of one sample, drawn with any probabilities",
    source=source("Assumption 3, case 2, nonuniform sampling"),
    quantity=Quantity.SECOND_MOMENT,
    hypotheses="f_i = (1/n_i) sum_j f_ij, where every f_ij is convex and L_ij-smooth; the p_j > 0 have the sum 1",
    tight="The bound is tight where it is for uniform samples, and whenever L_ij/p_j is the same for all.",
    monotone={"beta_drawn": 1, "bregman": 1, "sigma2_star": 1},
)
def nonuniform(*, beta_drawn, bregman, sigma2_star):
    """If g_i = grad f_ij/(n_i p_j) for one j drawn with probability p_j, then (2) holds with A_i = 2 max_j L_ij/(n_i
    p_j) and C_i twice the variance of g_i at x_i*; p_j proportional to L_ij makes A_i least, 2 mean_j L_ij."""
    return 4 * beta_drawn * bregman + 2 * sigma2_star


def sample_noise(*, gradients):
    """C_i = 2 mean_j |grad f_ij(x_i*)|^2 - 2 |grad f_i(x_i*)|^2, the samples' gradients in rows."""
    deviation = gradients - np.mean(gradients, axis=-2, keepdims=True)
    return 2 * (deviation**2).sum(-1).mean(-1)


THEOREMS = records(additive, finite_sum_printed, finite_sum, minibatch, nonuniform)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="scafflix/assumption-3-noise",
        title="C_i of one sample",
        source=source("Assumption 3, case 2"),
        latex=r"C_i = \frac{2}{n_i}\sum_j\|\nabla f_{ij}(\tilde x_i^\star)\|^2 - 2\|\nabla f_i(\tilde x_i^\star)\|^2",
        unit=GRADIENT_SQUARED,
        units={"gradients": GRADIENT},
        shapes={"gradients": "nd"},
        reduce=sample_noise,
    ),
)
