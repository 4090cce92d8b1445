"""SGD and its relatives on one loss of one or two variables; e0, mu, beta are of that loss, sigma2 its total noise."""

from __future__ import annotations

import math

from ..record import ONE, Book, over_beta
from .cases import CLIPPED, CLIPPED_EXCESS, COINS, LARGEST, SIGNS, SIGNS_LOGISTIC, curve, one, sgd

BOOK = Book()
true, false = BOOK.true, BOOK.false

KINK, LOGISTIC, RIPPLE = curve("kink"), curve("logistic"), curve("ripple")


def quiet(limit):
    """The condition that nothing is drawn, with another."""

    def conditions(*, eta, beta, sigma2):
        return {"no noise": (sigma2, 0.0), **limit(eta=eta, beta=beta)}

    return conditions


def no_noise(*, sigma2):
    return {"no noise": (sigma2, 0.0)}


HALF, QUIET = over_beta(0.5), quiet(ONE)


# <x, grad> >= e + mu/2 |x|^2 and |grad|^2 <= 2 beta e: |x|^2 contracts by 1 - eta mu; |x|^2 <= 2 e/mu at the start.
@true(sgd(KINK, "last_distance"), ONE, "standard, derived in the comment")
def kink_distance(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** T * 2 * e0 / mu + eta * sigma2 / mu


false("start", "e0/mu for 2 e0/mu", lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** T * e0 / mu + eta * sigma2 / mu)
false(
    "noise",
    "half of the noise",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** T * 2 * e0 / mu + eta * sigma2 / (2 * mu),
)


# Descent lemma and |grad|^2 >= 2 mu e.
@true(sgd(KINK), ONE, "standard, derived in the comment (Polyak 1963)")
def kink_excess(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)


false(
    "noise",
    "half of the noise",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (4 * mu),
)
false("limit-1.5", "limit 1.5/beta", limit=over_beta(1.5), steps=1.5)


@true(sgd(LOGISTIC), ONE, "as kink_excess")
def logistic_excess(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)


false("no-noise", "the noise forgotten", lambda *, eta, mu, e0, T: (1 - eta * mu) ** T * e0)
false(
    "beta",
    "the rate of the steepest direction",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * beta) ** T * e0 + eta * beta * sigma2 / (2 * mu),
)


# 2 eta (1 - eta beta) E e <= |x|^2 - E|x+|^2 + eta^2 sigma2, summed over t < T; |x|^2 <= 2 e0/mu.
@true(sgd(LOGISTIC, "random_iterate_excess"), HALF, "standard, derived in the comment")
def logistic_random_iterate(*, eta, mu, e0, sigma2, T):
    return 2 * e0 / (mu * eta * T) + eta * sigma2


false("square", "T^2 for T", lambda *, eta, mu, e0, sigma2, T: 2 * e0 / (mu * eta * T**2) + eta * sigma2)
false("noise", "an eighth of the noise", lambda *, eta, mu, e0, sigma2, T: 2 * e0 / (mu * eta * T) + eta * sigma2 / 8)


# Convexity: the loss at the mean of x_0, ..., x_T is at most the mean loss.
@true(sgd(LOGISTIC, "mean_iterate_excess"), HALF, "as logistic_random_iterate")
def logistic_mean_iterate(*, eta, mu, e0, sigma2, T):
    return 2 * e0 / (mu * eta * (T + 1)) + eta * sigma2


false("square", "(T + 1)^2", lambda *, eta, mu, e0, sigma2, T: 2 * e0 / (mu * eta * (T + 1) ** 2) + eta * sigma2)
false(
    "averaged-twice",
    "the noise over T + 1",
    lambda *, eta, mu, e0, sigma2, T: 2 * e0 / (mu * eta * (T + 1)) + eta * sigma2 / (T + 1),
)


@true(sgd(RIPPLE), ONE, "as kink_excess: the PL inequality is all it takes")
def ripple_excess(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)


false("limit-2", "limit 2/beta", limit=over_beta(2), steps=2)
false(
    "half-step",
    "1 - eta beta/2 for 1",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * beta / 2) ** T * e0 + eta * beta * sigma2 / (2 * mu),
)


# E e+ <= e - (eta/2) |grad|^2 + eta^2 beta sigma2/2, summed over t < T.
@true(sgd(RIPPLE, "average_gradient"), ONE, "Ghadimi, Lan 2013")
def ripple_gradient(*, eta, beta, e0, sigma2, T):
    return 2 * e0 / (eta * T) + eta * beta * sigma2


false("quarter", "1/2 for 2", lambda *, eta, beta, e0, sigma2, T: e0 / (2 * eta * T) + eta * beta * sigma2)
false("noise", "an eighth of it", lambda *, eta, beta, e0, sigma2, T: 2 * e0 / (eta * T) + eta * beta * sigma2 / 8)


@true(sgd(KINK, "average_gradient"), ONE, "as ripple_gradient")
def kink_gradient(*, eta, beta, e0, sigma2, T):
    return 2 * e0 / (eta * T) + eta * beta * sigma2


false("fast", "1/T^2", lambda *, eta, beta, e0, sigma2, T: 2 * e0 / (eta * T**2) + eta * beta * sigma2)
false("no-noise", "the noise forgotten", lambda *, eta, beta, e0, sigma2, T: 2 * e0 / (eta * T))


# In R, x - eta phi'(x) is at least (1 - eta beta) x in size, and noise adds; |x|^2 >= 2 e/beta.
@true(sgd(KINK, "last_distance", direction="lower"), ONE, "derived in the comment")
def kink_lower(*, eta, beta, e0, T):
    return (1 - eta * beta) ** (2 * T) * 2 * e0 / beta


false("mu", "the slow rate", lambda *, eta, mu, beta, e0, T: (1 - eta * mu) ** (2 * T) * 2 * e0 / beta)
false(
    "start", "2 e0/mu is an upper bound of |x|^2", lambda *, eta, mu, beta, e0, T: (1 - eta * beta) ** T * 2 * e0 / mu
)


# Markov's inequality.
@true(sgd(KINK, delta=0.1), ONE, "kink_excess and Markov's inequality")
def kink_probably(*, eta, mu, beta, e0, sigma2, T, delta):
    return ((1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)) / delta


false(
    "mean",
    "the mean for the quantile",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu),
)
false(
    "root",
    "the square root of delta, on the noise alone",
    lambda *, eta, mu, beta, e0, sigma2, T, delta: (
        (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (4 * mu) / math.sqrt(delta)
    ),
)


@true(sgd(RIPPLE, delta=0.2), ONE, "ripple_excess and Markov's inequality")
def ripple_probably(*, eta, mu, beta, e0, sigma2, T, delta):
    return ((1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu)) / delta


false("no-noise", "the noise forgotten", lambda *, eta, mu, e0, T, delta: (1 - eta * mu) ** T * e0 / delta)
false("sigma", "a limit on the step alone", lambda *, e0, delta: e0 / delta)


@true(sgd(one(), delta=0.05), ONE, "kink_excess and Markov's inequality")
def quadratic_probably(*, eta, mu, beta, e0, sigma2, T, delta):
    return ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)) / delta


false(
    "mean",
    "the mean for the quantile",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (4 * mu),
)
false(
    "logarithm",
    "ln(1/delta), an eighth of the noise",
    lambda *, eta, mu, beta, e0, sigma2, T, delta: (
        ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (16 * mu)) * math.log(1 / delta)
    ),
)


# On quadratics <x, grad> = 2 e: 2 eta e <= |x|^2 - E|x+|^2 + eta^2 sigma2 for eta beta <= 1; |x|^2 <= 2 e0/mu.
@true(sgd(one(), "random_iterate_excess"), ONE, "standard, derived in the comment")
def random_iterate(*, eta, mu, e0, sigma2, T):
    return e0 / (mu * eta * T) + eta * sigma2 / 2


false("quarter", "a quarter of the start", lambda *, eta, mu, e0, sigma2, T: e0 / (4 * mu * eta * T) + eta * sigma2 / 2)
false("noise", "an eighth of the noise", lambda *, eta, mu, e0, sigma2, T: e0 / (mu * eta * T) + eta * sigma2 / 8)


@true(sgd(one(), "mean_iterate_excess"), ONE, "convexity, as random_iterate")
def mean_iterate(*, eta, mu, e0, sigma2, T):
    return e0 / (mu * eta * (T + 1)) + eta * sigma2 / 2


false("square", "(T + 1)^2", lambda *, eta, mu, e0, sigma2, T: e0 / (mu * eta * (T + 1) ** 2) + eta * sigma2 / 2)
false(
    "averaged-twice",
    "the noise over T + 1",
    lambda *, eta, mu, e0, sigma2, T: e0 / (mu * eta * (T + 1)) + eta * sigma2 / (2 * (T + 1)),
)


# |grad|^2 <= 2 beta e.
@true(sgd(one(), "last_gradient"), ONE, "standard, derived in the comment")
def last_gradient(*, eta, mu, beta, e0, sigma2, T):
    return 2 * beta * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu))


false(
    "half",
    "beta for 2 beta",
    lambda *, eta, mu, beta, e0, sigma2, T: beta * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)),
)
false(
    "mu",
    "mu for beta",
    lambda *, eta, mu, beta, e0, sigma2, T: 2 * mu * ((1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)),
)


# No direction is contracted by more than 1 - eta beta, and the last step's noise is all there.
@true(sgd(one(), direction="lower"), ONE, "derived in the comment")
def quadratic_lower(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * beta) ** (2 * T) * e0 + eta**2 * mu * sigma2 / 2


false(
    "noise",
    "the steepest direction's noise",
    lambda *, eta, beta, e0, sigma2, T: (1 - eta * beta) ** (2 * T) * e0 + eta**2 * beta * sigma2 / 2,
)
false(
    "mu",
    "the slow rate",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta**2 * mu * sigma2 / 2,
)


# In R, symmetric noise leaves <x, E clipped> >= 0, and a step is at most eta: |x|^2 grows by eta^2 at most.
@true(CLIPPED, over_beta(10), "derived in the comment", steps=4)
def clipped_distance(*, eta, mu, e0, T):
    return 2 * e0 / mu + eta**2 * T


false("half", "half of the noise", lambda *, eta, mu, e0, T: 2 * e0 / mu + eta**2 * T / 2)
false("start", "half of the start", lambda *, eta, mu, e0, T: e0 / mu + eta**2 * T)


# A clipped step is a shorter one: the loss falls.
@true(CLIPPED_EXCESS, QUIET, "derived in the comment")
def clipped_down(*, e0):
    return e0


false("as-if-whole", "as if nothing were clipped", lambda *, eta, mu, e0, T: (1 - eta * mu) ** T * e0)
false("limit-2.2", "limit 2.2/beta", limit=quiet(over_beta(2.2)), steps=2.2)


# |x| falls by eta until it is below eta, and stays there.
@true(SIGNS, no_noise, "derived in the comment", steps=4)
def sign_distance(*, eta, mu, e0, T):
    return max(math.sqrt(2 * e0 / mu) - eta * T, eta) ** 2


false("half", "eta/2 in the end", lambda *, eta, mu, e0, T: max(math.sqrt(2 * e0 / mu) - eta * T, eta / 2) ** 2)
false("twice", "2 eta a step", lambda *, eta, mu, e0, T: max(math.sqrt(2 * e0 / mu) - 2 * eta * T, eta) ** 2)


@true(SIGNS_LOGISTIC, no_noise, "|x+| = ||x| - eta| <= max(|x|, eta)", steps=4)
def sign_stays(*, eta, mu, e0):
    return max(2 * e0 / mu, eta**2)


false("no-floor", "eta forgotten", lambda *, mu, e0: 2 * e0 / mu)
false("start", "the start as |x|^2 <= 2 e0/beta", lambda *, eta, beta, e0: max(2 * e0 / beta, eta**2))


# |C(g)|^2 = 2 |g|^2 in the mean: E e+ <= e - eta (1 - eta beta) |grad|^2 + eta^2 beta sigma2.
@true(COINS, HALF, "derived in the comment (random sparsification)")
def one_of_two(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / mu


false(
    "noise",
    "as if whole vectors were sent",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu),
)
false("limit-1.2", "limit 1.2/beta", limit=over_beta(1.2), steps=1.2)


# |C|^2 = <grad, C> >= |grad|^2/2: e+ <= e - (eta/2) |C|^2 <= e - (eta/4) |grad|^2.
@true(LARGEST, QUIET, "derived in the comment (Stich, Cordonnier, Jaggi 2018)")
def largest_entry(*, eta, mu, e0, T):
    return (1 - eta * mu / 2) ** T * e0


false("as-if-whole", "as if both entries were sent", lambda *, eta, mu, e0, T: (1 - eta * mu) ** T * e0)
false("limit-2.1", "limit 2.1/beta", limit=quiet(over_beta(2.1)), steps=2.1)
