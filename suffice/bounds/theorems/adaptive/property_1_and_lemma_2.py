"""Property 1 and Lemma 2 bound the dissimilarity of two clients' gradients."""

from __future__ import annotations

from ...elementary import maximum, spare
from ...quantities import Quantity
from ...theorem import printed, records, reduces_to, theorem
from .paper import source

# --- Property 1: heterogeneity of quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) -------------

_QUADRATICS = "A_i and A_k are symmetric positive definite"

# grad R_i = 2 A_i (theta + xi_i) has the factor 2 because the loss has no 1/2. With g = grad R_i,
#     grad R_k - g = -(I - A_k A_i^{-1}) g - 2 A_k (xi_i - xi_k),
# and |u + v|^2 <= 2 |u|^2 + 2 |v|^2 gives 2 |M|^2 |g|^2 + 8 |A_k (xi_i - xi_k)|^2.
# The print forgets the 2 of the gradient: sqrt(2) for 2 sqrt(2).


@theorem(
    key="adaptive/property-1",
    title="Heterogeneity of quadratics",
    source=source("Property 1"),
    quantity=Quantity.GRADIENT_GAP,
    mode="sure",
    hypotheses=_QUADRATICS,
    tight="The bound is tight where (I - A_k A_i^-1) grad R_i = 2 A_k (xi_i - xi_k), along the top singular direction.",
    monotone={"shift": 1, "distortion": 1, "gradient": 1},
)
def property_1(*, shift, distortion, gradient):
    """For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) with A_i symmetric positive definite, Assumption 3 holds
    with b = 2 sqrt(2) |A_k (xi_i - xi_k)| and c = 2 |I - A_k A_i^-1|^2."""
    return 8 * shift**2 + 2 * distortion**2 * gradient**2


@printed(
    property_1,
    fault="b is half of what is needed, because the loss has no 1/2 and its gradient carries a factor 2.",
    monotone={"shift": 1, "distortion": 1, "gradient": 1},
)
def property_1_printed(*, shift, distortion, gradient):
    """For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), Assumption 3 holds with b = sqrt(2) |A_k (xi_i - xi_k)| and
    c = 2 |I - A_k A_i^-1|^2."""
    return 2 * shift**2 + 2 * distortion**2 * gradient**2


# --- Lemma 2: similarity above a precision --------------------------------------------------------------

_PL = "R_i satisfies PL(mu) and, with peer k, Assumption 3 (b, c)"

# PL and e >= eps give |grad R_i|^2 >= 2 mu eps; divide Assumption 3 by |grad R_i|^2:
#     1 - |grad R_k - grad R_i|^2 / |grad R_i|^2 >= 1 - b^2 / (2 mu eps) - c.
# The print divides b, not b^2: gradient units against loss units squared.


@theorem(
    key="adaptive/lemma-2",
    title="Similarity above a precision",
    source=source("Definition 2 and Lemma 2"),
    quantity=Quantity.SIMILARITY,
    direction="lower",
    mode="sure",
    hypotheses=_PL,
    tight="The bound is tight if mu = beta, b is attained and R_i(theta) - min R_i = eps.",
    monotone={"b": -1, "c": -1, "mu": 1, "eps": 1},
)
def lemma_2(*, b, c, mu, eps):
    """Under PL and Assumption 3, at every theta with R_i(theta) - min R_i >= eps: r_k >= (1 - b^2/(2 mu eps) - c)_+."""
    return maximum(0, spare(b**2 / (2 * mu * eps), c))


@printed(
    lemma_2,
    fault="b stands where b^2 is needed, so that the term is not dimensionless.",
    monotone={"b": -1, "c": -1, "mu": 1, "eps": 1},
)
def lemma_2_printed(*, b, c, mu, eps):
    """While the excess loss is at least eps, r_k >= (1 - b/(2 mu eps) - c)_+."""
    return maximum(0, spare(b / (2 * mu * eps), c))


# Without PL the same division works wherever |grad R_i|^2 >= G.


@reduces_to(
    "adaptive/lemma-2",
    "if R_i satisfies PL(mu), because e >= eps then implies |grad R_i|^2 >= G = 2 mu eps",
    lambda *, mu, eps, **_: {"G": 2 * mu * eps},
)
@theorem(
    key="adaptive/lemma-2-gradient",
    title="Similarity above a gradient level",
    source=source("Lemma 2, without the Polyak-Lojasiewicz condition"),
    quantity=Quantity.SIMILARITY,
    direction="lower",
    mode="sure",
    hypotheses="with peer k, R_i satisfies Assumption 3 (b, c)",
    tight="The bound is tight if b is attained and |grad R_i(theta)|^2 = G.",
    monotone={"b": -1, "c": -1, "G": 1},
)
def lemma_2_gradient(*, b, c, G):
    """Under Assumption 3, at every theta with |grad R_i(theta)|^2 >= G: r_k >= (1 - b^2/G - c)_+."""
    return maximum(0, spare(b**2 / G, c))


THEOREMS = records(property_1_printed, property_1, lemma_2_printed, lemma_2, lemma_2_gradient)
