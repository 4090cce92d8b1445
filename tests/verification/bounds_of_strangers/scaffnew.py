"""Scaffnew (ProxSkip): Psi = sum_i |x_i - x*|^2 + (eta/p)^2 sum_i |c_i - c_i*|^2, where client 0 is one of the sum."""

from __future__ import annotations

import math

from .cases import SKIP_ALIKE, SKIP_APART, SKIP_DESCENT, SKIP_EXACT, SKIP_HALF, SKIP_NEVER
from .record import CLASSIC, ONE, Book, over_beta, step

BOOK = Book()
true, false = BOOK.true, BOOK.false


# E Psi+ <= (1 - min(eta mu, p^2)) Psi; one optimum for all, c_i* = 0, so Psi_0 = N |x_0 - x*|^2. p = 0.2.
@true(SKIP_EXACT, ONE, "Mishchenko, Malinovsky, Stich, Richtarik 2022, ProxSkip's linear rate min(gamma mu, p^2)")
def skip_rate(*, eta, mu, beta, distance2, T, N):
    return beta / 2 * (1 - min(eta * mu, 0.2**2)) ** T * N * distance2


false(
    "square",
    "p for p^2",
    lambda *, eta, mu, beta, distance2, T, N: beta / 2 * (1 - min(eta * mu, 0.2)) ** T * N * distance2,
)
false("limit-2.2", "limit 2.2/beta", limit=over_beta(2.2), steps=2.2)


# Every step adds N eta^2 sigma2 to Psi.
@true(SKIP_ALIKE, ONE, "Mishchenko, Malinovsky, Stich, Richtarik 2022, with stochastic gradients")
def skip_noise(*, eta, mu, beta, distance2, sigma2, T, N):
    zeta = min(eta * mu, 0.2**2)
    return beta / 2 * N * ((1 - zeta) ** T * distance2 + eta**2 * sigma2 / zeta)


def _skip_noise_inverse(*, eta, mu, beta, distance2, sigma2, T, N):
    zeta = min(eta * mu, 0.2**2)
    return beta / 2 * N * ((1 - zeta) ** T * distance2 + eta**2 * sigma2 * zeta)


def _skip_noise_one_step(*, eta, mu, beta, distance2, sigma2, T, N):
    zeta = min(eta * mu, 0.2**2)
    return beta / 2 * N * ((1 - zeta) ** T * distance2 + eta**2 * sigma2)


false("inverse", "times zeta for divided by zeta", _skip_noise_inverse)
false("one-step", "noise of the last step only", _skip_noise_one_step)


# p = 1: sum c_i = 0, so the mean moves as with the mean of N gradients.
@true(SKIP_NEVER, ONE, "standard, derived in the comment")
def never_skipped(*, eta, mu, e0, sigma2, T, N):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N)


false(
    "squared",
    "N^2 for N",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 2 / N**2,
)
false(
    "one-more",
    "N + 1 for N",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * (N + 1)),
)


# The models go to the mean of the minimisers; client 0's loss there is at most b^2 / (2 mu), and norms add.
@true(SKIP_APART, ONE, "standard, derived in the comment")
def skip_other_minimisers(*, eta, mu, e0, b, sigma2, T, N):
    return ((1 - eta * mu) ** T * math.sqrt(e0) + b / math.sqrt(2 * mu)) ** 2 + eta * sigma2 / (2 * N)


false(
    "no-heterogeneity",
    "control variates remove it from the way, not from the optimum",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N),
)
false(
    "no-cross-term",
    "(a + b)^2 as a^2 + b^2",
    lambda *, eta, mu, e0, b, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + b**2 / (2 * mu) + eta * sigma2 / (2 * N),
)


# Without noise clients with one loss never differ: gradient descent.
@true(SKIP_DESCENT, CLASSIC, "standard, derived in the comment", steps=2)
def skip_alike(*, eta, mu, e0, T):
    return (1 - eta * mu) ** (2 * T) * e0


false("limit-2.2", "limit too wide by 10 %", limit=step(lambda mu, beta: 2.2 / (mu + beta)), steps=2.2)
false("communications", "1/p steps counted for one", lambda *, eta, mu, e0, T: (1 - eta * mu) ** (2 * T / 0.5) * e0)


# The deviations from the mean: Psi gains eta^2 sigma2 (1 - 1/N) a step and client, contracted by min(eta mu, p^2).
@true(SKIP_HALF, ONE, "standard, derived in the comment")
def skip_deviation(*, eta, mu, beta, e0, sigma2, T, N):
    steps = min(T, 1 / min(eta * mu, 0.25))
    drift = eta**2 * beta * sigma2 / 2 * (1 - 1 / N) * steps
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N) + drift


def _skip_deviation_by_n(*, eta, mu, beta, e0, sigma2, T, N):
    steps = min(T, 1 / min(eta * mu, 0.25))
    drift = eta**2 * beta * sigma2 / 2 * (1 - 1 / N) / N * steps
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N) + drift


false(
    "no-drift",
    "as if averaged always",
    lambda *, eta, mu, e0, sigma2, T, N: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * N),
)
false("drift-by-n", "the deviation divided by N too", _skip_deviation_by_n)
