"""One keyword, one symbol, one meaning, one unit: the vocabulary of every theorem and definition.

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
STEP = Unit(-1, 2)
GRADIENT = Unit(1, -1)
GRADIENT_SQUARED = Unit(2, -2)


class Quantity(Enum):
    """What a bound is a bound of. e_t is the realised excess loss and tau = min{t >= 0: e_t < eps}."""

    EXCESS = ("E[e_T]", LOSS)
    EXCESS_WHILE_RUNNING = ("E[e_T 1{tau >= T}]", LOSS)
    STILL_RUNNING = ("P(tau > T)", DIMENSIONLESS)
    STOPPED_EXCESS = ("E[e_min(T, tau)]", LOSS)
    HITTING_TIME = ("E[tau]", DIMENSIONLESS)
    GRADIENT_GAP = ("|grad R_i - grad R_k|^2", GRADIENT_SQUARED)
    DISSIMILARITY = ("|grad R_i - grad R_k|^2 / |grad R_i|^2", DIMENSIONLESS)
    STEP_RATIO = ("1 / sum_k alpha_k", DIMENSIONLESS)
    SIMILARITY = ("r_k = (1 - |grad R_i - grad R_k|^2 / |grad R_i|^2)_+", DIMENSIONLESS)

    def __init__(self, expression: str, unit: Unit) -> None:
        self.expression = expression
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


def _parameters(*entries: Parameter) -> dict[str, Parameter]:
    return {entry.name: entry for entry in entries}


PARAMETERS: dict[str, Parameter] = _parameters(
    Parameter(
        name="eta",
        symbol=r"\eta",
        meaning="step size",
        unit=STEP,
        typical=(1e-3, 1.0),
        open_lower=True,
    ),
    Parameter(
        name="mu",
        symbol=r"\mu",
        meaning="Polyak-Lojasiewicz or strong-convexity constant of R_i",
        unit=CURVATURE,
        typical=(1e-3, 1.0),
        open_lower=True,
    ),
    Parameter(
        name="beta",
        symbol=r"\beta",
        meaning="smoothness constant of R_i",
        unit=CURVATURE,
        typical=(1.0, 10.0),
        open_lower=True,
    ),
    Parameter(name="e0", symbol=r"e_0", meaning="excess loss at the start", unit=LOSS, typical=(1e-3, 1e3)),
    Parameter(
        name="s2",
        symbol=r"\sigma_{\mathrm{suf}}^2",
        meaning="sufficient variance at the precision eps",
        unit=GRADIENT_SQUARED,
        typical=(1e-4, 1e2),
    ),
    Parameter(name="T", symbol="T", meaning="iterations", unit=DIMENSIONLESS, typical=(1, 1000), integer=True),
    Parameter(
        name="eps",
        symbol=r"\varepsilon",
        meaning="precision: the excess loss to fall below",
        unit=LOSS,
        typical=(1e-6, 1.0),
        open_lower=True,
    ),
    Parameter(
        name="delta",
        symbol=r"\delta",
        meaning="probability of still running",
        unit=DIMENSIONLESS,
        typical=(1e-6, 0.5),
        open_lower=True,
        upper=1.0,
    ),
    Parameter(
        name="q",
        symbol="q",
        meaning="step ratio: a lower bound of 1 / sum_k alpha_k",
        unit=DIMENSIONLESS,
        typical=(0.05, 1.0),
        open_lower=True,
        upper=1.0,
    ),
    Parameter(
        name="threshold",
        symbol=r"\lambda",
        meaning="binary threshold",
        unit=DIMENSIONLESS,
        typical=(0.01, 1.0),
        open_lower=True,
        upper=1.0,
    ),
    Parameter(
        name="share",
        symbol="w_i",
        meaning="inverse-variance share of client i, (1/sigma_i^2) / sum_k 1/sigma_k^2",
        unit=DIMENSIONLESS,
        typical=(0.001, 1.0),
        open_lower=True,
        upper=1.0,
    ),
    Parameter(
        name="C",
        symbol="C",
        meaning="factor of the decreasing step size C / (mu (t + gamma))",
        unit=DIMENSIONLESS,
        typical=(1.1, 4.0),
        lower=1.0,
        open_lower=True,
    ),
    Parameter(
        name="gamma",
        symbol=r"\gamma",
        meaning="offset of the decreasing step size C / (mu (t + gamma))",
        unit=DIMENSIONLESS,
        typical=(1.0, 1000.0),
        lower=0.0,
    ),
    Parameter(
        name="b",
        symbol="b_{ik}",
        meaning="additive heterogeneity: |grad R_i - grad R_k|^2 <= b^2 + c |grad R_i|^2",
        unit=GRADIENT,
        typical=(1e-3, 10.0),
    ),
    Parameter(
        name="c",
        symbol="c_{ik}",
        meaning="multiplicative heterogeneity: |grad R_i - grad R_k|^2 <= b^2 + c |grad R_i|^2",
        unit=DIMENSIONLESS,
        typical=(1e-3, 1.0),
    ),
    Parameter(
        name="shift",
        symbol=r"\|A_k(\xi_i-\xi_k)\|",
        meaning="distance of the two minimisers, seen through A_k",
        unit=GRADIENT,
        typical=(1e-3, 10.0),
    ),
    Parameter(
        name="distortion",
        symbol=r"\|I-A_kA_i^{-1}\|",
        meaning="spectral norm of I - A_k A_i^{-1}",
        unit=DIMENSIONLESS,
        typical=(1e-3, 2.0),
    ),
    Parameter(
        name="gradient",
        symbol=r"\|\nabla R_i\|",
        meaning="norm of the gradient of R_i",
        unit=GRADIENT,
        typical=(1e-3, 10.0),
    ),
)
"""Every scalar that a theorem may take, by keyword."""
