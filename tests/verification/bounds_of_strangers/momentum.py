"""Heavy ball and Nesterov's method with a fixed momentum q, started at rest; x = eta h.

Heavy ball's errors follow z+ = (1 + q - x) z - q z_before, Nesterov's z+ = (1 - x) ((1 + q) z - q z_before).
"""

from __future__ import annotations

from .cases import AHEAD, AHEAD_EXACT, BALL, BALL_EXACT, BALL_QUARTER
from .record import ONE, Book, over_beta

BOOK = Book()
true, false = BOOK.true, BOOK.false


# Energy f + q/(2 eta) |x - x_before|^2 does not grow for eta <= 2 (1 - q)/beta, here q = 1/2.
@true(BALL_EXACT, ONE, "Ochs, Chen, Brox, Pock 2014 (iPiano), its descent property; derived in the comment")
def ball_never_up(*, e0):
    return e0


false("limit-2.1", "limit 2.1/beta, where it is stable and overshoots", limit=over_beta(2.1), steps=2.1)
false("like-descent", "momentum never hurts", lambda *, eta, mu, e0, T: (1 - eta * mu) ** (2 * T) * e0)


# Noise from rest grows to the AR(2) variance: h/2 of it is eta sigma2 (1 + q) / (2 d (1 - q) (2 (1 + q) - x)).
@true(BALL, ONE, "Yule 1927 (variance of AR(2)); derived in the comment")
def ball_floor(*, eta, beta, e0, sigma2):
    return e0 + eta * sigma2 * (1 + 0.5) / (2 * (1 - 0.5) * (2 * (1 + 0.5) - eta * beta))


false("like-descent", "the floor without momentum at small steps", lambda *, eta, e0, sigma2: e0 + eta * sigma2 / 2)
false(
    "amplification",
    "1/(1 - q) forgotten",
    lambda *, eta, beta, e0, sigma2: e0 + eta * sigma2 * 1.5 / (2 * (3 - eta * beta)),
)


def complex_roots(*, eta, mu, beta):
    return {"no real roots below": (0.25, eta * mu), "nor above": (eta * beta, 2.25)}


# Roots of modulus sqrt(q) for (1 - sqrt(q))^2 <= x <= (1 + sqrt(q))^2: z_t = z_0 (u_t - q u_{t-1}), where
# u_t = q^(t/2) U_t and |U_t| <= t + 1; here q = 1/4.
@true(BALL_QUARTER, complex_roots, "Polyak 1964; derived in the comment", steps=2.25)
def ball_complex_roots(*, e0, T):
    return 0.25**T * (1 + 1.5 * T) ** 2 * e0


false("asymptotic", "without the polynomial", lambda *, e0, T: 0.25**T * e0)
false("square-root", "q for sqrt(q)", lambda *, e0, T: 0.25 ** (2 * T) * (1 + 1.5 * T) ** 2 * e0)


# Noise adds (beta/2 + q/(2 eta)) eta^2 sigma2 to the energy above.
@true(BALL, ONE, "standard, derived in the comment")
def ball_energy(*, eta, beta, e0, sigma2, T):
    return e0 + T * (eta**2 * beta + 0.5 * eta) * sigma2 / 2


false(
    "like-descent",
    "only what a step without momentum adds",
    lambda *, eta, beta, e0, sigma2, T: e0 + T * eta**2 * beta * sigma2 / 2,
)
false(
    "shifted",
    "T - 1 for T",
    lambda *, eta, beta, e0, sigma2, T: e0 + (T - 1) * (eta**2 * beta + 0.5 * eta) * sigma2 / 2,
)


# With a = 1 - x in [0, 1] and q = 1/2 the AR(2) variance gives (1 + q a) / ((1 - q a) (1 + a + 2 q a)) <= 1 times
# eta sigma2 / (2 d); energy f + q^2/(2 eta) |x - x_before|^2 without noise.
@true(AHEAD, ONE, "standard, derived in the comment")
def nesterov_floor(*, eta, e0, sigma2):
    return e0 + eta * sigma2 / 2


false("limit-1.9", "limit 1.9/beta", limit=over_beta(1.9))
false("quarter", "half of the noise", lambda *, eta, e0, sigma2: e0 + eta * sigma2 / 4)


def ninth(*, eta, mu, beta):
    return {"momentum 1/2 is for eta mu = 1/9 or more": (1 / 9, eta * mu), "eta <= 1/beta": (eta, 1 / beta)}


# q = (1 - s)/(1 + s) with s = sqrt(eta m) = 1/3: the loss is m-strongly convex for m = 1/(9 eta) <= mu.
@true(AHEAD_EXACT, ninth, "Nesterov 2004, Theorem 2.2.3 with the constant momentum of (2.2.11)")
def nesterov_rate(*, eta, e0, distance2, T):
    return (1 - 1 / 3) ** T * (e0 + distance2 / (18 * eta))


false("squared", "2T for T", lambda *, eta, e0, distance2, T: (1 - 1 / 3) ** (2 * T) * (e0 + distance2 / (18 * eta)))
false("any-mu", "the momentum's condition dropped", limit=ONE)
