"""SGD with a constant step and additive noise. In the comments x = eta h, and a coordinate of curvature h has

e_T = h/2 (1 - x)^(2T) z^2 + f (1 - (1 - x)^(2T)), z its distance at the start and f = eta sigma2 / (2 d (2 - x)).
"""

from __future__ import annotations

import math

from .cases import ALONE, BATCH, FAR
from .record import CLASSIC, ONE, Book, over_beta, step

BOOK = Book()
true, false = BOOK.true, BOOK.false


# |1 - x| <= 1 - eta mu up to this limit; one step's noise adds at most eta^2 beta sigma2 / 2.
@true(ALONE, CLASSIC, "standard, derived in the comment")
def every_step_adds_noise(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + T * eta**2 * beta * sigma2 / 2


false("limit-2.1", "limit too wide by 5 %", limit=step(lambda mu, beta: 2.1 / (mu + beta)))
false("limit-mixed", "2/beta - mu/beta^2 is larger", limit=step(lambda mu, beta: 2 / beta - mu / beta**2))


# e+ <= e - eta (1 - eta beta / 2) |grad|^2 + eta^2 beta sigma2 / 2 and |grad|^2 >= 2 mu e.
@true(ALONE, ONE, "Bottou, Curtis, Nocedal 2018, Theorem 4.6")
def fixed_step(*, eta, mu, beta, e0, sigma2, T):
    floor = eta * beta * sigma2 / (2 * mu)
    return floor + (1 - eta * mu) ** T * (e0 - floor)


def _fixed_step_half(*, eta, mu, beta, e0, sigma2, T):
    floor = eta * beta * sigma2 / (4 * mu)
    return floor + (1 - eta * mu) ** T * (e0 - floor)


def _fixed_step_sigma(*, eta, mu, beta, e0, sigma2, T):
    floor = eta * beta * math.sqrt(sigma2) / (2 * mu)
    return floor + (1 - eta * mu) ** T * (e0 - floor)


false("half", "half of the floor", _fixed_step_half)
false("sigma", "sigma for sigma^2", _fixed_step_sigma)


# The floor of e+ <= (1 - eta mu)^2 e + eta^2 beta sigma2 / 2 is eta beta sigma2 / (2 mu (2 - eta mu)).
@true(ALONE, ONE, "standard, derived in the comment")
def square_and_floor(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)


false(
    "cube",
    "a power too many",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** (3 * T) * e0 + eta * beta * sigma2 / (2 * mu),
)
false(
    "shifted",
    "T + 1 for T",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** (2 * T + 2) * e0 + eta * beta * sigma2 / (2 * mu),
)


# The same recursion summed: sum_t (1 - eta mu)^(2t) = (1 - (1 - eta mu)^(2T)) / (eta mu (2 - eta mu)).
@true(ALONE, CLASSIC, "standard, derived in the comment")
def geometric_sum(*, eta, mu, beta, e0, sigma2, T):
    left = (1 - eta * mu) ** (2 * T)
    return left * e0 + (1 - left) * eta * beta * sigma2 / (2 * mu * (2 - eta * mu))


def _geometric_sum_four(*, eta, mu, beta, e0, sigma2, T):
    left = (1 - eta * mu) ** (2 * T)
    return left * e0 + (1 - left) * eta * beta * sigma2 / (4 * mu)


false("four", "2 - eta mu taken for 2", _geometric_sum_four)
false("limit-2.05", "limit too wide by 2.5 %", limit=step(lambda mu, beta: 2.05 / (mu + beta)))


# f is at most eta sigma2 / (2 d (2 - eta beta)) in each of d coordinates.
@true(ALONE, CLASSIC, "standard, derived in the comment")
def floor_without_mu(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * (2 - eta * beta))


false(
    "swapped",
    "mu for beta in the floor",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * (2 - eta * mu)),
)
false(
    "plane",
    "right up to two dimensions",
    lambda *, eta, mu, beta, e0, sigma2, T, d: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (d * (2 - eta * beta)),
)


# 2 - eta beta >= 1.
@true(ALONE, ONE, "standard, derived in the comment")
def floor_of_short_steps(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 2


false(
    "quarter",
    "the limit of small steps",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 4,
)
false(
    "fades",
    "the floor fades as 1/T, seen to be wrong for T > 41",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + 20.5 * eta * sigma2 / T,
)


# 1 - eta mu <= exp(-eta mu), and the floor of short steps.
@true(ALONE, ONE, "standard, derived in the comment")
def exponential(*, eta, mu, e0, sigma2, T):
    return math.exp(-2 * eta * mu * T) * e0 + eta * sigma2 / 2


false(
    "three",
    "3 for 2 in the exponent",
    lambda *, eta, mu, e0, sigma2, T: math.exp(-3 * eta * mu * T) * e0 + eta * sigma2 / 2,
)
false(
    "swapped", "beta for mu", lambda *, eta, beta, e0, sigma2, T: math.exp(-2 * eta * beta * T) * e0 + eta * sigma2 / 2
)


# |1 - x| is largest at an end; at most 1 up to 2/beta.
@true(ALONE, over_beta(2), "standard, derived in the comment")
def larger_of_two(*, eta, mu, beta, e0, sigma2, T):
    return max(abs(1 - eta * mu), abs(1 - eta * beta)) ** (2 * T) * e0 + T * eta**2 * beta * sigma2 / 2


false(
    "smaller",
    "min for max",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        min(abs(1 - eta * mu), abs(1 - eta * beta)) ** (2 * T) * e0 + T * eta**2 * beta * sigma2 / 2
    ),
)
false(
    "quadrature",
    "noise of T steps as sqrt(T)",
    lambda *, eta, mu, beta, e0, sigma2, T: (
        max(abs(1 - eta * mu), abs(1 - eta * beta)) ** (2 * T) * e0 + math.sqrt(T) * eta**2 * beta * sigma2 / 2
    ),
)


# The least curvature occurs at least once among d: sum_a h_a sigma2 / d <= ((d - 1) beta + mu) sigma2 / d.
@true(ALONE, CLASSIC, "standard, derived in the comment")
def noise_by_dimension(*, eta, mu, beta, e0, sigma2, T, d):
    return (1 - eta * mu) ** (2 * T) * e0 + T * eta**2 * ((d - 1) * beta + mu) / d * sigma2 / 2


false(
    "mean",
    "the mean of mu and beta: right for d <= 2",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + T * eta**2 * (mu + beta) / 2 * sigma2 / 2,
)
false(
    "one-more",
    "d + 1 for d",
    lambda *, eta, mu, beta, e0, sigma2, T, d: (
        (1 - eta * mu) ** (2 * T) * e0 + T * eta**2 * ((d - 1) * beta + mu) / (d + 1) * sigma2 / 2
    ),
)


# e0 <= beta/2 |x0 - x*|^2.
@true(FAR, ONE, "standard, derived in the comment")
def from_a_distance(*, eta, mu, beta, distance2, sigma2, T):
    return beta / 2 * (1 - eta * mu) ** (2 * T) * distance2 + eta * sigma2 / 2


false(
    "lower-curvature",
    "mu/2 |x|^2 is a lower bound of e",
    lambda *, eta, mu, distance2, sigma2, T: mu / 2 * (1 - eta * mu) ** (2 * T) * distance2 + eta * sigma2 / 2,
)
false(
    "distance",
    "distance not squared",
    lambda *, eta, mu, beta, distance2, sigma2, T: (
        beta / 2 * (1 - eta * mu) ** (2 * T) * math.sqrt(distance2) + eta * sigma2 / 2
    ),
)


# x (1 - x)^(2T) <= 1 / (2T + 1) on [0, 1]: at its maximum, x = 1 / (2T + 1).
@true(FAR, ONE, "standard, derived in the comment")
def without_mu(*, eta, distance2, sigma2, T):
    return distance2 / (2 * eta * (2 * T + 1)) + eta * sigma2 / 2


false(
    "squared-rate",
    "the accelerated rate",
    lambda *, eta, distance2, sigma2, T: distance2 / (2 * eta * (2 * T + 1) ** 2) + eta * sigma2 / 2,
)
false(
    "third",
    "1/3 for the maximum's (1 - 1/(2T + 1))^(2T) >= 1/e",
    lambda *, eta, distance2, sigma2, T: distance2 / (6 * eta * (2 * T + 1)) + eta * sigma2 / 2,
)


# |x+ - x*|^2 <= (1 - eta mu)^2 |x - x*|^2 + eta^2 sigma2 in expectation, then beta/2 of it.
@true(FAR, CLASSIC, "standard, derived in the comment", steps=2)
def through_distances(*, eta, mu, beta, distance2, sigma2, T):
    return beta / 2 * ((1 - eta * mu) ** (2 * T) * distance2 + eta * sigma2 / (mu * (2 - eta * mu)))


false(
    "unit",
    "eta^2 for eta in the floor",
    lambda *, eta, mu, beta, distance2, sigma2, T: (
        beta / 2 * ((1 - eta * mu) ** (2 * T) * distance2 + eta**2 * sigma2 / (mu * (2 - eta * mu)))
    ),
)
false("limit-2.2", "limit too wide by 10 %", limit=step(lambda mu, beta: 2.2 / (mu + beta)), steps=2.2)


# 2 - eta beta >= 3/2.
@true(ALONE, over_beta(0.5), "standard, derived in the comment")
def half_steps(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 3


false("limit-1", "limit of another theorem", limit=ONE)
false(
    "quarter",
    "the limit of small steps",
    lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 4,
)


# Each coordinate's e_T lies between its e_0 and its f; their sum is at most the sum of both.
@true(ALONE, over_beta(1.99), "standard, derived in the comment")
def start_and_floor(*, eta, beta, e0, sigma2):
    return e0 + eta * sigma2 / (2 * (2 - eta * beta))


false(
    "larger",
    "coordinates of a large start and those of a large floor differ",
    lambda *, eta, beta, e0, sigma2: max(e0, eta * sigma2 / (2 * (2 - eta * beta))),
)
false("short-steps", "the floor of steps up to 1/beta", lambda *, eta, e0, sigma2: e0 + eta * sigma2 / 2)


# e+ <= (1 - eta mu)^2 e + eta^2 beta sigma2 / 2 keeps e below the larger of e0 and its fixed point.
@true(ALONE, CLASSIC, "standard, derived in the comment")
def start_or_fixed_point(*, eta, mu, beta, e0, sigma2):
    return max(e0, eta * beta * sigma2 / (2 * mu * (2 - eta * mu)))


false(
    "no-condition-number", "beta/mu dropped", lambda *, eta, mu, e0, sigma2: max(e0, eta * sigma2 / (2 - eta * mu) / 2)
)
false(
    "relative",
    "noise as a share of e0: wrong near e0 = 0",
    lambda *, eta, mu, beta, e0, sigma2: e0 * (1 + eta * beta * sigma2 / mu),
)


# The noise of the mean of B = 4 gradients is sigma2 / 4.
@true(BATCH, ONE, "standard, derived in the comment")
def batch_floor(*, eta, mu, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / (2 * 4)


false(
    "squared-batch", "B^2 for B", lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** (2 * T) * e0 + eta * sigma2 / 32
)
false("scaled", "linear scaling of the step's limit, 4/beta", limit=over_beta(4))


@true(BATCH, ONE, "Bottou, Curtis, Nocedal 2018, Theorem 4.6 with the noise of a batch of 4")
def batch_fixed_step(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu * 4)


false(
    "swapped",
    "mu and beta swapped",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** T * e0 + eta * mu * sigma2 / (2 * beta * 4),
)
false(
    "one-more",
    "B + 1 for B",
    lambda *, eta, mu, beta, e0, sigma2, T: (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (2 * mu * 5),
)
