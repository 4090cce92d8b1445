"""What two clients' gradients have in common: Property 1, Lemma 2, Remark 3 and the definitions behind them."""

from __future__ import annotations

from typing import Any

from ...cluster import best_threshold, combined_variance
from ...criteria import binary_step_ratio, continuous_step_ratio
from ...elementary import maximum, spare
from ...notation import DIMENSIONLESS, GRADIENT_SQUARED, Quantity
from ...theorem import Definition, Theorem
from .paper import source

# --- Property 1: heterogeneity of quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) -------------
#
# grad R_i = 2 A_i (theta + xi_i) has the factor 2 because the loss has no 1/2. With g = grad R_i,
#     grad R_k - g = -(I - A_k A_i^{-1}) g - 2 A_k (xi_i - xi_k),
# and |u + v|^2 <= 2 |u|^2 + 2 |v|^2 gives 2 |M|^2 |g|^2 + 8 |A_k (xi_i - xi_k)|^2.
# The print forgets the 2 of the gradient: sqrt(2) for 2 sqrt(2).


def property_1_printed(*, shift: Any, distortion: Any, gradient: Any) -> Any:
    """b^2 + c |grad R_i|^2 with b = sqrt(2) |A_k (xi_i - xi_k)|, c = 2 |I - A_k A_i^{-1}|^2."""
    return 2 * shift**2 + 2 * distortion**2 * gradient**2


def property_1(*, shift: Any, distortion: Any, gradient: Any) -> Any:
    """b^2 + c |grad R_i|^2 with b = 2 sqrt(2) |A_k (xi_i - xi_k)|, c = 2 |I - A_k A_i^{-1}|^2."""
    return 8 * shift**2 + 2 * distortion**2 * gradient**2


# --- Lemma 2: similarity above a precision --------------------------------------------------------------
#
# PL and e >= eps give |grad R_i|^2 >= 2 mu eps; divide Assumption 3 by |grad R_i|^2:
#     1 - |grad R_k - grad R_i|^2 / |grad R_i|^2 >= 1 - b^2 / (2 mu eps) - c.
# The print divides b, not b^2: gradient units against loss units squared.


def lemma_2_printed(*, b: Any, c: Any, mu: Any, eps: Any) -> Any:
    """(1 - b / (2 mu eps) - c)_+."""
    return maximum(0, spare(b / (2 * mu * eps), c))


def lemma_2(*, b: Any, c: Any, mu: Any, eps: Any) -> Any:
    """(1 - b^2 / (2 mu eps) - c)_+."""
    return maximum(0, spare(b**2 / (2 * mu * eps), c))


# --- Remark 3: how large the step may be; the sharp ratios are derived in `bounds.criteria` ------------------


def remark_3_binary_printed(*, threshold: Any) -> Any:
    """lambda."""
    return threshold


def remark_3_continuous_printed(*, share: Any) -> Any:
    """w."""
    return share


_QUADRATICS = "A_i and A_k symmetric positive definite"
_PL = "R_i satisfies PL(mu) and, with peer k, Assumption 3 (b, c)"
_WEIGHTS = "weights of Definition 1"

THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        key="adaptive/property-1",
        edition="printed",
        title="Heterogeneity of quadratics",
        source=source("Property 1"),
        statement="For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), Assumption 3 holds with "
        "b = sqrt(2) |A_k (xi_i - xi_k)| and c = 2 |I - A_k A_i^-1|^2.",
        quantity=Quantity.GRADIENT_GAP,
        direction="upper",
        mode="sure",
        hypotheses=_QUADRATICS,
        bound=property_1_printed,
        fault="b is half of what is needed: the loss has no 1/2, so its gradient carries a factor 2",
        monotone={"shift": 1, "distortion": 1, "gradient": 1},
    ),
    Theorem(
        key="adaptive/property-1",
        edition="corrected",
        title="Heterogeneity of quadratics",
        source=source("Property 1"),
        statement="For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) with A_i symmetric positive definite, "
        "Assumption 3 holds with b = 2 sqrt(2) |A_k (xi_i - xi_k)| and c = 2 |I - A_k A_i^-1|^2.",
        quantity=Quantity.GRADIENT_GAP,
        direction="upper",
        mode="sure",
        hypotheses=_QUADRATICS,
        bound=property_1,
        tight="where (I - A_k A_i^-1) grad R_i = 2 A_k (xi_i - xi_k), along the top singular direction",
        monotone={"shift": 1, "distortion": 1, "gradient": 1},
    ),
    Theorem(
        key="adaptive/lemma-2",
        edition="printed",
        title="Similarity above a precision",
        source=source("Definition 2 and Lemma 2"),
        statement="While the excess loss is at least eps, r_k >= (1 - b/(2 mu eps) - c)_+.",
        quantity=Quantity.SIMILARITY,
        direction="lower",
        mode="sure",
        hypotheses=_PL,
        bound=lemma_2_printed,
        fault="b stands where b^2 is needed: the term is not dimensionless",
        monotone={"b": -1, "c": -1, "mu": 1, "eps": 1},
    ),
    Theorem(
        key="adaptive/lemma-2",
        edition="corrected",
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
    ),
    Theorem(
        key="adaptive/remark-3-binary",
        edition="printed",
        title="Step ratio of binary weights",
        source=source("Remark 3"),
        statement="1 / sum_k alpha_k >= lambda.",
        quantity=Quantity.STEP_RATIO,
        direction="lower",
        mode="sure",
        hypotheses=_WEIGHTS,
        bound=remark_3_binary_printed,
        fault="true, not sharp: client i itself has similarity 1",
        monotone={"threshold": 1},
    ),
    Theorem(
        key="adaptive/remark-3-binary",
        edition="corrected",
        title="Step ratio of binary weights",
        source=source("Remark 3"),
        statement="1 / sum_k alpha_k >= lambda + (1 - lambda) w, w the inverse-variance share of client i.",
        quantity=Quantity.STEP_RATIO,
        direction="lower",
        mode="sure",
        hypotheses=_WEIGHTS,
        bound=binary_step_ratio,
        tight="every peer has similarity lambda",
        monotone={"threshold": 1, "share": 1},
    ),
    Theorem(
        key="adaptive/remark-3-continuous",
        edition="printed",
        title="Step ratio of continuous weights",
        source=source("Remark 3"),
        statement="1 / sum_k alpha_k >= w, w the inverse-variance share of client i.",
        quantity=Quantity.STEP_RATIO,
        direction="lower",
        mode="sure",
        hypotheses=_WEIGHTS,
        bound=remark_3_continuous_printed,
        fault="true, not sharp: it takes every peer at similarity 1 in one sum and 0 in the other",
        monotone={"share": 1},
    ),
    Theorem(
        key="adaptive/remark-3-continuous",
        edition="corrected",
        title="Step ratio of continuous weights",
        source=source("Remark 3"),
        statement="1 / sum_k alpha_k >= 2 sqrt(w) / (1 + sqrt(w)), w the inverse-variance share of client i.",
        quantity=Quantity.STEP_RATIO,
        direction="lower",
        mode="sure",
        hypotheses=_WEIGHTS,
        bound=continuous_step_ratio,
        tight="every peer has similarity sqrt(w) / (1 + sqrt(w))",
        monotone={"share": 1},
    ),
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="adaptive/definition-1-variance",
        edition="corrected",
        title="Variance of a criterion",
        source=source("Definition 1; at f = psi(rho) the sufficient variance of Definition 2"),
        latex=r"\sigma_f^2 = \Big(\sum_k \sigma_k^{-2} f(r_k)\Big)^{-1}",
        unit=GRADIENT_SQUARED,
        vectors={"values": DIMENSIONLESS, "sigma2": GRADIENT_SQUARED},
        reduce=combined_variance,
    ),
    Definition(
        key="adaptive/definition-3-threshold",
        edition="corrected",
        title="Binary threshold of least sufficient variance",
        source=source("Definition 3, sharpened"),
        latex=r"\lambda^* = r_{(j^*)},\quad j^* = \arg\max_j r_{(j)}\sum_{l\le j}\sigma_{(l)}^{-2} r_{(l)}",
        unit=DIMENSIONLESS,
        vectors={"similarity": DIMENSIONLESS, "sigma2": GRADIENT_SQUARED},
        reduce=best_threshold,
    ),
)
