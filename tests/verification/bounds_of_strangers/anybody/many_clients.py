"""Three clients, seen from client 0 unless all are measured; scalars of `cases.SPREAD` besides the library's."""

from __future__ import annotations

from ..record import ONE, Book, over_beta
from .cases import (
    AMP,
    AMP_ALIKE,
    AMP_KINK,
    CLUSTERS,
    CLUSTERS_KINK,
    COBO,
    DRIFT,
    FOMO,
    LOCAL_STEPS,
    MINIBATCH,
    ONE_OF_THREE,
    SCAFFOLD,
    SIMPLEX,
    TWO_OF_THREE,
    VALIDATION,
    alike,
    sgd,
)
from .one_client import quiet

BOOK = Book()
true, false = BOOK.true, BOOK.false


def beside(pull, factor=1.0):
    """No noise, and eta (beta + pull) <= factor."""

    def conditions(*, eta, beta, sigma2):
        return {"no noise": (sigma2, 0.0), "step": (eta, factor / (beta + pull))}

    return conditions


# In R, x - eta phi'(x) lies between x and the minimiser when eta beta <= 1, and the pull moves x towards the others, by
# convex weights together: no model leaves the interval of the start and all minimisers.
def _hull(case, pull, lost):
    @true(case, beside(pull), "derived in the comment: models stay in an interval")
    def hull(*, far, apart):
        return max(far, apart) ** 2

    false("never-away", "the others forgotten", lambda *, far: far**2)
    if lost is None:
        false("limit-4", "a limit four times as long", limit=beside(pull, 4), steps=4)
    else:
        false("lost", "the start forgotten" if lost == "start" else "half of the way", lambda *, far, apart: (
            apart**2 if lost == "start" else (max(far, apart) / 2) ** 2
        ))  # fmt: skip
    BOOK.records[-3:] = [_named(entry, case.name) for entry in BOOK.records[-3:]]


def _named(entry, name):
    from dataclasses import replace

    name = name.lower().replace(" ", "-").replace(",", "")
    return replace(entry, name=entry.name.replace("hull", name), of=entry.of and name)


# pull 1 and weights that sum to 1/2; rho = 1/2 times at most two others, or one; no pull
_hull(AMP, 1, None)
_hull(AMP_KINK, 1, "start")
_hull(COBO, 1, None)
_hull(SIMPLEX, 0.5, "half")
_hull(CLUSTERS, 0, "start")
_hull(CLUSTERS_KINK, 0, None)


# After local steps each model that is used has a lower loss than before, and so has a convex combination of them.
@true(FOMO, quiet(over_beta(2)), "derived in the comment", steps=2)
def fedfomo_down(*, e0):
    return e0


false(
    "steepest",
    "the rate of the steepest client",
    lambda *, eta, beta, e0, T: (1 - eta * beta) ** (2 * T) * e0,
    limit=quiet(ONE),
)
false("limit-2.2", "limit 2.2/beta", limit=quiet(over_beta(2.2)), steps=2.2)


# Clients alike in R: deviations D from the mean contract by 1 - eta h at least (x - u is a symmetric matrix times D
# with eigenvalues in [0, 1]), and each step adds 2 (1 - 1/N) eta^2 sigma2 to 2 mean |D|^2; mu = beta = h.
@true(AMP_ALIKE, lambda *, eta, beta: {"step": (eta, 1 / (beta + 1))}, "derived in the comment")
def fedamp_consensus(*, eta, mu, beta, sigma2, N):
    return 2 * (1 - 1 / N) * eta * sigma2 / (mu * (2 - eta * beta))


false(
    "once", "once for twice", lambda *, eta, mu, beta, sigma2, N: (1 - 1 / N) * eta * sigma2 / (mu * (2 - eta * beta))
)
false("share", "1/N for 1 - 1/N", lambda *, eta, mu, beta, sigma2, N: 2 / N * eta * sigma2 / (mu * (2 - eta * beta)))


# Clients that are alike, start together and draw nothing stay together, alone or not.
@true(VALIDATION, quiet(ONE), "derived in the comment")
def validation_alike(*, eta, mu, e0, T):
    return (1 - eta * mu) ** (2 * T) * e0


false("three", "N = 3 times as fast", lambda *, eta, mu, e0, T: (1 - eta * mu) ** (6 * T) * e0)
false("limit-2.3", "limit 2.3/beta", limit=quiet(over_beta(2.3)), steps=2.3)


# One curvature: corrections cancel in the mean, which is SGD with noise sigma2/N around the mean minimiser.
@true(SCAFFOLD, ONE, "Karimireddy et al. 2020, derived in the comment")
def scaffold_mean(*, eta, mu, sigma2, N, T, far_mean, apart_mean):
    return ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + eta * sigma2 / (N * mu)


false("no-bias", "the distance of the mean forgotten", lambda *, eta, mu, sigma2, N, T, far_mean: (
    ((1 - eta * mu) ** T * far_mean) ** 2 + eta * sigma2 / (N * mu)
))  # fmt: skip
false("square", "N^2 for N", lambda *, eta, mu, sigma2, N, T, far_mean, apart_mean: (
    ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + eta * sigma2 / (N**2 * mu)
))  # fmt: skip


@true(LOCAL_STEPS, ONE, "as scaffold_mean: with one curvature local steps do no harm")
def local_mean(*, eta, mu, sigma2, N, T, far_mean, apart_mean):
    return ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + eta * sigma2 / (N * mu)


false("no-bias", "the distance of the mean forgotten", lambda *, eta, mu, sigma2, N, T, far_mean: (
    ((1 - eta * mu) ** T * far_mean) ** 2 + eta * sigma2 / (N * mu)
))  # fmt: skip
false("fourth", "a quarter of the noise", lambda *, eta, mu, sigma2, N, T, far_mean, apart_mean: (
    ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + eta * sigma2 / (4 * N * mu)
))  # fmt: skip


# A round is w <- c w + (1 - c) m_k + noise, c = (1 - eta h)^2: variance (1 - c)/(1 + c) <= 1 times that of m_k, and the
# noise of SGD, at most eta sigma2/mu.
@true(ONE_OF_THREE, ONE, "derived in the comment")
def one_of_three(*, eta, mu, sigma2, T, far_mean, apart_mean, scatter):
    return ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + scatter + eta * sigma2 / mu


false("no-spread", "as if all took part", lambda *, eta, mu, sigma2, T, far_mean, apart_mean: (
    ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + eta * sigma2 / mu
))  # fmt: skip
false("share", "a third of the spread", lambda *, eta, mu, sigma2, N, T, far_mean, apart_mean, scatter: (
    ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + scatter / N + eta * sigma2 / mu
))  # fmt: skip


# The mean of two of three without replacement: variance (1/2) (3 - 2)/(3 - 1) of one.
@true(TWO_OF_THREE, ONE, "as one_of_three, derived in the comment")
def two_of_three(*, eta, mu, sigma2, T, far_mean, apart_mean, scatter):
    return ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + scatter / 4 + eta * sigma2 / (2 * mu)


false("ninth", "a ninth of the spread", lambda *, eta, mu, sigma2, T, far_mean, apart_mean, scatter: (
    ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + scatter / 9 + eta * sigma2 / (2 * mu)
))  # fmt: skip
false("noise", "a sixth of the noise", lambda *, eta, mu, sigma2, T, far_mean, apart_mean, scatter: (
    ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + scatter / 4 + eta * sigma2 / (6 * mu)
))  # fmt: skip


# One step per round of two samples: T/2 steps with noise sigma2/(2 N).
@true(MINIBATCH, ONE, "derived in the comment (Woodworth, Patel, Srebro 2020)")
def minibatch(*, eta, mu, sigma2, N, T, far_mean, apart_mean):
    return ((1 - eta * mu) ** (T / 2) * far_mean + apart_mean) ** 2 + eta * sigma2 / (2 * N * mu)


false("rounds", "T for T/2 steps", lambda *, eta, mu, sigma2, N, T, far_mean, apart_mean: (
    ((1 - eta * mu) ** T * far_mean + apart_mean) ** 2 + eta * sigma2 / (2 * N * mu)
))  # fmt: skip
false("noise", "batches of 8", lambda *, eta, mu, sigma2, N, T, far_mean, apart_mean: (
    ((1 - eta * mu) ** (T / 2) * far_mean + apart_mean) ** 2 + eta * sigma2 / (8 * N * mu)
))  # fmt: skip


# 2 (1 - 1/N) eta^2 sigma2 after the first step of a round, 0 after the second: half of it on average, less for odd T.
@true(DRIFT, ONE, "derived in the comment")
def drift(*, eta, sigma2, N):
    return (1 - 1 / N) * eta**2 * sigma2


false("share", "1/N for 1 - 1/N", lambda *, eta, sigma2, N: eta**2 * sigma2 / N)
false("half", "half of it", lambda *, eta, sigma2, N: (1 - 1 / N) * eta**2 * sigma2 / 2)


# As for one client: E e+ <= e - (eta/2) |grad|^2 + eta^2 beta sigma2/2 of each.
@true(sgd(alike(2), "average_client_gradient"), ONE, "Ghadimi, Lan 2013")
def all_gradients(*, eta, beta, e0, sigma2, T):
    return 2 * e0 / (eta * T) + eta * beta * sigma2


false("quarter", "1/2 for 2", lambda *, eta, beta, e0, sigma2, T: e0 / (2 * eta * T) + eta * beta * sigma2)
false("noise", "an eighth of it", lambda *, eta, beta, e0, sigma2, T: 2 * e0 / (eta * T) + eta * beta * sigma2 / 8)


@true(sgd(alike(2), "mean_excess"), ONE, "standard: nobody sends anything")
def all_alone(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)


false("averaged", "as if averaged", lambda *, eta, mu, beta, e0, sigma2, T, N: (
    (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu * N)
))  # fmt: skip
false("rate", "3T for 2T", lambda *, eta, mu, beta, e0, sigma2, T: (
    (1 - eta * mu) ** (3 * T) * e0 + eta * beta * sigma2 / (2 * mu)
))  # fmt: skip


# Every client has noise of its own: variance at most eta sigma2 / (mu (2 - eta beta)) of each.
@true(sgd(alike(2), "last_consensus"), ONE, "derived in the comment")
def alone_consensus(*, eta, mu, beta, sigma2, N):
    return 2 * (1 - 1 / N) * eta * sigma2 / (mu * (2 - eta * beta))


false(
    "once", "once for twice", lambda *, eta, mu, beta, sigma2, N: (1 - 1 / N) * eta * sigma2 / (mu * (2 - eta * beta))
)
false("beta", "beta for mu", lambda *, eta, beta, sigma2, N: 2 * (1 - 1 / N) * eta * sigma2 / (beta * (2 - eta * beta)))
