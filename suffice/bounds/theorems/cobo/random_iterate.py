"""Algorithm 1 returns a random iterate: the models of a step that is drawn uniformly."""

from __future__ import annotations

from ...quantities import Quantity, new_quantity
from ...theorem import Theorem
from ...units import GRADIENT_SQUARED
from .paper import source
from .theorem_1_star import STANDING, star, star_conditions

new_quantity(
    "RANDOM_MEAN_GRADIENT",
    "E|grad fbar(xbar_s)|^2, s uniform on 0, ..., T - 1",
    r"\mathbb{E}\|\nabla\bar f(\bar x_s)\|^2,\ s \sim U\{0,\dots,T-1\}",
    GRADIENT_SQUARED,
)

# s independent of the run: E|grad fbar(xbar_s)|^2 is the average over the T steps of theorem-1-star. The print draws s
# from [T] = {1, ..., T}, while its averages run over 0, ..., T - 1: the two differ by (E|g_T|^2 - |g_0|^2)/T.

THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        key="cobo/algorithm-1-output",
        title="Stationarity of the model that is returned, with noise",
        source=source("Algorithm 1, line 8", spread=r"\Xi_0"),
        statement="With k0 = least_weight rho c >= 1.01 sqrt(1 + m^2) L and eta <= 2/((1 + least_weight) rho c), the "
        "cluster's mean model at a step s drawn uniformly from 0, ..., T - 1 has E|grad fbar(xbar_s)|^2 at most the "
        "bound; by Markov |grad fbar(xbar_s)|^2 exceeds it 1/delta times with probability at most delta.",
        quantity=Quantity.RANDOM_MEAN_GRADIENT,
        hypotheses=f"{STANDING}; fbar is bounded below, e0 = E fbar(xbar_0) - inf fbar; s is independent of the run",
        bound=star,
        conditions=star_conditions,
        tight="The bound is tight where theorem-1-star is.",
        monotone={"e0": 1, "spread": 1, "sigma2": 1, "dissimilarity": 1, "beta": 1, "T": -1, "rho": -1},
    ),
)
