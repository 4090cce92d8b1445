"""What dissimilarity says of a peer's model: the line below Assumption 3, and the bias of mixtures in Section 5."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...quantities import LOSS, Quantity, add_quantity
from ...theorem import Definition, Reduction, Theorem
from .paper import source

add_quantity(
    Quantity(
        name="PEER_EXCESS",
        expression="f_i(x_j*) - f_i*",
        latex=r"f_i(x_j^\star) - f_i^\star",
        unit=LOSS,
    )
)
add_quantity(
    Quantity(
        name="MEAN_PEER_EXCESS",
        expression="(1/N) sum_ij lambda_ij (f_i(x_j*) - f_i*)",
        latex=r"\frac1N\sum_{i,j}\lambda_{ij}\big(f_i(x_j^\star) - f_i^\star\big)",
        unit=LOSS,
    )
)

# d_H(D_i, D_j) <= b_ij and grad l(x_j*, .) in H give |grad f_i(x_j*)| = |grad f_i(x_j*) - grad f_j(x_j*)| <= b_ij.
# Strong convexity implies PL: f_i(x_j*) - f_i* <= |grad f_i(x_j*)|^2/(2 mu) <= b_ij^2/(2 mu). The weighted mean over i
# and j is the bias Phi of Theorem 3. Local models beside a common one, x_i = xbar - delta_i, are the weights
# lambda_ii = 1 - alpha_i, lambda_ij = alpha_i/(N - 1): their bias is sum_i alpha_i/(N (N - 1)) sum_j b_ij^2/(2 mu),
# where Section 5 prints sum_i alpha_i/(N (N - 1)) sum_j b_ij, a gradient and not a loss.


def peer_excess(*, b: Any, mu: Any) -> Any:
    """b_ij^2/(2 mu)."""
    return b**2 / (2 * mu)


def mixture_bias_printed(*, bias: Any) -> Any:
    """(1/N) sum_ij lambda_ij b_ij."""
    return 1 * bias


def mixture_bias(*, bias2: Any, mu: Any) -> Any:
    """(1/N) sum_ij lambda_ij b_ij^2/(2 mu)."""
    return bias2 / (2 * mu)


_WEAK = "every f_i mu-strongly convex; |grad f_i(x_j*)| <= b_ij for all i and j (Assumption 3, weak)"
_MIXTURE = f"{_WEAK}; lambda >= 0 with rows of sum 1, in Section 5 lambda_ij = alpha_i/(N - 1) for j != i"

THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        key="sample-optimal/assumption-3-peer",
        edition="corrected",
        title="Excess loss of a peer's optimum",
        source=source("Assumption 3, the line below it"),
        statement="f_i(x_j*) - f_i(x_i*) <= b_ij^2/(2 mu).",
        quantity=Quantity.PEER_EXCESS,
        direction="upper",
        mode="sure",
        hypotheses=_WEAK,
        bound=peer_excess,
        tight="f_i of curvature mu and b_ij attained",
        monotone={"b": 1, "mu": -1},
    ),
    Theorem(
        key="sample-optimal/section-5-bias",
        edition="printed",
        title="Bias of a mixture of a common and a local model",
        source=source("Section 5, below Remark 1", bias=r"\frac1N\sum_{ij}\lambda_{ij}b_{ij}"),
        statement="Mixtures with the weights lambda_ii = 1 - alpha_i, lambda_ij = alpha_i/(N - 1) have bias terms of "
        "the form (1/N) sum_i alpha_i/(N - 1) sum_j b_ij; full collaboration has (1/N^2) sum_ij b_ij.",
        quantity=Quantity.MEAN_PEER_EXCESS,
        direction="upper",
        mode="sure",
        hypotheses=_MIXTURE,
        bound=mixture_bias_printed,
        fault="b_ij is a gradient, the bias a loss: b_ij^2/(2 mu) is meant, as in Theorem 3",
        monotone={"bias": 1},
    ),
    Theorem(
        key="sample-optimal/section-5-bias",
        edition="corrected",
        title="Bias of a mixture of a common and a local model",
        source=source("Section 5, below Remark 1", bias2=r"\frac1N\sum_{ij}\lambda_{ij}b_{ij}^2"),
        statement="Mixtures with the weights lambda_ii = 1 - alpha_i, lambda_ij = alpha_i/(N - 1) have a bias of at "
        "most (1/N) sum_i alpha_i/(N - 1) sum_j b_ij^2/(2 mu); full collaboration has (1/N^2) sum_ij b_ij^2/(2 mu).",
        quantity=Quantity.MEAN_PEER_EXCESS,
        direction="upper",
        mode="sure",
        hypotheses=_MIXTURE,
        bound=mixture_bias,
        tight="all f_i of curvature mu and all b_ij attained",
        monotone={"bias2": 1, "mu": -1},
        reduces_to=(
            Reduction(
                key="sample-optimal/assumption-3-peer",
                when="one pair: lambda_ij = 1",
                at=lambda *, b, mu: {"bias2": b**2, "mu": mu},
            ),
        ),
    ),
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="sample-optimal/definition-1-affine",
        edition="corrected",
        title="Distance d_H of two samples, H the 1-Lipschitz affine functions",
        source=source("Definition 1"),
        latex=r"d_{\mathcal{H}}(\mathcal{D}, \mathcal{D}') = \|\mathbb{E}\xi - \mathbb{E}\xi'\|",
        unit=LOSS,
        vectors={"own": LOSS, "peer": LOSS},
        shapes={"own": "nd", "peer": "nd"},
        # sup over |A| <= 1 of |A (E xi - E xi')| is at A = I
        reduce=lambda *, own, peer: np.linalg.norm(own.mean(-2) - peer.mean(-2), axis=-1),
    ),
)
