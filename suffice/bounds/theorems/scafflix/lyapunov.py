"""The Lyapunov function of Scafflix, and its value at the first model."""

from __future__ import annotations

import numpy as np

from ...quantities import Quantity
from ...theorem import Definition, Theorem
from ...units import CURVATURE, GRADIENT_SQUARED, THETA_SQUARED
from .paper import source

# Psi weighs what Theorem 1 contracts: distances with 1/gamma_i, control variates with gamma_i / p^2, scaled so that the
# largest weight of a distance is 1/n.


def lyapunov(*, model_distance2, control_distance2, eta, p):
    """gamma_min mean(|x_i - x_i*|^2 / gamma_i + gamma_i |h_i - grad f_i(x_i*)|^2 / p^2), x_i the personalised model."""
    eta = np.asarray(eta, dtype=float)
    control = eta * control_distance2 / np.asarray(p)[..., None] ** 2
    return eta.min(-1) * (np.asarray(model_distance2) / eta + control).mean(-1)


# From a common start, |x_i - x_i*|^2 = alpha_i^2 |x^0 - x*|^2 and |g_i - grad f_i(x_i*)|^2 <= L_i^2 alpha_i^2
# |x^0 - x*|^2. The print sets h_i = g_i, which sum_i alpha_i h_i = 0 excludes unless x^0 = x*; with exact gradients no
# model ever moves then, since g_i - h_i = 0. The projection of (g_i) onto that space in the norm
# sum_i gamma_i |h_i|^2 (`initial_control_variates` of `scafflix_settings`) is no further from (grad f_i(x_i*)), a
# point of it.


def initial_lyapunov(*, eta_min, p, distance2, inverse_step, stiffness):
    """gamma_min |x^0 - x*|^2 mean_i alpha_i^2 (1/gamma_i + gamma_i L_i^2 / p^2)."""
    return eta_min * distance2 * (inverse_step + stiffness / p**2)


def inverse_step(*, alpha, eta):
    """mean_i alpha_i^2 / gamma_i."""
    return (np.asarray(alpha) ** 2 / eta).mean(-1)


def stiffness(*, alpha, eta, beta):
    """mean_i alpha_i^2 gamma_i L_i^2."""
    return (np.asarray(alpha) ** 2 * eta * np.asarray(beta) ** 2).mean(-1)


_INITIAL_LYAPUNOV = Theorem(
    key="scafflix/initial-lyapunov",
    title="Lyapunov function at the start",
    source=source("Remark after Corollary 2"),
    statement="From a common start x^0 with gradients g_i and h_i^0 = g_i - (alpha_i/gamma_i) "
    "sum_j alpha_j g_j / sum_j (alpha_j^2/gamma_j), one communication: Psi_0 is at most the bound.",
    quantity=Quantity.LYAPUNOV_START,
    mode="sure",
    hypotheses="f_i is L_i-smooth; x_i^0 = x^0; the gradients at the personalised start are exact",
    bound=initial_lyapunov,
    # alpha_i <= 1 and gamma_i >= gamma_min.
    conditions=lambda *, eta_min, inverse_step: {
        "weights alpha_i <= 1: eta_min <= 1/inverse_step": (eta_min, 1 / inverse_step)
    },
    tight="The bound is tight for p small, if one client has gamma_i = 1/L_i and the others have much smaller steps.",
    monotone={"eta_min": 1, "p": -1, "distance2": 1, "inverse_step": 1, "stiffness": 1},
)

THEOREMS: tuple[Theorem, ...] = (
    _INITIAL_LYAPUNOV.as_printed(
        initial_lyapunov,
        fault="The inequality is true for a start that Theorem 1 excludes: sum_i alpha_i h_i is not 0, and with exact "
        "gradients no model ever moves.",
        statement="From a common start x^0 with h_i^0 the gradient of f_i: Psi_0 is at most the bound.",
        hypotheses="f_i is L_i-smooth; x_i^0 = x^0 and h_i^0 = grad f_i at the personalised start",
        monotone={"eta_min": 1, "p": -1, "distance2": 1, "inverse_step": 1, "stiffness": 1},
    ),
    _INITIAL_LYAPUNOV,
)

DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        key="scafflix/lyapunov",
        title="Lyapunov function of Scafflix",
        source=source("(3)"),
        latex=r"\Psi = \frac{\gamma_{\min}}{n}\sum_i \Big(\frac{1}{\gamma_i}\|\tilde x_i - \tilde x_i^\star\|^2 + "
        r"\frac{\gamma_i}{p^2}\|h_i - \nabla f_i(\tilde x_i^\star)\|^2\Big)",
        unit=THETA_SQUARED,
        units={"model_distance2": THETA_SQUARED, "control_distance2": GRADIENT_SQUARED},
        shapes={"p": ""},
        reduce=lyapunov,
    ),
    Definition(
        key="scafflix/inverse-step",
        title="Weight of the start's distance in the Lyapunov function",
        source=source("Remark after Corollary 2"),
        latex=r"\frac1n\sum_i \alpha_i^2/\gamma_i",
        unit=CURVATURE,
        reduce=inverse_step,
    ),
    Definition(
        key="scafflix/stiffness",
        title="Weight of the start's control variates in the Lyapunov function",
        source=source("Remark after Corollary 2"),
        latex=r"\frac1n\sum_i \alpha_i^2\gamma_i L_i^2",
        unit=CURVATURE,
        reduce=stiffness,
    ),
)
