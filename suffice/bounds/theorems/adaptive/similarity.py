"""What two clients' gradients have in common: Property 1 and Lemma 2."""

from __future__ import annotations

from ...elementary import maximum, spare
from ...quantities import Quantity
from ...theorem import Reduction, Theorem
from .paper import source

# --- Property 1: heterogeneity of quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) -------------
#
# grad R_i = 2 A_i (theta + xi_i) has the factor 2 because the loss has no 1/2. With g = grad R_i,
#     grad R_k - g = -(I - A_k A_i^{-1}) g - 2 A_k (xi_i - xi_k),
# and |u + v|^2 <= 2 |u|^2 + 2 |v|^2 gives 2 |M|^2 |g|^2 + 8 |A_k (xi_i - xi_k)|^2.
# The print forgets the 2 of the gradient: sqrt(2) for 2 sqrt(2).


def property_1_printed(*, shift, distortion, gradient):
    """b^2 + c |grad R_i|^2 with b = sqrt(2) |A_k (xi_i - xi_k)|, c = 2 |I - A_k A_i^{-1}|^2."""
    return 2 * shift**2 + 2 * distortion**2 * gradient**2


def property_1(*, shift, distortion, gradient):
    """b^2 + c |grad R_i|^2 with b = 2 sqrt(2) |A_k (xi_i - xi_k)|, c = 2 |I - A_k A_i^{-1}|^2."""
    return 8 * shift**2 + 2 * distortion**2 * gradient**2


# --- Lemma 2: similarity above a precision --------------------------------------------------------------
#
# PL and e >= eps give |grad R_i|^2 >= 2 mu eps; divide Assumption 3 by |grad R_i|^2:
#     1 - |grad R_k - grad R_i|^2 / |grad R_i|^2 >= 1 - b^2 / (2 mu eps) - c.
# The print divides b, not b^2: gradient units against loss units squared.


def lemma_2_printed(*, b, c, mu, eps):
    """(1 - b / (2 mu eps) - c)_+."""
    return maximum(0, spare(b / (2 * mu * eps), c))


def lemma_2(*, b, c, mu, eps):
    """(1 - b^2 / (2 mu eps) - c)_+."""
    return maximum(0, spare(b**2 / (2 * mu * eps), c))


# Without PL the same division works wherever |grad R_i|^2 >= G.


def lemma_2_gradient(*, b, c, G):
    """(1 - b^2 / G - c)_+."""
    return maximum(0, spare(b**2 / G, c))


_QUADRATICS = "A_i and A_k symmetric positive definite"
_PL = "R_i satisfies PL(mu) and, with peer k, Assumption 3 (b, c)"

_PROPERTY_1 = Theorem(
    key="adaptive/property-1",
    title="Heterogeneity of quadratics",
    source=source("Property 1"),
    statement="For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) with A_i symmetric positive definite, "
    "Assumption 3 holds with b = 2 sqrt(2) |A_k (xi_i - xi_k)| and c = 2 |I - A_k A_i^-1|^2.",
    quantity=Quantity.GRADIENT_GAP,
    mode="sure",
    hypotheses=_QUADRATICS,
    bound=property_1,
    tight="where (I - A_k A_i^-1) grad R_i = 2 A_k (xi_i - xi_k), along the top singular direction",
    monotone={"shift": 1, "distortion": 1, "gradient": 1},
)

_LEMMA_2 = Theorem(
    key="adaptive/lemma-2",
    title="Similarity above a precision",
    source=source("Definition 2 and Lemma 2"),
    statement="Under PL and Assumption 3, at every theta with R_i(theta) - min R_i >= eps: "
    "r_k >= (1 - b^2/(2 mu eps) - c)_+.",
    quantity=Quantity.SIMILARITY,
    direction="lower",
    mode="sure",
    hypotheses=_PL,
    bound=lemma_2,
    tight="mu = beta, b attained, R_i(theta) - min R_i = eps",
    monotone={"b": -1, "c": -1, "mu": 1, "eps": 1},
)

THEOREMS: tuple[Theorem, ...] = (
    _PROPERTY_1.as_printed(
        property_1_printed,
        fault="b is half of what is needed: the loss has no 1/2, so its gradient carries a factor 2",
        statement="For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), Assumption 3 holds with "
        "b = sqrt(2) |A_k (xi_i - xi_k)| and c = 2 |I - A_k A_i^-1|^2.",
        monotone={"shift": 1, "distortion": 1, "gradient": 1},
    ),
    _PROPERTY_1,
    _LEMMA_2.as_printed(
        lemma_2_printed,
        fault="b stands where b^2 is needed: the term is not dimensionless",
        statement="While the excess loss is at least eps, r_k >= (1 - b/(2 mu eps) - c)_+.",
        monotone={"b": -1, "c": -1, "mu": 1, "eps": 1},
    ),
    _LEMMA_2,
    Theorem(
        key="adaptive/lemma-2-gradient",
        title="Similarity above a gradient level",
        source=source("Lemma 2, without the Polyak-Lojasiewicz condition"),
        statement="Under Assumption 3, at every theta with |grad R_i(theta)|^2 >= G: r_k >= (1 - b^2/G - c)_+.",
        quantity=Quantity.SIMILARITY,
        direction="lower",
        mode="sure",
        hypotheses="with peer k, R_i satisfies Assumption 3 (b, c)",
        bound=lemma_2_gradient,
        tight="b attained, |grad R_i(theta)|^2 = G",
        monotone={"b": -1, "c": -1, "G": 1},
        reduces_to=(
            Reduction(
                key="adaptive/lemma-2",
                when="R_i satisfies PL(mu): e >= eps implies |grad R_i|^2 >= G = 2 mu eps",
                at=lambda *, b, c, mu, eps: {"b": b, "c": c, "G": 2 * mu * eps},
            ),
        ),
    ),
)
