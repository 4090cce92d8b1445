"""One step inside a cluster: Lemmas 3 and 4, and the descent of the cluster's mean loss."""

from __future__ import annotations

from ...elementary import survive
from ...quantities import Quantity
from ...theorem import Conditions, printed, records, theorem
from .assumption_4 import cluster_dissimilarity, collaborative
from .paper import source


def smooth_step(*, eta, beta) -> Conditions:
    """The step of a descent lemma."""
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


CLUSTER = (
    "weights are settled, 1 inside the cluster of c clients and 0 outside; every f_i is L-smooth; stochastic gradients "
    "are unbiased, independent across clients given the past, of total variance at most sigma2"
)
DELTA = "delta = (1/c^2) sum_ij (f_ij(z_ij^t) - E f_ij(z_ij^{t+1}))"

# One step with settled weights (1 inside the cluster of c, 0 outside), d_i = x_i - xbar, Xi = (1/c) sum_i |d_i|^2:
#     x_i+ = x_i - eta (g_i + rho c d_i),    g_i = grad f_i(x_i) + noise, E|noise|^2 <= sigma2, independent.
#
# --- Lemma 3: the midpoints z_ij = (x_i + x_j)/2 and f_ij = (f_i + f_j)/2 ------------------------------------------
#
# z_ij+ = z_ij - (eta/2)(g_i + g_j) - (eta rho c/2)(d_i + d_j). Smoothness, -<a, b> = (|a - b|^2 - |a|^2 - |b|^2)/2
# and eta L <= 1:
#     |grad f_ij(z_ij)|^2 <= (2/eta)(f_ij(z_ij) - E f_ij(z_ij+)) + |e_ij|^2 + (L/eta) Var z_ij+,
#     e_ij = grad f_ij(z_ij) - (grad f_i(x_i) + grad f_j(x_j))/2 - (rho c/2)(d_i + d_j).
# The first part of e_ij is at most (L/2)|x_i - x_j|, of mean square L^2 Xi / 2 over the c^2 pairs; the second has mean
# square rho^2 c^2 Xi / 2; together (L + rho c)^2 Xi / 2. Var z_ij+ is eta^2 sigma2 / 2, and eta^2 sigma2 for i = j:
# (1 + 1/c) eta^2 sigma2 / 2 on average. The print counts all pairs as i != j.


@theorem(
    key="cobo/lemma-3",
    title="One step at the midpoints",
    source=source("Lemma 3"),
    statement=f"For eta <= 1/L the mean squared gradient at the midpoints is at most the bound; {DELTA}.",
    quantity=Quantity.MIDPOINT_GRADIENT,
    mode="sure",
    hypotheses=CLUSTER,
    conditions=smooth_step,
    tight="The bound is tight for one client with f_i = L |x|^2 / 2 at eta = 1/L.",
    monotone={"decrease": 1, "spread": 1, "sigma2": 1, "beta": 1, "rho": 1},
)
def lemma_3(*, eta, beta, rho, size, decrease, spread, sigma2):
    """(2/eta) delta + (L + rho c)^2 Xi / 2 + L eta sigma2 (1 + 1/c) / 2."""
    return 2 * decrease / eta + (beta + rho * size) ** 2 * spread / 2 + beta * eta * sigma2 * (1 + 1 / size) / 2


@printed(
    lemma_3,
    fault="The noise term is that of a pair i != j, but the pairs i = j, which the sum contains, have twice the "
    "variance; and the term with sigma2/b in D_1 has not the unit of its neighbours (b would have to be a squared "
    "gradient).",
    statement=f"For eta <= 1/(2L) the mean squared gradient at the midpoints is at most the bound; {DELTA}.",
    source=source("Lemma 3, at settled weights"),
    # Half of what is needed.
    conditions=lambda *, eta, beta: {"step size eta <= 1/(2 beta)": (eta, 1 / (2 * beta))},
    monotone={"decrease": 1, "spread": 1},
)
def lemma_3_printed(*, eta, beta, rho, size, batch, decrease, spread, sigma2):
    """(2/eta) delta + D_1 2 Xi + L eta sigma2 / 2, D_1 as printed."""
    coefficient = 3 * beta**2 / 4 + 3 * size**2 * rho**2 + 2 * beta * eta * rho**2 * (size - 2) * sigma2 / batch
    return 2 * decrease / eta + coefficient * 2 * spread + beta * eta * sigma2 / 2


# --- the mean loss fbar = (1/c) sum_i f_i at xbar -------------------------------------------------------------------
#
# The penalty does not move xbar: xbar+ = xbar - (eta/c) sum_i g_i. As above with e = grad fbar(xbar) -
# (1/c) sum_i grad f_i(x_i), |e|^2 <= (1/c) sum_i L^2 |d_i|^2 = L^2 Xi, and Var xbar+ <= eta^2 sigma2 / c.


@theorem(
    key="cobo/mean-descent",
    title="One step of the cluster's mean loss",
    source=source("Lemma 3, for the mean of the cluster"),
    quantity=Quantity.MEAN_GRADIENT,
    mode="sure",
    hypotheses=CLUSTER,
    conditions=smooth_step,
    tight="The bound is tight for f_i = L |x|^2 / 2 at consensus and eta = 1/L.",
    monotone={"decrease": 1, "spread": 1, "sigma2": 1, "beta": 1, "size": -1},
)
def mean_descent(*, eta, beta, size, decrease, spread, sigma2):
    """For eta <= 1/L the squared gradient of the mean loss fbar at the mean model is at most the bound;
    delta = fbar(xbar_t) - E fbar(xbar_{t+1})."""
    return 2 * decrease / eta + beta**2 * spread + beta * eta * sigma2 / size


# --- Lemma 4: the consensus distance --------------------------------------------------------------------------------

COLLABORATIVE = f"{CLUSTER}; (A4) holds for every pair of the cluster, with M the largest M_ij"

# Write d, a, b for the c vectors d_i, grad f_i(x_i) - grad f_i(xbar), grad f_i(xbar), all centred over the clients;
# |.|^2 the mean over clients, so |d|^2 = Xi, |a| <= L |d| and, by `cluster_dissimilarity`, |b|^2 <= m^2 |grad fbar|^2.
#     d+ = (1 - eta rho c) d - eta a - eta b + noise,  noise of mean square eta^2 sigma2 (1 - 1/c).
# eta rho c <= 1 gives |(1 - eta rho c) d - eta a| <= (1 - p)|d|, p = eta (rho c - L) in (0, 1), and convexity
# |(1 - p) u + p v|^2 <= (1 - p)|u|^2 + p |v|^2 with v = eta b / p:
#     E Xi+ <= (1 - p) Xi + (eta / (rho c - L)) m^2 |grad fbar(xbar)|^2 + eta^2 sigma2 (1 - 1/c).
# The print contracts d by 1 - 2 eta rho c, replaces |b|^2 by a decrease, and keeps 1/c^2 of the noise.


@theorem(
    key="cobo/lemma-4",
    title="One step of the consensus distance",
    source=source("Lemma 4"),
    quantity=Quantity.NEXT_CONSENSUS,
    hypotheses=COLLABORATIVE,
    # A penalty above the curvature, and a step that does not overshoot the mean.
    conditions=lambda *, eta, beta, rho, size, M: {
        "step size eta <= 1/(rho size)": (eta, 1 / (rho * size)),
        "penalty 1.01 beta/size <= rho": (1.01 * beta / size, rho),
        **collaborative(M=M),
    },
    tight="The bound is tight for identical clients at consensus, where noise alone acts.",
    monotone={"mean_gradient": 1, "spread": 1, "sigma2": 1, "M": 1, "beta": 1, "rho": -1},
)
def lemma_4(*, eta, beta, rho, size, M, mean_gradient, spread, sigma2):
    """For rho c >= 1.01 L and eta <= 1/(rho c) the mean of |x_i - x_j|^2 over pairs after the step is at most the
    bound, Xi half of its value before and the gradient of fbar taken at the mean model.

    2 [(1 - eta (rho c - L)) Xi + eta m^2 |grad fbar|^2 / (rho c - L) + eta^2 sigma2 (1 - 1/c)]."""
    margin = rho * size - beta
    drift = eta * cluster_dissimilarity(M=M, size=size) * mean_gradient**2 / margin
    return 2 * (survive(eta * margin, 1) * spread + drift + eta**2 * sigma2 * (size - 1) / size)


@printed(
    lemma_4,
    fault="A step adds 2 eta^2 sigma2 (1 - 1/c) to the mean, not eta sigma2/(2 rho c^3); the contraction 1 - 2 eta rho "
    "c of the proof is 1 - eta rho c; |grad f_i + grad f_j|^2 is 4 |grad f_ij|^2; and b is compared with a squared "
    "gradient.",
    statement=f"The mean of |x_i - x_j|^2 over pairs after the step is at most the bound; {DELTA}.",
    source=source("Lemma 4, at settled weights"),
    # As printed.
    conditions=lambda *, eta, beta, rho, size, M, batch, sigma2: {
        "step size eta <= 1/(2 rho size)": (eta, 1 / (2 * rho * size)),
        "penalty sqrt(3) beta/size <= rho": (3**0.5 * beta / size, rho),
        "relative heterogeneity M <= 1/5": (M, 1 / 5),
        **minibatch_printed(eta=eta, beta=beta, size=size, batch=batch, sigma2=sigma2),
    },
    monotone={"decrease": 1, "spread": 1, "M": 1, "sigma2": 1},
)
def lemma_4_printed(*, eta, beta, rho, size, M, decrease, spread, sigma2):
    """(1 - eta rho c) 2 Xi + 6 M^2 delta / (rho c) + (1/c^2 + 3 eta L M^2) eta sigma2 / (2 rho c)."""
    noise = (1 / size**2 + 3 * eta * beta * M**2) * eta * sigma2 / (2 * rho * size)
    return (1 - eta * rho * size) * 2 * spread + 6 * M**2 * decrease / (rho * size) + noise


def minibatch_printed(*, eta, beta, size, batch, sigma2) -> Conditions:
    """b >= (2/c^2) 2 L eta (c - 2) sigma2, a number of samples against a squared gradient."""
    return {"minibatch 4 beta eta (size - 2) sigma2/size^2 <= batch": (
        4 * beta * eta * (size - 2) * sigma2 / size**2, batch,
    )}  # fmt: skip


THEOREMS = records(lemma_3_printed, lemma_3, mean_descent, lemma_4_printed, lemma_4)
