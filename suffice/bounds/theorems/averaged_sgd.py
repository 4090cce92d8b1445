"""Polyak, Juditsky (1992): acceleration of stochastic approximation by averaging (SIAM J. Control Optim. 30, 838-855).

Theorem 1 gives, for a linear problem, the limit of the mean of the iterates: on a quadratic R of Hessian H, with noise
of covariance S, T (E[R(thetabar_T)] - R*) tends to tr(H^-1 S) / 2, whatever the constant step. Here it is for finite T,
with the start: thetabar_T is the mean of theta_0, ..., theta_T.
"""

from __future__ import annotations

from ..elementary import fall
from ..quantities import Quantity
from ..theorem import Source, records, theorem

# Along an eigenvector of curvature l put x = eta l. The errors are u_t = (1 - x) u_{t-1} - eta z_t, so that
#     ubar_T = u_0 (1 - (1 - x)^n) / (n x) - (eta / n) sum_{m=1..T} z_{n-m} (1 - (1 - x)^m) / x,   n = T + 1.
# Excess l/2 E[ubar_T^2], z_t uncorrelated of variance s_l:
#     e_0,l ((1 - (1 - x)^n) / (n x))^2 + s_l / (2 l n^2) sum_{m=1..T} (1 - (1 - x)^m)^2,   sum_l s_l = sigma^2.
# For x <= 1 the first bracket is the mean of (1 - x)^0, ..., (1 - x)^T, which falls with x: largest at l = mu. The
# last sum is at most T, and 1/l at most 1/mu.


@theorem(
    key="averaged-sgd/theorem-1-finite",
    title="SGD with averaged iterates",
    source=Source(paper="Polyak, Juditsky (1992)", locator="Theorem 1, linear case, for finite T"),
    quantity=Quantity.MEAN_ITERATE_EXCESS,
    hypotheses="R is quadratic; the noise is unbiased, of total variance at most sigma^2 and uncorrelated over the "
    "steps",
    # No direction overshoots.
    conditions=lambda *, eta, mu, beta: {
        "step size eta <= 1/beta": (eta, 1 / beta),
        "curvature mu <= beta": (mu, beta),
    },
    tight="The bound is always attained, with curvature mu = beta = 1/eta, or without noise by a start along curvature "
    "mu.",
    monotone={"e0": 1, "sigma2": 1},
)
def averaged(*, eta, mu, e0, sigma2, T):
    """For SGD with a constant step eta <= 1/beta on a quadratic R with curvatures in [mu, beta], the excess loss of the
    mean of theta_0, ..., theta_T is in expectation at most the bound."""
    return (fall(eta * mu, T + 1) / ((T + 1) * eta * mu)) ** 2 * e0 + sigma2 * T / (2 * mu * (T + 1) ** 2)


THEOREMS = records(averaged)
