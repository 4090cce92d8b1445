"""Strong convexity for the last iterate of All-for-one: an exact floor for quadratics, a logarithm for kappa else."""

from __future__ import annotations

from functools import partial

from ...elementary import fall, last_over_mean, maximum, minimum, sqrt, survive
from ...quantities import Quantity
from ...theorem import Conditions, records, theorem
from .paper import source
from .theorem_2 import step_conditions

_record = partial(theorem, source=source("Theorem 2", distance2=r"\|x^0-x_i^\star\|^2"), quantity=Quantity.EXCESS)

_NOISE = (
    "weights lambda_ij >= 0 sum to 1; gradients are unbiased, independent across agents, of variance at most sigma2"
)

# One Hessian H for all, y the minimiser of sum_j lambda_ij f_j: along an eigenvector of eigenvalue h, with u =
# (1 - eta h)^T in [0, 1], the mean of x_T - x_i* is u z + (1 - u) w, z = x_0 - x_i*, w = y - x_i*. Its square is at
# most u z^2 + (1 - u) w^2; |H w| <= B, and (1 - u)/h falls with h. Or by Minkowski's inequality, (1 - u)^2 <= 1 - u.
# Noise v along it leaves (eta v/2) (1 - (1 - x)^2T)/(2 - x), x = eta h, which rises with x on [0, 1].


@_record(
    key="sample-optimal/theorem-2-quadratic",
    title="All-for-one on quadratics of one Hessian: the noise without kappa",
    hypotheses="all f_j are quadratic with one Hessian, whose spectrum is in [mu, L]; |grad f_i - grad f_j| <= b_ij; "
    f"{_NOISE}",
    conditions=step_conditions,
    tight="The bound is tight for a start along mu and noise along L; the bias is attained in the limit of many "
    "rounds.",
    monotone={"e0": 1, "sigma2": 1, "lambda2": 1, "bias": 1, "beta": 1},
)
def quadratic_last_iterate(*, eta, mu, beta, e0, sigma2, lambda2, bias, T):
    """With any step eta <= 1/L, E[e_T] is at most the bound; the floor of Theorem 2, which is for any losses that
    satisfy PL, has (2 - eta L) kappa times the noise.

    min(q e_0 + (1 - q) b, (q e_0^1/2 + ((1 - q) b)^1/2)^2) + eta s (1 - (1 - eta L)^2T)/(2 (2 - eta L)),
    q = (1 - eta mu)^T, b = B^2/(2 mu), s = sigma^2 Lambda_2."""
    kept, floor = survive(eta * mu, T), bias**2 / (2 * mu) * fall(eta * mu, T)
    noise = eta * sigma2 * lambda2 * fall(eta * beta, 2 * T) / (2 * (2 - eta * beta))
    return minimum(kept * e0 + floor, (kept * sqrt(e0) + sqrt(floor)) ** 2) + noise


def window_conditions(*, eta, mu, beta, window, T) -> Conditions:
    """Something to look back on."""
    return {"the last rounds 1 + window <= T": (1 + window, T), **step_conditions(eta=eta, mu=mu, beta=beta)}


# x = eta L, S_k the mean of the losses delta of the last k + 1 iterates, u the first of them, g and a the gradients at
# an iterate and at u. Interpolation gives <g, x_t - u> >= delta_t - delta_u + |g - a|^2/(2 L), and |g|^2 <= |g - a|^2/x
# + |a|^2/(1 - x), |a|^2 <= 2 L delta_u: sum |x_{t+1} - u|^2 over them, delta_u >= (1 - x) (S_k - eta s/2). So
#   S_{k-1} <= (1 + x/k) S_k + (1 - x) eta s/(2 k),
# and S_0 <= P S_w + (1 - x) (eta s/2) (P - 1)/x with P = prod_{k <= w} (1 + x/k), at most exp(x H_w) <= (2 w + 1)^x,
# as the harmonic number H_w is at most ln(2 w + 1); P <= 1 + (P - 1)/x serves S_w as well. S_w <= D/(2 eta (w + 3)) +
# eta s/2 is the mean of w + 1 iterates in theorem-3-averaged-sharp where the gradient at the comparator is 0, D =
# E|x_{T-w-1} - x*|^2, which contracts by (1 - eta mu)^2 <= 1 - eta mu. The logarithm is needed: a rare kick t rounds
# before the end, of the size 2 c eta t that a slope c just halves by then, leaves eta s/(4 t); kicks of such sizes in
# every round leave (eta s/4) ln kappa.


@_record(
    key="sample-optimal/theorem-2-last-iterate",
    title="All-for-one, last iterate, a logarithm for kappa",
    hypotheses="f_j is L-smooth and mu-strongly convex, and those of positive weight have the gradients of f_i; "
    f"{_NOISE}",
    conditions=window_conditions,
    tight="After one round the bound is tight for noise at curvature L = 1/eta, and for the start where the slope is "
    "constant; after two rounds it is tight for noise whose first step is a rare jump.",
    monotone={"distance2": 1, "sigma2": 1, "lambda2": 1, "beta": 1},
)
def last_iterate(*, eta, mu, beta, distance2, sigma2, lambda2, window, T):
    """With any step eta <= 1/L and any window w < T, E[e_T] is at most the bound. At eta L <= 1/ln(kappa) and the best
    window its floor is eta s/2 times a multiple of ln(kappa), where that of theorem-3-sharp is eta s/2 times kappa/2,
    which is less for kappa up to about 30.

    (1 + (P - 1)/x) (D/(2 eta (w + 3)) + eta s/2), x = eta L, P = (2 w + 1)^x, s = sigma^2 Lambda_2, D = (1 - eta mu)^2n
    D_0 + eta^2 s min(n, 1/(eta mu)), n = T - w - 1."""
    before = maximum(0, T - window - 1)
    distance = survive(eta * mu, 2 * before) * distance2 + eta**2 * sigma2 * lambda2 * minimum(before, 1 / (eta * mu))
    mean = distance / (2 * eta * (window + 3)) + eta * sigma2 * lambda2 / 2
    return last_over_mean(2 * window + 1, eta * beta) * mean


THEOREMS = records(quadratic_last_iterate, last_iterate)
