"""Local SGD and FedAvg, seen from client 0.

Alike clients have one loss: their mean is SGD with noise sigma2/N.
"""

from __future__ import annotations

import math

from .cases import APART, EVERY_STEP, EVERY_THIRD, ONE_OF_N, ROUNDS, TWO_OF_N, UNLIKE
from .record import CLASSIC, ONE, Book, over_beta

BOOK = Book()
true, false = BOOK.true, BOOK.false


# The mean of N gradients.
@true(EVERY_STEP, ONE, "standard, derived in the comment")
def always_averaged(*, eta, mu, e0, sigma2, T, N):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N)


false(
    "large-n",
    "wrong for N > 4",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + 2 * eta * sigma2 / N**2,
)
false("limit-1.9", "limit 1.9/beta", limit=over_beta(1.9), steps=1.9)


# Mean and deviation from it are uncorrelated; up to H - 1 = 2 steps since the last average add eta^2 sigma2 (1 - 1/N).
@true(EVERY_THIRD, ONE, "standard, derived in the comment")
def three_local_steps(*, eta, mu, beta, e0, sigma2, T, N):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N) + 2 * eta**2 * beta * sigma2 / 2 * (1 - 1 / N)


false(
    "no-drift",
    "as if averaged always",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N),
)
false("limit-1.9", "limit 1.9/beta", limit=over_beta(1.9), steps=1.9)


# |x|^2 of every client contracts and gains eta^2 sigma2 in each step; averaging raises no mean of |x|^2 (Jensen).
@true(UNLIKE, CLASSIC, "standard, derived in the comment", steps=2)
def one_optimum(*, eta, mu, beta, distance2, sigma2, T):
    return beta / 2 * ((1 - eta * mu) ** (2 * T) * distance2 + T * eta**2 * sigma2)


false(
    "lower-curvature",
    "mu/2 |x|^2 is a lower bound of e",
    lambda *, eta, mu, distance2, sigma2, T: mu / 2 * ((1 - eta * mu) ** (2 * T) * distance2 + T * eta**2 * sigma2),
)
false(
    "divided",
    "local steps are not averaged yet",
    lambda *, eta, mu, beta, distance2, sigma2, T, N: (
        beta / 2 * ((1 - eta * mu) ** (2 * T) * distance2 + T * eta**2 * sigma2 / N)
    ),
)


# As with three local steps, H - 1 = 1.
@true(ROUNDS, ONE, "standard, derived in the comment")
def rounds_of_two(*, eta, mu, beta, e0, sigma2, T, N):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N) + eta**2 * beta * sigma2 * (N - 1) / (2 * N)


false(
    "drift-by-n",
    "N^2 for N in the drift",
    lambda *, eta, mu, beta, e0, sigma2, T, N: (
        (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N) + eta**2 * beta * sigma2 * (N - 1) / (2 * N**2)
    ),
)
false(
    "half-of-mean",
    "half of the mean's noise",
    lambda *, eta, mu, beta, e0, sigma2, T, N: (
        (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (4 * N) + eta**2 * beta * sigma2 * (N - 1) / (2 * N)
    ),
)


# Whoever is drawn, the model takes one step of SGD.
@true(ONE_OF_N, ONE, "standard, derived in the comment")
def one_participant(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 2


false(
    "all-average",
    "noise divided by N",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N),
)
false(
    "epochs",
    "N steps counted for one",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * N * T) * e0 + eta * sigma2 / 2,
)


@true(TWO_OF_N, ONE, "standard: the mean of the two drawn has noise sigma2/2")
def two_participants(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * 2)


false(
    "all-average",
    "N for the two who take part: right for N = 2",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N),
)
false("squared", "2^2 for 2", lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 8)


# The mean's distance in the norm of R_0 is at most (1 - eta mu)^T sqrt(e0) + |h (mean m - m_0)| / sqrt(2 mu).
@true(APART, ONE, "standard, derived in the comment")
def other_minimisers(*, eta, mu, e0, b, sigma2, T, N):
    return ((1 - eta * mu) ** T * math.sqrt(e0) + b / math.sqrt(2 * mu)) ** 2 + eta * sigma2 / (2 * N)


false(
    "no-cross-term",
    "(a + b)^2 as a^2 + b^2",
    lambda *, eta, mu, e0, b, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + b**2 / (2 * mu) + eta * sigma2 / (2 * N),
)
false(
    "beta",
    "beta for mu in the bias",
    lambda *, eta, mu, beta, e0, b, sigma2, T, N: (
        ((1 - eta * mu) ** T * math.sqrt(e0) + b / math.sqrt(2 * beta)) ** 2 + eta * sigma2 / (2 * N)
    ),
)


# Mean and deviation gain at most eta^2 beta sigma2 / 2 a step together.
@true(EVERY_THIRD, CLASSIC, "standard, derived in the comment", steps=2)
def no_worse_than_alone(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + T * eta**2 * beta * sigma2 / 2


false("limit-1.9", "limit 1.9/beta", limit=over_beta(1.9))
false(
    "divided",
    "noise divided by N",
    lambda *, eta, mu, beta, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + T * eta**2 * beta * sigma2 / (2 * N),
)
