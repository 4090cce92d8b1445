"""Units, quantities and parameters: the types behind the vocabulary of every theorem and definition.

Units are powers of the two quantities a user may rescale: the loss, and the parameter theta.
A step size has unit theta^2/loss, which is `Unit(-1, 2)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from .arrays import LARGEST
from .errors import InputError


class Unit(NamedTuple):
    """Powers of the loss and of theta; a dimensionless number is `Unit(0, 0)`."""

    loss: float = 0
    theta: float = 0

    def scale(self, loss: float, theta: float) -> float:
        """The factor a quantity takes when the loss is multiplied by `loss` and theta by `theta`."""
        return loss**self.loss * theta**self.theta

    def __str__(self) -> str:
        parts = [
            name if power == 1 else f"{name}^{power:g}"
            for name, power in (("loss", self.loss), ("theta", self.theta))
            if power
        ]
        return " ".join(parts) or "none"


DIMENSIONLESS = Unit(0, 0)
LOSS = Unit(1, 0)
CURVATURE = Unit(1, -2)
THETA = Unit(0, 1)
THETA_SQUARED = Unit(0, 2)
STEP = Unit(-1, 2)
GRADIENT = Unit(1, -1)
GRADIENT_SQUARED = Unit(2, -2)


class Quantity(Enum):
    """What a bound is a bound of, in text, in LaTeX and with its unit.

    e_t is the realised excess loss, tau = min{t >= 0: e_t < eps}, tau_G = min{t >= 0: |grad R_i(theta_t)|^2 < G}.
    """

    EXCESS = "E[e_T]", r"\mathbb{E}[e_T]", LOSS
    EXCESS_WHILE_RUNNING = "E[e_T 1{tau >= T}]", r"\mathbb{E}[e_T \mathbf{1}\{\tau \ge T\}]", LOSS
    STILL_RUNNING = "P(tau > T)", r"\mathbb{P}(\tau > T)", DIMENSIONLESS
    STOPPED_EXCESS = "E[e_min(T, tau)]", r"\mathbb{E}[e_{\min(T,\tau)}]", LOSS
    HITTING_TIME = "E[tau]", r"\mathbb{E}[\tau]", DIMENSIONLESS
    GRADIENT_GAP = "|grad R_i - grad R_k|^2", r"\|\nabla R_i - \nabla R_k\|^2", GRADIENT_SQUARED
    DISSIMILARITY = (
        "|grad R_i - grad R_k|^2 / |grad R_i|^2",
        r"\|\nabla R_i - \nabla R_k\|^2 / \|\nabla R_i\|^2",
        DIMENSIONLESS,
    )
    STEP_RATIO = "1 / sum_k alpha_k", r"\Big(\sum_k \alpha_k\Big)^{-1}", DIMENSIONLESS
    # --- adaptive, worst-case
    SIMILARITY = "r_k = (1 - |grad R_i - grad R_k|^2 / |grad R_i|^2)_+", "r_k", DIMENSIONLESS
    ONE_STEP_EXCESS = "E[e_t | F_{t-1}]", r"\mathbb{E}[e_t \mid \mathcal{F}_{t-1}]", LOSS
    # --- sample-optimal
    ROUNDS = "rounds", "T", DIMENSIONLESS
    MEAN_EXCESS = "E[(1/N) sum_i e_i]", r"\mathbb{E}\Big[\frac1N\sum_i e_i\Big]", LOSS
    # --- cobo
    # --- scafflix

    def __init__(self, expression: str, latex: str, unit: Unit) -> None:
        self.expression = expression
        self.latex = latex
        self.unit = unit


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A scalar that theorems take: its symbol, meaning, unit, domain and a typical range (for random tests)."""

    name: str
    symbol: str
    meaning: str
    unit: Unit
    typical: tuple[float, float]
    lower: float = 0.0
    upper: float = np.inf
    open_lower: bool = False
    integer: bool = False

    def check(self, value: object) -> None:
        """Raise `InputError` unless every entry of `value` lies in the parameter's domain."""
        try:
            x = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(self.name, value, "give a number") from None
        low = x <= self.lower if self.open_lower else x < self.lower
        extreme = (np.abs(x) > LARGEST) | ((x > 0) & (x < 1 / LARGEST) & self.open_lower)
        wrong = ~np.isfinite(x) | low | (x > self.upper) | extreme
        if self.integer:
            wrong |= x != np.floor(x)
        if wrong.any():
            raise InputError(self.name, x[wrong].flat[0].item(), f"give {self._domain()} ({self.meaning})")

    def _domain(self) -> str:
        kind = "a whole number" if self.integer else "a finite number"
        lower = max(self.lower, 1 / LARGEST) if self.open_lower and self.lower == 0 else self.lower
        below = f"> {lower:g}" if self.open_lower and self.lower else f">= {lower:g}"
        above = f" and <= {LARGEST:g}" if np.isinf(self.upper) else f" and <= {self.upper:g}"
        return f"{kind} {below}{above}"
