"""SGD with decreasing steps, and SGD judged at the mean of its iterates."""

from __future__ import annotations

import math

from .cases import HALVED, HARMONIC, MEAN, MEAN_FAR, ROOT, SLOW
from .record import ONE, Book, over_beta

BOOK = Book()
true, false = BOOK.true, BOOK.false


def slow_enough(*, eta, mu, beta):
    return {"eta <= 1/beta": (eta, 1 / beta), "20 eta mu > 1": (1.01, 20 * eta * mu)}


# Steps b / (19 + t), t = 1, 2, ..., with b = 20 eta: e_T <= nu / (20 + T) by induction when b mu > 1.
@true(SLOW, slow_enough, "Bottou, Curtis, Nocedal 2018, Theorem 4.7")
def diminishing(*, eta, mu, beta, e0, sigma2, T):
    b = 20 * eta
    nu = max(b**2 * beta * sigma2 / (2 * (b * mu - 1)), 20 * e0)
    return nu / (20 + T)


def _diminishing_unsquared(*, eta, mu, beta, e0, sigma2, T):
    b = 20 * eta
    return max(b * beta * sigma2 / (2 * (b * mu - 1)), 20 * e0) / (20 + T)


def _diminishing_start(*, eta, mu, beta, e0, sigma2, T):
    b = 20 * eta
    return max(b**2 * beta * sigma2 / (2 * (b * mu - 1)), e0) / (20 + T)


false("unsquared", "b for b^2", _diminishing_unsquared)
false("start", "the offset's factor of e0 forgotten", _diminishing_start)


# sum 1/(20 + t) over t < T is at least log(1 + T/20), and sum 1/(20 + t)^2 at most 1/19.
@true(SLOW, ONE, "standard, derived in the comment")
def diminishing_any(*, eta, mu, beta, e0, sigma2, T):
    return (20 / (20 + T)) ** (40 * eta * mu) * e0 + (20 * eta) ** 2 / 19 * beta * sigma2 / 2


false(
    "power",
    "exponent of a factor 3 for 2",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        (20 / (20 + T)) ** (60 * eta * mu) * e0 + (20 * eta) ** 2 / 19 * beta * sigma2 / 2
    ),
)
false(
    "offset",
    "one factor 20 lost",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        (20 / (20 + T)) ** (40 * eta * mu) * e0 + 20 * eta**2 / 19 * beta * sigma2 / 2
    ),
)


# sum 1/sqrt(t) over t <= T is at least 2 (sqrt(T + 1) - 1), and sum 1/t at most 1 + log T; 1 - x <= exp(-x).
@true(ROOT, ONE, "standard, derived in the comment")
def inverse_root(*, eta, mu, beta, e0, sigma2, T):
    noise = eta**2 * beta * sigma2 / 2 * (1 + math.log(T))
    return math.exp(-4 * eta * mu * (math.sqrt(T + 1) - 1)) * e0 + noise


false(
    "logarithm",
    "1 + log T is not log T",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        math.exp(-4 * eta * mu * (math.sqrt(T + 1) - 1)) * e0 + eta**2 * beta * sigma2 / 2 * math.log(T)
    ),
)
false(
    "integral",
    "an upper bound of the sum of steps",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        math.exp(-4 * eta * mu * math.sqrt(T)) * e0 + eta**2 * beta * sigma2 / 2 * (1 + math.log(T))
    ),
)


# Ten steps at each of eta, eta/2, ...: ten times 1 + 1/4 + 1/16 + ... = 4/3 of eta^2 beta sigma2 / 2.
@true(HALVED, ONE, "standard, derived in the comment")
def halved_every_ten(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * min(T, 10)) * e0 + 10 * 4 / 3 * eta**2 * beta * sigma2 / 2


false(
    "not-halved",
    "contraction of the constant step",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + 10 * 4 / 3 * eta**2 * beta * sigma2 / 2,
)
false(
    "once",
    "one step of each size",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        (1 - eta * mu) ** (2 * min(T, 10)) * e0 + 4 / 3 * eta**2 * beta * sigma2 / 2
    ),
)


# sum 1/t over t <= T is at least log(1 + T), and sum 1/t^2 at most pi^2/6.
@true(HARMONIC, ONE, "standard, derived in the comment")
def harmonic(*, eta, mu, beta, e0, sigma2, T):
    return (1 + T) ** (-2 * eta * mu) * e0 + math.pi**2 / 6 * eta**2 * beta * sigma2 / 2


false(
    "rate",
    "1/T^2 whatever eta mu",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 + T) ** (-2.0) * e0 + math.pi**2 / 6 * eta**2 * beta * sigma2 / 2,
)
false(
    "sum",
    "the sum without its first term, pi^2/6 - 1",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        (1 + T) ** (-2 * eta * mu) * e0 + (math.pi**2 / 6 - 1) * eta**2 * beta * sigma2 / 2
    ),
)


# 2 eta e <= |x|^2 - |x+|^2 + eta^2 sigma2 for eta <= 1/beta, summed; Jensen at the mean of x_0..x_{T-1}.
@true(MEAN_FAR, ONE, "standard, derived in the comment")
def mean_iterate(*, eta, distance2, sigma2, T):
    return distance2 / (2 * eta * T) + eta * sigma2 / 2


false("accelerated", "T^2 for T", lambda *, eta, distance2, sigma2, T: distance2 / (2 * eta * T**2) + eta * sigma2 / 2)
false("half", "half of the start", lambda *, eta, distance2, sigma2, T: distance2 / (4 * eta * T) + eta * sigma2 / 2)


# Start: h/2 (|z| / (x T))^2, (1 - (1 - x)^T)^2 <= 1. Noise: T terms of at most (1/(h T))^2 sigma2/d.
@true(MEAN_FAR, ONE, "Bach, Moulines 2013, in the spirit of Theorem 1; derived in the comment")
def mean_start_and_noise(*, eta, mu, distance2, sigma2, T):
    return distance2 / (2 * eta**2 * mu * T**2) + sigma2 / (2 * mu * T)


false(
    "swapped",
    "beta for mu in the noise",
    lambda *, eta, mu, beta, distance2, sigma2, T: distance2 / (2 * eta**2 * mu * T**2) + sigma2 / (2 * beta * T),
)
false("limit-2", "1 - (1 - x)^T may reach 2", limit=over_beta(1.99), steps=2)


# The same with h z^2 / 2 kept.
@true(MEAN, ONE, "standard, derived in the comment")
def mean_from_loss(*, eta, mu, e0, sigma2, T):
    return e0 / (eta * mu * T) ** 2 + sigma2 / (2 * mu * T)


false("half", "half of the noise", lambda *, eta, mu, e0, sigma2, T: e0 / (eta * mu * T) ** 2 + sigma2 / (4 * mu * T))
false(
    "last",
    "the mean forgets no faster than 1/T^2",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + sigma2 / (2 * mu * T),
)
