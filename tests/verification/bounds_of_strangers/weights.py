"""Fixed weights, groups and pairs. Alike: all clients have one loss, so weights of sum 1 only change the noise."""

from __future__ import annotations

import math

from .cases import FOLLOWED, GROUP, PAIR, PAIR_APART, SUMMED, WEIGHTS, WEIGHTS_APART
from .record import ONE, Book, over_beta, step

BOOK = Book()
true, false = BOOK.true, BOOK.false


@true(GROUP, ONE, "Even, Massoulie, Scaman 2022, all-for-one in one cluster: the mean of three gradients")
def group_of_three(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * 3)


false("squared", "N^2 for N", lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * 9))
false(
    "one-more", "N + 1 for N", lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * 4)
)


# sum_k alpha_k^2 = 1/4 + 1/16 + 1/16; models of clients with other rows differ, gradients are taken at one's own.
@true(WEIGHTS, ONE, "Even, Massoulie, Scaman 2022, all-for-one with weights 1/2, 1/4, 1/4")
def half_of_the_weight(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + 0.375 * eta * sigma2 / 2


false(
    "uniform",
    "1/3 as for equal weights",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 2 / 3,
)
false(
    "largest",
    "the largest square instead of the sum",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + 0.25 * eta * sigma2 / 2,
)


# The weighted gradient is off by at most (1/4 + 1/4) b; norms add.
@true(WEIGHTS_APART, ONE, "standard, derived in the comment")
def half_of_the_bias(*, eta, mu, e0, b, sigma2, T):
    return ((1 - eta * mu) ** T * math.sqrt(e0) + 0.5 * b / math.sqrt(2 * mu)) ** 2 + 0.375 * eta * sigma2 / 2


false(
    "one-peer",
    "the bias of one peer of two",
    lambda *, eta, mu, e0, b, sigma2, T: (
        ((1 - eta * mu) ** T * math.sqrt(e0) + 0.25 * b / math.sqrt(2 * mu)) ** 2 + 0.375 * eta * sigma2 / 2
    ),
)
false(
    "no-cross-term",
    "(a + b)^2 as a^2 + b^2",
    lambda *, eta, mu, e0, b, sigma2, T: (
        (1 - eta * mu) ** (2 * T) * e0 + (0.5 * b) ** 2 / (2 * mu) + 0.375 * eta * sigma2 / 2
    ),
)


# Mean: SGD with sigma2/2. Half difference: curvature h + 2 rho, noise sigma2/2; rho = 1.
@true(PAIR, step(lambda mu, beta: 1 / (beta + 2)), "standard, derived in the comment")
def pulled_pair(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 4 * (1 + beta / (beta + 2))


false(
    "full-average",
    "as if the pair were one",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 4,
)
false("limit-without-rho", "the pull's curvature forgotten", limit=ONE)


# Client 0's distance from its optimum: the contracted start and at most the fixed point's rho |m_0 - m_1|/(h + 2 rho).
@true(PAIR_APART, step(lambda mu, beta: 1 / (beta + 2)), "standard, derived in the comment")
def pulled_apart(*, eta, mu, beta, e0, b, sigma2, T):
    bias = b / (math.sqrt(2 * mu) * (mu + 2))
    return ((1 - eta * mu) ** T * math.sqrt(e0) + bias) ** 2 + eta * sigma2 / 4 * (1 + beta / (beta + 2))


def _pulled_apart_squares(*, eta, mu, beta, e0, b, sigma2, T):
    bias = b / (math.sqrt(2 * mu) * (mu + 2))
    return (1 - eta * mu) ** (2 * T) * e0 + bias**2 + eta * sigma2 / 4 * (1 + beta / (beta + 2))


def _pulled_apart_beta(*, eta, mu, beta, e0, b, sigma2, T):
    bias = b / (math.sqrt(2 * mu) * (beta + 2))
    return ((1 - eta * mu) ** T * math.sqrt(e0) + bias) ** 2 + eta * sigma2 / 4 * (1 + beta / (beta + 2))


false("no-cross-term", "(a + b)^2 as a^2 + b^2", _pulled_apart_squares)
false("beta", "beta for mu in the bias", _pulled_apart_beta)


# Client 1 uses client 0's gradients; client 0 uses nobody's.
@true(FOLLOWED, ONE, "standard, derived in the comment")
def followed(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 2


false(
    "mean-of-both",
    "the noise of a pair",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 4,
)
false(
    "mean-over-clients",
    "the mean of 1 and 1/4 + 1/4",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + 0.75 * eta * sigma2 / 2,
)


# The sum of two gradients: step 2 eta, noise sigma2/2 of their mean; 2 - 2 eta beta >= 1.
@true(SUMMED, over_beta(0.5), "standard, derived in the comment", steps=0.5)
def sum_of_two(*, eta, mu, e0, sigma2, T):
    return (1 - 2 * eta * mu) ** (2 * T) * e0 + eta * sigma2 / 2


false("limit-of-the-mean", "limit 1/beta of the mean", limit=over_beta(1), steps=1)
false(
    "quarter",
    "noise of the mean",
    lambda *, eta, mu, e0, sigma2, T: (1 - 2 * eta * mu) ** (2 * T) * e0 + eta * sigma2 / 4,
)
