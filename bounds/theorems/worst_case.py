"""Sharp results beyond the papers: the exact worst case of a pair of quadratics."""

from __future__ import annotations

from typing import Any

from ..notation import Quantity
from ..theorem import Definition, Source, Theorem


# With M = I - A_k A_i^{-1} and v = 2 A_k (xi_i - xi_k) the gradients differ by M g + v, g = grad R_i.
# For every c > |M|^2, |M g + v|^2 <= b^2 + c |g|^2 holds for all g iff b^2 >= c v^T (c I - M M^T)^{-1} v
# (complete the square in g). Divide by |g|^2 >= gradient^2. Minimising over c loses nothing: see
# `bounds.heterogeneity`.
def quadratic_certificate(*, b: Any, c: Any, gradient: Any) -> Any:
    """c + b^2 / |grad R_i|^2, with (b, c) on the frontier of the pair."""
    return c + b**2 / gradient**2


THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        key="worst-case/quadratic-certificate",
        edition="corrected",
        title="Exact dissimilarity of two quadratics",
        source=Source(paper="suffice", locator="frontier of Assumption 3"),
        statement="For R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), the largest ratio "
        "|grad R_i - grad R_k|^2 / |grad R_i|^2 over all theta with |grad R_i| >= gradient equals the bound "
        "at the best (b, c) of the frontier b^2(c) = c v^T (c I - M M^T)^-1 v.",
        quantity=Quantity.DISSIMILARITY,
        direction="upper",
        mode="sure",
        hypotheses="A_i and A_k symmetric positive definite; (b, c) the frontier pair that is best at the level",
        bound=quadratic_certificate,
        tight="always: the bound is attained",
        monotone={"b": 1, "c": 1, "gradient": -1},
    ),
)

DEFINITIONS: tuple[Definition, ...] = ()
