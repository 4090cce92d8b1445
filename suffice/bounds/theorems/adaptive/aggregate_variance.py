"""The variance of the aggregated gradient: any criterion against working alone, and against each other."""

from __future__ import annotations

from ...elementary import minimum
from ...quantities import Quantity
from ...sufficient_variance import combined_variance
from ...theorem import Definition, records, reduces_to, theorem
from ...units import GRADIENT_SQUARED
from .paper import source

# --- The largest variance of a criterion, over all similarities and all peers --------------------------------

_WEIGHTS = "weights are those of Definition 1"
_OWN = {"sigma2": r"\sigma_i^2"}

# sigma_psi^2 = 1 / sum_k a_k psi(r_k) <= 1 / (a_i psi(1)) = sigma_i^2 / p, p = phi(1).


@theorem(
    key="adaptive/definition-1-effective-local",
    title="Effective variance against the local one",
    source=source("Definition 1", **_OWN),
    quantity=Quantity.EFFECTIVE_VARIANCE,
    mode="sure",
    hypotheses=_WEIGHTS,
    tight="The bound is tight if no peer collaborates.",
    monotone={"sigma2": 1, "peak": -1},
)
def definition_1_effective_local(*, sigma2, peak):
    """sigma_psi^2 <= sigma_i^2 / phi(1), whatever the similarities."""
    return sigma2 / peak


# V = sum a phi^2 / (sum a psi)^2. With Y = sum_{k != i} (a_k / a_i) psi(r_k) and phi <= r, so phi^2 <= psi:
#     V <= sigma_i^2 (p^2 + Y) / (p + Y)^2,
# largest at Y = max(0, p (1 - 2 p)): sigma_i^2 / (4 p (1 - p)) if p < 1/2, else sigma_i^2. Both read
# sigma_i^2 / (l (2 - l)) with l = min(2 p, 1). Binary weights have phi(lambda) = lambda = p: attained.


@reduces_to(
    "adaptive/largest-variance-binary",
    "for binary weights, where phi(1) = lambda",
    lambda *, threshold, **_: {"peak": threshold},
)
@reduces_to(
    "adaptive/largest-variance-continuous",
    "for continuous weights, where phi(1) = 1",
    lambda **_: {"peak": 1.0},
)
@theorem(
    key="adaptive/definition-1-variance-local",
    title="Largest variance of any criterion",
    source=source("Definition 1", **_OWN),
    quantity=Quantity.COMBINED_VARIANCE,
    mode="sure",
    hypotheses=_WEIGHTS,
    tight="The bound is tight if phi(1) >= 1/2 and there is no peer; otherwise for binary weights and peers of "
    "similarity phi(1) whose total mass is sum_k sigma_i^2/sigma_k^2 = (1 - 2 phi(1)) / phi(1).",
    monotone={"sigma2": 1, "peak": -1},
)
def definition_1_variance_local(*, sigma2, peak):
    """Whatever the similarities, sum_k alpha_k^2 sigma_k^2 <= sigma_i^2 if phi(1) >= 1/2, and <= sigma_i^2 / (4 phi(1)
    (1 - phi(1))) otherwise; it is in particular at most sigma_i^2 / phi(1).

    sigma_i^2 / (l (2 - l)), l = min(2 phi(1), 1)."""
    least = minimum(2 * peak, 1)
    return sigma2 / (least * (2 - least))


@theorem(
    key="adaptive/largest-variance-binary",
    title="Largest variance of binary weights",
    source=source("Definition 3", **_OWN),
    quantity=Quantity.COMBINED_VARIANCE,
    mode="sure",
    hypotheses="weights are the binary ones of Definition 3",
    tight="The bound is tight if lambda >= 1/2 and there is no peer; otherwise for peers of similarity lambda whose "
    "total mass is sum_k sigma_i^2/sigma_k^2 = (1 - 2 lambda) / lambda.",
    monotone={"sigma2": 1, "threshold": -1},
)
def largest_variance_binary(*, sigma2, threshold):
    """Whatever the similarities, sum_k alpha_k^2 sigma_k^2 <= sigma_i^2 if lambda >= 1/2, and <= sigma_i^2 / (4 lambda
    (1 - lambda)) otherwise: then collaboration can be noisier than working alone."""
    return definition_1_variance_local(sigma2=sigma2, peak=threshold)


@theorem(
    key="adaptive/largest-variance-continuous",
    title="Largest variance of continuous weights",
    source=source("Definition 3", **_OWN),
    quantity=Quantity.COMBINED_VARIANCE,
    mode="sure",
    hypotheses="weights are the continuous ones of Definition 3",
    tight="The bound is tight if no peer collaborates.",
    monotone={"sigma2": 1},
)
def largest_variance_continuous(*, sigma2):
    """Whatever the similarities, sum_k alpha_k^2 sigma_k^2 = 1 / sum_k r_k^2/sigma_k^2 <= sigma_i^2."""
    return sigma2


# --- Continuous weights have the least variance ----------------------------------------------------------------
#
# Cauchy-Schwarz: (sum_members a r)^2 <= sum_members a * sum_all a r^2.


@theorem(
    key="adaptive/continuous-dominates",
    title="Continuous weights against binary ones",
    source=source("Section 4"),
    quantity=Quantity.CONTINUOUS_VARIANCE,
    mode="sure",
    hypotheses="S and P sum 1/sigma_k^2 and r_k/sigma_k^2 over the k with r_k >= lambda (or any set of clients)",
    # Similarities are at most 1.
    conditions=lambda *, mass, similar_mass: {"similarities at most 1, similar_mass <= mass": (similar_mass, mass)},
    tight="Both are equal if all members are equally similar and all others have similarity 0.",
    monotone={"mass": 1, "similar_mass": -1},
)
def continuous_dominates(*, mass, similar_mass):
    """For every threshold and all similarities the variance of continuous weights, 1 / sum_k r_k^2/sigma_k^2, is at
    most that of binary weights, S/P^2."""
    return mass / similar_mass**2


THEOREMS = records(
    definition_1_effective_local,
    definition_1_variance_local,
    largest_variance_binary,
    largest_variance_continuous,
    continuous_dominates,
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="adaptive/definition-1-variance",
        title="Variance of a criterion",
        source=source("Definition 1; at f = psi(rho) the sufficient variance of Definition 2"),
        latex=r"\sigma_f^2 = \Big(\sum_k \sigma_k^{-2} f(r_k)\Big)^{-1}",
        unit=GRADIENT_SQUARED,
        reduce=combined_variance,
    ),
)
