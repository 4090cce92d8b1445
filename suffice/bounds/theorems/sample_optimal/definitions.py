"""Definitions that Theorems 2 and 3 ask of weights and dissimilarities: vectors and matrices to scalars."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...spectral_gap import spectrum
from ...theorem import Definition
from ...units import CURVATURE, GRADIENT, GRADIENT_SQUARED, LOSS
from .paper import source

_definition = partial(Definition, source=source("Theorem 3"), shapes={"weights": "NN"})

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="sample-optimal/theorem-2-lambda2",
        title="Share of the noise that is left",
        source=source("Theorem 2"),
        latex=r"\Lambda_2 = \sum_j \lambda_{ij}^2",
        reduce=lambda *, weights: (weights**2).sum(-1),
    ),
    Definition(
        key="sample-optimal/theorem-2-bias",
        title="Weighted dissimilarity",
        source=source("Theorem 2"),
        latex=r"B_i = \sum_j \lambda_{ij} b_{ij}",
        unit=GRADIENT,
        reduce=lambda *, weights, b: (weights * b).sum(-1),
    ),
    Definition(
        key="sample-optimal/theorem-2-bias2",
        title="Weighted squared dissimilarity",
        source=source("Theorem 2"),
        latex=r"\overline{b^2} = \sum_j \lambda_{ij} b_{ij}^2",
        unit=GRADIENT_SQUARED,
        reduce=lambda *, weights, b: (weights * b**2).sum(-1),
    ),
    Definition(
        key="sample-optimal/theorem-2-count",
        title="Agents that are averaged at a precision",
        source=source("Theorem 2"),
        latex=r"\#\{j: b_{ij}^2 \le \mu\varepsilon\}",
        shapes={"mu": "", "eps": ""},
        reduce=lambda *, b, mu, eps: (b <= np.sqrt(mu * eps)[..., None]).sum(-1),
    ),
    Definition(
        key="sample-optimal/theorem-2-noise",
        title="Noise of the weighted gradient that does not vanish at the optimum",
        source=source("Theorem 2, for the linear model of Section 6"),
        latex=r"V_i = \sum_j \lambda_{ij}^2 \big(s_j^2 + 2 A b_{ij}^2/\mu\big)",
        unit=GRADIENT_SQUARED,
        shapes={"mu": "", "growth": ""},
        reduce=lambda *, weights, sigma2, b, mu, growth: (
            weights**2 * (sigma2 + 2 * (growth / mu)[..., None] * b**2)
        ).sum(-1),
    ),
    Definition(
        key="sample-optimal/theorem-2-growth",
        title="Growth of the noise for Gaussian features",
        source=source("Section 6"),
        latex=r"A = \operatorname{tr} H + \lambda_{\max}(H)",
        unit=CURVATURE,
        units={"H": CURVATURE},
        shapes={"H": "dd"},
        reduce=lambda *, H: np.trace(H, axis1=-2, axis2=-1) + np.linalg.eigvalsh(H)[..., -1],
    ),
    _definition(
        key="sample-optimal/theorem-3-lambda2",
        title="Share of the noise that is left, mean over the agents",
        latex=r"\overline{\Lambda_2} = \frac1N \sum_{i,j} \lambda_{ij}^2",
        reduce=lambda *, weights: (weights**2).sum(-1).mean(-1),
    ),
    _definition(
        key="sample-optimal/theorem-3-weight2",
        title="Mean squared eigenvalue of W",
        latex=r"\overline{W^2} = \frac1N \|\Lambda\Lambda^\top\|_F^2",
        reduce=lambda *, weights: ((weights @ np.swapaxes(weights, -1, -2)) ** 2).sum(-1).mean(-1),
    ),
    _definition(
        key="sample-optimal/theorem-3-smax",
        title="Largest eigenvalue of W",
        latex=r"s_{\max} = \lambda_{\max}(\Lambda\Lambda^\top)",
        reduce=lambda *, weights: spectrum(weights).smax,
    ),
    _definition(
        key="sample-optimal/theorem-3-smin",
        title="Smallest non-zero eigenvalue of W",
        latex=r"s_{\min} = \min\{\lambda > 0: \lambda \in \mathrm{spec}(\Lambda\Lambda^\top)\}",
        reduce=lambda *, weights: spectrum(weights).smin,
    ),
    Definition(
        key="sample-optimal/theorem-3-misfit",
        title="Bias of All-for-all under weak dissimilarity",
        source=source("Theorem 3 and Remark 1"),
        latex=r"\Phi = \frac1N \sum_{i,j} \lambda_{ij} \frac{b_{ij}^2}{2\mu}",
        unit=LOSS,
        shapes={"weights": "NN", "b": "NN", "mu": ""},
        reduce=lambda *, weights, b, mu: (weights * b**2).sum(-1).mean(-1) / (2 * mu),
    ),
)
