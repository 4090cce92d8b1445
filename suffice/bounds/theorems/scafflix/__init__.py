"""Yi, Condat, Richtarik (2023): Scafflix, explicit personalisation and accelerated local training.

Notation: client i runs on f~_i(x) = f_i(alpha_i x + (1 - alpha_i) y_i), which is alpha_i^2 L_i-smooth and
alpha_i^2 mu_i-strongly convex, with gradient alpha_i g_i; f~ is the mean, x* its minimiser, x_i* the personalised
alpha_i x* + (1 - alpha_i) y_i. Put s_i = gamma_i / alpha_i^2, <x, y> = sum_i <x_i, y_i> / s_i for stacks of models,
P the orthogonal projection onto equal models (the mean weighted by 1/s_i), W = I - P; and h the stack of
s_i alpha_i h_i, h* that of s_i alpha_i grad f_i(x_i*). W h = h iff sum_i alpha_i h_i = 0: true for h* (optimality)
and conserved by the algorithm, so it must hold at the start.

One iteration: w = x - s alpha g, x' = w + h; with probability p, x becomes P x' and h becomes h - p W x'; else
x becomes x' and h stays. With w* = x* - h*, in the weighted norm and over the coin,
    E|x+ - x*|^2 = |x' - x*|^2 - p |W x'|^2                                    (Pythagoras, W x* = 0),
    E|h+ - h*|^2 = |h - h*|^2 - 2 p^2 <h - h*, x' - x*> + p^3 |W x'|^2          (W (h - h*) = h - h*),
    E|x+ - x*|^2 + E|h+ - h*|^2 / p^2 = |x' - x* - (h - h*)|^2 + (1/p^2 - 1) |h - h*|^2
                                      = |w - w*|^2 + (1 - p^2) |h - h*|^2 / p^2.
Client by client, <x - x*, grad f~(x) - grad f~(x*)> = D(x, x*) + D(x*, x), the second at least
alpha^2 mu |x - x*|^2 / 2, and Assumption 3 bounds the second moment of the gradient: for gamma_i <= 1/A_i
    E|w_i - w_i*|^2 <= (1 - gamma_i mu_i) |x_i - x*|^2 + s_i^2 alpha_i^2 C_i.
V = |x - x*|^2 + |h - h*|^2 / p^2 = sum_i |alpha_i (x_i - x*)|^2 / gamma_i + gamma_i |h_i - grad f_i(x_i*)|^2 / p^2 has
    E V+ <= (1 - zeta) V + sum_i gamma_i C_i,   zeta = min(min_i gamma_i mu_i, p^2).   (**)
"""

from __future__ import annotations

from . import assumption_3, bounded_variance, corollaries, smoothness, theorems_1_and_2
from . import lyapunov as start
from .statements import STATEMENTS as STATEMENTS

THEOREMS = (
    *assumption_3.THEOREMS,
    *theorems_1_and_2.THEOREMS,
    *start.THEOREMS,
    *corollaries.THEOREMS,
    *bounded_variance.THEOREMS,
)
DEFINITIONS = (
    *assumption_3.DEFINITIONS,
    *smoothness.DEFINITIONS,
    *theorems_1_and_2.DEFINITIONS,
    *start.DEFINITIONS,
    *corollaries.DEFINITIONS,
    *bounded_variance.DEFINITIONS,
)
