"""Gradient descent without noise, as in the examples of PEPit; x = eta h."""

from __future__ import annotations

import math

from .cases import DESCENT
from .record import CLASSIC, ONE, Book, over_beta, step

BOOK = Book()
true, false = BOOK.true, BOOK.false


def between(*, eta, mu, beta):
    return {"at least 1/beta": (1 / beta, eta), "at most 2/(mu + beta)": (eta, 2 / (mu + beta))}


# |1 - x| <= 1 - eta mu up to this limit.
@true(DESCENT, CLASSIC, "standard, derived in the comment", steps=2)
def contraction(*, eta, mu, e0, T):
    return (1 - eta * mu) ** (2 * T) * e0


false("limit-2.05", "limit too wide by 2.5 %", limit=step(lambda mu, beta: 2.05 / (mu + beta)))
false("limit-2.3", "a limit of its own", limit=step(lambda mu, beta: 2.3 / (2 * mu + beta)), steps=2.3)


# |1 - x| is largest at an end.
@true(DESCENT, over_beta(2), "Taylor, Hendrickx, Glineur 2018 (exact rates of the gradient method)", steps=2)
def exact_rate(*, eta, mu, beta, e0, T):
    return max(1 - eta * mu, eta * beta - 1) ** (2 * T) * e0


false(
    "fourth-power",
    "squared once more",
    lambda *, eta, mu, beta, e0, T: max(1 - eta * mu, eta * beta - 1) ** (4 * T) * e0,
)
false(
    "mean",
    "the mean of both ends",
    lambda *, eta, mu, beta, e0, T: ((1 - eta * mu + abs(1 - eta * beta)) / 2) ** (2 * T) * e0,
)


@true(DESCENT, ONE, "Drori, Teboulle 2014, Theorem 3.1 (PEPit: gradient_descent)")
def drori_teboulle(*, eta, beta, distance2, T):
    return beta * distance2 / (4 * T * eta * beta + 2)


false("limit-1.9", "limit 1.9/beta", limit=over_beta(1.9), steps=1.9)
false("eight", "8 for 4", lambda *, eta, beta, distance2, T: beta * distance2 / (8 * T * eta * beta + 2))


# Descent lemma and convexity: 2 eta e+ <= |x|^2 - |x+|^2, summed over a decreasing e.
@true(DESCENT, ONE, "standard, derived in the comment")
def sublinear(*, eta, distance2, T):
    return distance2 / (2 * eta * T)


false("accelerated", "T^2 for T", lambda *, eta, distance2, T: distance2 / (2 * eta * T**2))
false(
    "extrapolated",
    "a rate read off short runs: wrong for T > 41",
    lambda *, eta, distance2, T: 0.6 * distance2 / (eta * T**1.5),
)


@true(DESCENT, CLASSIC, "Nesterov 2004, Theorem 2.1.15, with e <= beta/2 |x|^2", steps=2)
def nesterov_distance(*, eta, mu, beta, distance2, T):
    return beta / 2 * (1 - 2 * eta * mu * beta / (mu + beta)) ** T * distance2


false(
    "doubled",
    "2T for T: the distance is squared already",
    lambda *, eta, mu, beta, distance2, T: beta / 2 * abs(1 - 2 * eta * mu * beta / (mu + beta)) ** (2 * T) * distance2,
)
false(
    "lower-curvature",
    "mu/2 |x|^2 is a lower bound of e",
    lambda *, eta, mu, beta, distance2, T: mu / 2 * (1 - 2 * eta * mu * beta / (mu + beta)) ** T * distance2,
)


# Descent lemma e+ <= e - eta (1 - eta beta / 2) |grad|^2 and |grad|^2 >= 2 mu e.
@true(DESCENT, over_beta(2), "standard, derived in the comment (Polyak 1963)", steps=2)
def descent_lemma(*, eta, mu, beta, e0, T):
    return (1 - eta * mu * (2 - eta * beta)) ** T * e0


false("first-order", "the square of eta dropped", lambda *, eta, mu, e0, T: abs(1 - 2 * eta * mu) ** T * e0, limit=ONE)
false("mu", "mu for beta", lambda *, eta, mu, e0, T: (1 - eta * mu * (2 - eta * mu)) ** T * e0)


# |1 - x| <= 1.
@true(DESCENT, over_beta(2), "standard, derived in the comment", steps=2)
def never_up(*, e0):
    return e0


false("limit-2.02", "limit too wide by 1 %", limit=over_beta(2.02), steps=2.02)
false("always-down", "no progress is left at 2/beta", lambda *, eta, mu, e0, T: math.exp(-eta * mu * T) * e0)


# From 1/beta on 1 - eta mu <= 1 - mu/beta.
@true(DESCENT, between, "standard, derived in the comment", steps=2)
def by_condition_number(*, mu, beta, e0, T):
    return (1 - mu / beta) ** (2 * T) * e0


false("double", "2 mu/beta, absolute", lambda *, mu, beta, e0, T: (1 - 2 * mu / beta) ** (2 * T) * e0)
false(
    "best", "the rate of the best step for all", lambda *, mu, beta, e0, T: ((beta - mu) / (beta + mu)) ** (2 * T) * e0
)
