"""The weights of Definition 1 (Remark 1) and how large a step they allow (Remark 3)."""

from __future__ import annotations

from functools import partial

from ... import step_size_condition as step
from ...quantities import Quantity
from ...sufficient_variance import combined_variance
from ...theorem import Definition, Theorem, printed, records, theorem
from ...units import GRADIENT_SQUARED
from .paper import source

# --- Definition 1 and its identities ----------------------------------------------------------------------
#
# alpha_k = phi(r_k) sigma_psi^2 / sigma_k^2 with sigma_psi^2 = 1 / sum_l a_l phi(r_l) r_l, a_l = 1/sigma_l^2. Hence
#     sum_k alpha_k r_k = 1,   sum_k alpha_k = sigma_psi^2 / sigma_phi^2,
#     V = sum_k alpha_k^2 sigma_k^2 = sigma_psi^4 sum_k a_k phi(r_k)^2.


def total_weight(*, values, similarity, sigma2):
    """sum_k alpha_k from values phi(r_k)."""
    return combined_variance(values=values * similarity, sigma2=sigma2) / combined_variance(
        values=values, sigma2=sigma2
    )


def weighted_noise(*, values, similarity, sigma2):
    """V = sum_k alpha_k^2 sigma_k^2 from values phi(r_k)."""
    effective = combined_variance(values=values * similarity, sigma2=sigma2)
    return effective**2 / combined_variance(values=values**2, sigma2=sigma2)


# Remark 1: with sigma_k^2 = sigma^2 / n_k, sigma_psi^2 / sigma_k^2 = (n_k / sigma^2) sigma^2 / sum_j n_j psi(r_j).


def batch_ratio(*, values, batch, peer_batch):
    """(sigma_psi / sigma_k)^2 from values psi(r_j), batch sizes n_j and the peer's own batch size n_k."""
    return peer_batch / (values * batch).sum(-1)


_WEIGHTS = "weights are those of Definition 1"

# One peer k != i: the other terms of sum_l a_l phi(r_l) r_l are >= 0, and phi(r_k) <= phi(1) at r_i = 1. So
#     alpha_k <= a_k phi(r_k) / (a_i phi(1) + a_k phi(r_k) r_k) <= a_k / (a_i + a_k r_k).


@theorem(
    key="adaptive/definition-1-weights",
    title="Size of one weight",
    source=source("Definition 1"),
    quantity=Quantity.WEIGHT,
    mode="sure",
    hypotheses=f"{_WEIGHTS}, with any criterion for which phi(1) > 0",
    tight="The bound is tight for binary weights with r_k >= lambda, without a third client.",
    monotone={"similarity": -1, "variance_ratio": -1},
)
def definition_1_weights(*, similarity, variance_ratio):
    """For every peer k != i: alpha_k <= 1 / (r_k + sigma_k^2/sigma_i^2), hence alpha_k <= 1/r_k; alpha_i <= 1."""
    return 1 / (similarity + variance_ratio)


@printed(
    definition_1_weights,
    fault="A peer of small variance and similarity below 1 has a weight above 1: binary weights with lambda = 1/2, "
    "sigma = (1, .01) and r = (1, 1/2) give alpha_k = 1.9996.",
    source=source("Section 1, with Definition 1"),
    hypotheses=_WEIGHTS,
)
def definition_1_weights_printed(*, similarity):
    """alpha_k is in [0, 1]."""
    return 1 + 0 * similarity


# --- Remark 3: how large the step may be; the sharp ratios are derived in `bounds.collaboration_criteria` ---


def remark_3_binary_printed(*, threshold):
    """lambda."""
    return threshold


def remark_3_continuous_printed(*, share):
    """w."""
    return share


_AHEAD = "Remark 3, while the similarities are at least rho"

_record = partial(Theorem, quantity=Quantity.STEP_RATIO, mode="sure", direction="lower", hypotheses=_WEIGHTS)

_REMARK_3_BINARY = _record(
    key="adaptive/remark-3-binary",
    title="Step ratio of binary weights",
    source=source("Remark 3"),
    statement="1 / sum_k alpha_k >= lambda + (1 - lambda) w, w the inverse-variance share of client i.",
    bound=step.binary_step_ratio,
    tight="The bound is tight if every peer has similarity lambda.",
    monotone={"threshold": 1, "share": 1},
)

_REMARK_3_CONTINUOUS = _record(
    key="adaptive/remark-3-continuous",
    title="Step ratio of continuous weights",
    source=source("Remark 3"),
    statement="1 / sum_k alpha_k >= 2 sqrt(w) / (1 + sqrt(w)), w the inverse-variance share of client i.",
    bound=step.continuous_step_ratio,
    tight="The bound is tight if every peer has similarity sqrt(w) / (1 + sqrt(w)).",
    monotone={"share": 1},
)

THEOREMS = records(
    definition_1_weights_printed,
    definition_1_weights,
    _REMARK_3_BINARY.as_printed(
        remark_3_binary_printed,
        fault="The statement is true and not sharp, because client i itself has similarity 1.",
        statement="1 / sum_k alpha_k >= lambda.",
        monotone={"threshold": 1},
    ),
    _REMARK_3_BINARY,
    _REMARK_3_CONTINUOUS.as_printed(
        remark_3_continuous_printed,
        fault="The statement is true and not sharp, because it takes every peer at similarity 1 in one sum and at 0 in "
        "the other.",
        statement="1 / sum_k alpha_k >= w, w the inverse-variance share of client i.",
        monotone={"share": 1},
    ),
    _REMARK_3_CONTINUOUS,
    _record(
        key="adaptive/remark-3-sharp",
        title="Step ratio of the sharp criterion",
        source=source("Remark 3, for phi*(x) = 1 - sqrt(1 - x)"),
        statement="With phi*(x) = 1 - sqrt(1 - x) and w the inverse-variance share of client i: 1 / sum_k alpha_k >= "
        "p (4 - 3 p), p = 2 / (3 + sqrt(1 + 8/w)).",
        bound=step.sharp_step_ratio,
        tight="The bound is tight if every peer has similarity p (2 - p).",
        monotone={"share": 1},
    ),
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="adaptive/definition-1-total",
        title="Total weight, from values phi(r_k)",
        source=source("Definition 1 and Appendix B.2"),
        latex=r"\sum_k \alpha_k = \sigma_\psi^2 / \sigma_\phi^2 = \frac{\sum_k \sigma_k^{-2} \phi(r_k)}"
        r"{\sum_k \sigma_k^{-2} r_k \phi(r_k)}",
        reduce=total_weight,
    ),
    Definition(
        key="adaptive/definition-1-noise",
        title="Variance of the aggregated gradient, from values phi(r_k)",
        source=source("Definition 1 and Appendix B.2"),
        latex=r"V = \sum_k \alpha_k^2 \sigma_k^2 = \sigma_\psi^4 \sum_k \sigma_k^{-2} \phi(r_k)^2",
        unit=GRADIENT_SQUARED,
        reduce=weighted_noise,
    ),
    Definition(
        key="adaptive/remark-1-ratio",
        title="Weights from batch sizes, sigma_k^2 = sigma^2 / n_k, from values psi(r_j)",
        source=source("Remark 1"),
        latex=r"(\sigma_\psi / \sigma_k)^2 = \Big(\frac{1}{n_k}\sum_j n_j \psi(r_j)\Big)^{-1}",
        shapes={"peer_batch": ""},
        reduce=batch_ratio,
    ),
    Definition(
        key="adaptive/remark-3-running-binary",
        title="Step ratio of binary weights before the precision is reached",
        source=source(_AHEAD),
        latex=r"q = \frac{\sum_k \sigma_k^{-2} \max(\lambda, \rho_k)}{\sum_k \sigma_k^{-2}},\quad \rho_i = 1",
        shapes={"threshold": ""},
        reduce=step.binary_running,
    ),
    Definition(
        key="adaptive/remark-3-running-continuous",
        title="Step ratio of continuous weights before the precision is reached",
        source=source(_AHEAD),
        latex=r"\sum_k \sigma_k^{-2} x_k (x_k - q) = 0,\quad x_k = \min(\max(q/2, \rho_k), 1),\ \rho_i = 1",
        reduce=step.continuous_running,
    ),
    Definition(
        key="adaptive/remark-3-running-sharp",
        title="Step ratio of the sharp criterion before the precision is reached",
        source=source(_AHEAD),
        latex=r"\sum_k \sigma_k^{-2} p_k (p_k (2 - p_k) - q) = 0,\quad "
        r"p_k = \max\Big(\frac{q}{2 + \sqrt{4 - 3q}}, 1 - \sqrt{1 - \rho_k}\Big),\ \rho_i = 1",
        reduce=step.sharp_running,
    ),
)
