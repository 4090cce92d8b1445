"""One keyword, one symbol, one meaning, one unit: every scalar that a theorem may take.

A paper that prints another letter says so in its `Source.symbols`; the keyword stays.
"""

from __future__ import annotations

from typing import Any

from .notation import (
    CURVATURE,
    DIMENSIONLESS,
    GRADIENT,
    GRADIENT_SQUARED,
    LOSS,
    STEP,
    Parameter,
    Unit,
)


def _p(
    name: str,
    symbol: str,
    unit: Unit,
    typical: tuple[float, float],
    meaning: str,
    *,
    positive: bool = False,
    **domain: Any,
) -> Parameter:
    domain |= {"open_lower": True} if positive else {}
    return Parameter(name=name, symbol=symbol, meaning=meaning, unit=unit, typical=typical, **domain)


# fmt: off
_ENTRIES = (
    # --- shared by all papers
    _p("eta", r"\eta", STEP, (1e-3, 1.0), "step size", positive=True),
    _p("mu", r"\mu", CURVATURE, (1e-3, 1.0), "Polyak-Lojasiewicz or strong-convexity constant of R_i", positive=True),
    _p("beta", r"\beta", CURVATURE, (1.0, 10.0), "smoothness constant of R_i", positive=True),
    _p("e0", "e_0", LOSS, (1e-3, 1e3), "excess loss at the start"),
    _p("T", "T", DIMENSIONLESS, (1, 1000), "iterations", integer=True),
    _p("eps", r"\varepsilon", LOSS, (1e-6, 1.0), "precision: the excess loss to fall below", positive=True),
    _p("N", "N", DIMENSIONLESS, (2, 1000), "number of clients", lower=1.0, integer=True),
    _p("d", "d", DIMENSIONLESS, (1, 100), "number of features", lower=1.0, integer=True),
    _p("sigma2", r"\sigma^2", GRADIENT_SQUARED, (1e-4, 1e2), "total variance of one stochastic gradient"),
    _p("b", "b_{ik}", GRADIENT, (1e-3, 10.0),
       "additive heterogeneity: |grad R_i - grad R_k|^2 <= b^2 + c |grad R_i|^2"),
    # --- adaptive
    _p("s2", r"\sigma_{\mathrm{suf}}^2", GRADIENT_SQUARED, (1e-4, 1e2), "sufficient variance at the precision eps"),
    _p("delta", r"\delta", DIMENSIONLESS, (1e-6, 0.5), "probability of still running", positive=True, upper=1.0),
    _p("q", "q", DIMENSIONLESS, (0.05, 1.0), "step ratio: a lower bound of 1 / sum_k alpha_k",
       positive=True, upper=1.0),
    _p("threshold", r"\lambda", DIMENSIONLESS, (0.01, 1.0), "binary threshold", positive=True, upper=1.0),
    _p("share", "w_i", DIMENSIONLESS, (1e-3, 1.0),
       "inverse-variance share of client i, (1/sigma_i^2) / sum_k 1/sigma_k^2", positive=True, upper=1.0),
    _p("C", "C", DIMENSIONLESS, (1.1, 4.0), "factor of the decreasing step size C / (mu (t + gamma))",
       lower=1.0, open_lower=True),
    _p("gamma", r"\gamma", DIMENSIONLESS, (1.0, 1000.0), "offset of the decreasing step size C / (mu (t + gamma))"),
    _p("c", "c_{ik}", DIMENSIONLESS, (1e-3, 1.0),
       "multiplicative heterogeneity: |grad R_i - grad R_k|^2 <= b^2 + c |grad R_i|^2"),
    _p("shift", r"\|A_k(\xi_i-\xi_k)\|", GRADIENT, (1e-3, 10.0), "distance of the two minimisers, seen through A_k"),
    _p("distortion", r"\|I-A_kA_i^{-1}\|", DIMENSIONLESS, (1e-3, 2.0), "spectral norm of I - A_k A_i^{-1}"),
    _p("gradient", r"\|\nabla R_i\|", GRADIENT, (1e-3, 10.0), "norm of the gradient of R_i"),
    # --- worst-case
    # --- sample-optimal
    # --- cobo
    # --- scafflix
)
# fmt: on

PARAMETERS: dict[str, Parameter] = {entry.name: entry for entry in _ENTRIES}
"""Every scalar that a theorem may take, by keyword."""

if len(PARAMETERS) != len(_ENTRIES):
    raise ValueError("one keyword has two meanings in bounds.vocabulary")
