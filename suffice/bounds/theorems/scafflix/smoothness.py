"""The constants that Scafflix runs on: smoothness of the experiments' losses and of the mixed objective."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...smoothness_and_strong_convexity import (
    least_squares_sample_smoothness,
    least_squares_smoothness,
    least_squares_smoothness_released,
    logistic_sample_smoothness,
    logistic_smoothness,
    logistic_smoothness_by_trace,
    logistic_smoothness_released,
)
from ...theorem import Definition
from ...units import CURVATURE, Unit
from .paper import source

# f_i at alpha_i x + (1 - alpha_i) y_i, as a function of x, has the Hessian of f_i times alpha_i^2; f~ is the mean. The
# anchor y_i is any fixed point: an inexact local optimum changes f~, not its constants.


def mixed_smoothness(*, alpha, beta):
    """mean(alpha_i^2 L_i)."""
    return (np.asarray(alpha) ** 2 * beta).mean(-1)


def mixed_strong_convexity(*, alpha, mu):
    """mean(alpha_i^2 mu_i)."""
    return (np.asarray(alpha) ** 2 * mu).mean(-1)


_ROOT_LOSS = Unit(0.5, -1)
"""Features of least squares: feature times theta is the square root of a loss."""
_PURE = Unit(0, -1)
"""Features of the logistic loss, a pure number: feature times theta has no unit."""
_PURE_CURVATURE = Unit(0, -2)
_SHAPES = {"features": "nd", "regularisation": ""}
_LEAST_SQUARES = {"features": _ROOT_LOSS, "regularisation": CURVATURE}
_LOGISTIC = {"features": _PURE, "regularisation": _PURE_CURVATURE}

_definition = partial(Definition, units=_LOGISTIC, shapes=_SHAPES, unit=_PURE_CURVATURE)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="scafflix/smoothness-least-squares",
        title="Smoothness of regularised least squares",
        source=source("Assumption 1"),
        latex=r"L_i = \lambda_{\max}(A_i^\top A_i)/n_i + r",
        unit=CURVATURE,
        units=_LEAST_SQUARES,
        shapes=_SHAPES,
        reduce=least_squares_smoothness,
    ),
    Definition(
        key="scafflix/smoothness-least-squares-released",
        edition="printed",
        title="Smoothness of regularised least squares, released code",
        source=source("released code, LinReg"),
        latex=r"L_i = \lambda_{\max}(A_i^\top A_i + r I)/n_i",
        unit=CURVATURE,
        units=_LEAST_SQUARES,
        shapes=_SHAPES,
        reduce=least_squares_smoothness_released,
        fault="The regulariser is divided by the number of samples, so that the constant is too small.",
    ),
    _definition(
        key="scafflix/smoothness-logistic",
        edition="printed",
        title="Smoothness of the regularised logistic loss",
        source=source("Section 4.1, below (12)"),
        latex=r"L_i = \frac{1}{4n_i}\sum_j \|a_{i,j}\|^2 + \mu",
        reduce=logistic_smoothness_by_trace,
        fault="The statement is true and not sharp, because the trace of A_i^T A_i stands for its largest eigenvalue.",
    ),
    _definition(
        key="scafflix/smoothness-logistic",
        title="Smoothness of the regularised logistic loss",
        source=source("Section 4.1, below (12)"),
        latex=r"L_i = \frac{1}{4n_i}\lambda_{\max}(A_i^\top A_i) + \mu",
        reduce=logistic_smoothness,
    ),
    _definition(
        key="scafflix/smoothness-logistic-released",
        edition="printed",
        title="Smoothness of the regularised logistic loss, released code",
        source=source("released code, LogReg"),
        latex=r"L_i = \frac{1}{4n_i}\lambda_{\max}(A_i^\top A_i + \mu I)",
        reduce=logistic_smoothness_released,
        fault="The regulariser is divided by four times the number of samples, so that the constant is too small.",
    ),
    Definition(
        key="scafflix/sample-smoothness-least-squares",
        title="Largest smoothness constant of a sample, least squares",
        source=source("Assumption 3, case 2"),
        latex=r"\max_j L_{ij} = \max_j \|a_{i,j}\|^2 + r",
        unit=CURVATURE,
        units=_LEAST_SQUARES,
        shapes=_SHAPES,
        reduce=least_squares_sample_smoothness,
    ),
    _definition(
        key="scafflix/sample-smoothness-logistic",
        title="Largest smoothness constant of a sample, logistic loss",
        source=source("Assumption 3, case 2"),
        latex=r"\max_j L_{ij} = \tfrac14 \max_j \|a_{i,j}\|^2 + \mu",
        reduce=logistic_sample_smoothness,
    ),
    Definition(
        key="scafflix/flix-smoothness",
        title="Smoothness of the mixed objective",
        source=source("(FLIX) and Appendix B"),
        latex=r"\tilde L = \frac1n\sum_i \alpha_i^2 L_i",
        unit=CURVATURE,
        reduce=mixed_smoothness,
    ),
    Definition(
        key="scafflix/flix-strong-convexity",
        title="Strong convexity of the mixed objective",
        source=source("(FLIX) and Appendix B"),
        latex=r"\tilde\mu = \frac1n\sum_i \alpha_i^2 \mu_i",
        unit=CURVATURE,
        reduce=mixed_strong_convexity,
    ),
)
