"""Many steps of All-for-one with peers of fixed similarity: the exact contraction and the exact noise floor."""

from __future__ import annotations

from ...elementary import fall, survive
from ...quantities import Quantity
from ...theorem import records, theorem
from .one_step import pull_condition
from .paper import source

# No noise, R_i mu-strongly convex, h = sum_k alpha_k g_k. |h - A g_i| <= (A - A_-) |g_i| holds iff h = H g_i for some
# symmetric H with eigenvalues in [A_-, 2 A - A_-]. In z = H^{-1/2} theta the step is the gradient step
# z_1 = z_0 - eta grad f(z_0) of f(z) = R_i(H^{1/2} z), which is m-strongly convex and L-smooth with m = mu A_-,
# L = beta (2 A - A_-). For eta (L + m) <= 2 it satisfies f(z_1) - f* <= q^2 (f(z_0) - f*), q = 1 - eta m: add the
# interpolation inequalities of the pairs (z_0, z_1), (z*, z_1), (z*, z_0) with multipliers q, 1 - q, q (1 - q); what
# remains is a sum of squares (Taylor, Hendrickx, Glineur 2018).


@theorem(
    key="worst-case/contraction",
    title="Exact contraction with similar peers",
    source=source("many steps of All-for-one without noise"),
    quantity=Quantity.EXCESS,
    mode="sure",
    hypotheses="R_i is mu-strongly convex and beta-smooth; gradients are exact, with |grad R_k - grad R_i|^2 <= (1 - "
    "r_k) |grad R_i|^2 where alpha_k > 0",
    # The step limit; implied by eta beta A <= 1.
    conditions=lambda *, eta, mu, beta, weight, pull: {
        "step size eta <= 2/(beta (2 weight - pull) + mu pull)": (eta, 2 / (beta * (2 * weight - pull) + mu * pull)),
        **pull_condition(weight=weight, pull=pull),
        "curvature mu <= beta": (mu, beta),
    },
    tight="The bound is always attained, by R_i of curvature mu in dimension 1 and R_k = (1 - sqrt(1 - r_k)) R_i.",
    monotone={"e0": 1, "mu": -1, "pull": -1},
)
def contraction(*, eta, mu, pull, e0, T):
    """With sum_k alpha_k = A and sum_k alpha_k (1 - sqrt(1 - r_k)) >= A_- at every step and a constant step
    eta <= 2/(beta (2 A - A_-) + mu A_-), which eta beta A <= 1 implies: e_T <= (1 - eta mu A_-)^(2 T) e_0."""
    return survive(eta * mu * pull, 2 * T) * e0


# R_i quadratic, grad R_k = c_k grad R_i with c_k = 1 - sqrt(1 - r_k): along an eigenvector of curvature l the error
# contracts by 1 - x, x = eta l A_-, and the noise adds eta^2 l V_l / 2 to the excess, so that after T steps
#     (1 - x)^(2 T) e_0,l + eta V_l (1 - (1 - x)^(2 T)) / (2 A_- (2 - x)),   sum V_l = V, sum e_0,l = e_0.
# For x <= 1 the first factor falls and the second rises with x: they are largest at l = mu and at l = beta.


@theorem(
    key="worst-case/noise-floor",
    title="Exact excess of quadratics with aligned peers",
    source=source("many steps of All-for-one on quadratics"),
    quantity=Quantity.EXCESS,
    hypotheses="the noise is additive and independent over steps and clients, V = sum_k alpha_k^2 sigma_k^2",
    # No overshoot along the steepest direction.
    conditions=lambda *, eta, mu, beta, pull: {
        "step size eta <= 1/(beta pull)": (eta, 1 / (beta * pull)),
        "curvature mu <= beta": (mu, beta),
    },
    tight="The bound is always attained, by a start along curvature mu and noise along curvature beta; in dimension 1, "
    "for mu = beta.",
    monotone={"e0": 1, "V": 1},
)
def noise_floor(*, eta, mu, beta, pull, e0, V, T):
    """For a quadratic R_i with curvatures in [mu, beta], peers R_k = (1 - sqrt(1 - r_k)) R_i, constant weights and a
    constant step eta <= 1/(beta A_-): E[e_T] is at most the bound.

    (1 - eta mu A_-)^(2 T) e_0 + eta V (1 - (1 - eta beta A_-)^(2 T)) / (2 A_- (2 - eta beta A_-))."""
    x = eta * beta * pull
    return survive(eta * mu * pull, 2 * T) * e0 + eta * V / (2 * pull * (2 - x)) * fall(x, 2 * T)


THEOREMS = records(contraction, noise_floor)
