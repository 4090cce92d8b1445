"""Theorem 5 at any threshold, with the weights that the paper prints: equal ones on the linked agents, row by row."""

from __future__ import annotations

from ...elementary import difference
from ...quantities import Quantity
from ...theorem import Conditions, records, theorem
from .paper import ALL_FOR_ALL, source


def rows_conditions(*, link, deviation, linked_gap, T) -> Conditions:
    """The agents of a cluster are linked, how far apart linked ones may be, and something to average."""
    return {
        "no cluster apart, deviation <= link": (deviation, link),
        "linked agents link + deviation <= linked_gap": (link + deviation, linked_gap),
        "one round 1 <= T": (1, T),
    }


# lambda_ij = 1/N_i on the N_i agents with |mean_i - mean_j| <= u^(1/2), `link`. If no two deviations differ by more
# than r_S, `deviation` <= link: the agents of a cluster are linked, so N_i >= C, and Lambda_2 <= 1/C; linked agents
# have E xi at most u^(1/2) + r_S apart themselves, without the chains of theorem-5-threshold: Phi is at most
# (l_b (u^(1/2) + r_S))^2/(2 mu); smax is at most the largest column sum, sum_i lambda_ij <= M, C/C for each cluster. W
# may have an eigenvalue near 0, but theorem-3-averaged-sharp asks for none. If they differ by more, with probability p:
# smax <= N, Lambda_2 <= 1, Phi <= b_max^2/(2 mu). smax >= 1 always: eta = theta/(L smax) is at most theta/L in the
# noise. T stands for T + 1, which no instance tells from more.


@theorem(
    key="sample-optimal/theorem-5-rows",
    title="All-for-all with links estimated at any threshold, averaged iterate",
    source=source("Theorem 5", link=r"\sqrt{u}", **ALL_FOR_ALL),
    quantity=Quantity.AVERAGED_EXCESS,
    hypotheses="there are `clusters` clusters of C agents each, and agents of a cluster have one E xi; f_i is L-smooth "
    "and mu-strongly convex, |grad f_j(x_i*)| <= sensitivity |E xi_i - E xi_j| (linear-dissimilarity gives it); mean_i "
    "- E xi_i and mean_j - E xi_j differ by at most deviation for all i and j but with probability failure; gradients "
    "are unbiased, independent across agents, of total variance at most sigma2, from other samples than the links; all "
    "agents start at one point; b_max is the largest weak dissimilarity",
    conditions=rows_conditions,
    tight="The noise of one step is tight for clusters apart or, with failure near 1, for agents that are all alone.",
    monotone={"mean_distance2": 1, "sigma2": 1, "clusters": 1, "b_max": 1, "linked_gap": 1, "T": -1},
)
def estimated_rows(
    *, mu, beta, step_share, clusters, size, mean_distance2, sigma2, sensitivity, linked_gap, failure, b_max, T
):
    """With lambda_ij = 1/N_i on the agents with |mean_i - mean_j| <= link and the step theta/(L smax), smax of these
    weights, E F at the average of the iterates 1 to T is at most the bound, linked_gap = link + deviation; without its
    third term if that is less than moment_gap. Components of the links (theorem-5-threshold) have (M^2 - 1)/6 times
    this bias, less for two clusters alone, and smax = 1.

    (1 - p) (L M D^2/(2 theta T) + theta sigma^2/(2 L C) + (l_b (u^1/2 + r_S))^2/(2 mu))
    + p (L M C D^2/(2 theta T) + theta sigma^2/(2 L) + b_max^2/(2 mu))."""
    start, noise = beta * clusters * mean_distance2 / (2 * step_share * T), step_share * sigma2 / (2 * beta)
    right = start + noise / size + (sensitivity * linked_gap) ** 2 / (2 * mu)
    return difference(1, failure) * right + failure * (size * start + noise + b_max**2 / (2 * mu))


THEOREMS = records(estimated_rows)
