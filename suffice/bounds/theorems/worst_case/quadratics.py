"""Two quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i): how different their gradients can be."""

from __future__ import annotations

from ...elementary import quotient
from ...quantities import Quantity
from ...theorem import records, theorem
from .paper import source

_PAIR = "A_i and A_k are symmetric positive definite"


# With M = I - A_k A_i^{-1} and v = 2 A_k (xi_i - xi_k) the gradients differ by M g + v, g = grad R_i.
# For every c > |M|^2, |M g + v|^2 <= b^2 + c |g|^2 holds for all g iff b^2 >= c v^T (c I - M M^T)^{-1} v
# (complete the square in g). Divide by |g|^2 >= gradient^2; with b = 0 no level is needed. Minimising over c loses
# nothing: see `bounds.gradient_dissimilarity`.
@theorem(
    key="worst-case/quadratic-certificate",
    title="Exact dissimilarity of two quadratics",
    source=source("frontier of Assumption 3"),
    quantity=Quantity.DISSIMILARITY,
    mode="sure",
    hypotheses=f"{_PAIR}; (b, c) is the frontier pair that is best at the level",
    tight="The bound is always attained.",
    monotone={"b": 1, "c": 1, "gradient": -1},
)
def quadratic_certificate(*, b, c, gradient):
    """For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), the largest ratio |grad R_i - grad R_k|^2 / |grad R_i|^2
    over all theta with |grad R_i| >= gradient equals the bound at the best (b, c) of the frontier b^2(c) = c v^T (c I -
    M M^T)^-1 v."""
    return c + quotient(b, gradient) ** 2


# |M g + v| / |g| <= |M| + |v| / |g|. By (x + y)^2 <= 2 x^2 + 2 y^2 never above Property 1.
@theorem(
    key="worst-case/quadratic-norms",
    title="Dissimilarity of two quadratics from two norms",
    source=source("Property 1, sharpened"),
    quantity=Quantity.DISSIMILARITY,
    mode="sure",
    hypotheses=_PAIR,
    tight="The bound is tight if A_k (xi_i - xi_k) is on the top left singular direction of I - A_k A_i^-1; it is "
    "always tight within a factor 2.",
    monotone={"shift": 1, "distortion": 1, "gradient": -1},
)
def quadratic_norms(*, distortion, shift, gradient):
    """For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i): |grad R_i - grad R_k|^2 / |grad R_i|^2 <= (|I - A_k A_i^-1|
    + 2 |A_k (xi_i - xi_k)| / |grad R_i|)^2. The bound is never above that of Property 1, and at least half of it."""
    return (distortion + 2 * quotient(shift, gradient)) ** 2


# With g = grad R_i, grad R_i - grad R_k = M g + v and e_i = g^T B g, B = A_i^{-1} / 4, a number L bounds
# |M g + v|^2 / |g|^2 on {e_i >= eps} iff, for some tau >= 0, L |g|^2 - |M g + v|^2 - tau (g^T B g - eps) >= 0 for all g
# (S-lemma: one quadratic constraint with an interior point loses nothing). By the Schur complement, with
# s = tau eps - |v|^2 > 0 and w = M^T v, that is L >= lambda_max(M^T M + (s + |v|^2) B / eps + w w^T / s): every s > 0
# gives a bound, the infimum is exact, and lambda_max(X + w w^T / s) <= lambda_max(X) + |w|^2 / s.
@theorem(
    key="worst-case/quadratic-excess",
    title="Dissimilarity of two quadratics above a precision",
    source=source("exact certificate at an excess loss"),
    quantity=Quantity.DISSIMILARITY,
    mode="sure",
    hypotheses=_PAIR,
    tight="The bound is tight at the best s, if M^T v = 0 (s -> 0) or M^T v is a top eigenvector of the matrix under "
    "Lambda_s.",
    monotone={"dual": 1, "seen": 1, "slack": -1},
)
def quadratic_excess(*, dual, seen, slack):
    """For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) and every s > 0: wherever R_i(theta) - min R_i >= eps, the
    ratio |grad R_i - grad R_k|^2 / |grad R_i|^2 is at most the bound."""
    return dual + seen**2 / slack


THEOREMS = records(quadratic_certificate, quadratic_norms, quadratic_excess)
