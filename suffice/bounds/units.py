"""Units: powers of the two quantities that a user may rescale, the loss and the parameter theta.

A step size has unit theta^2/loss, which is `Unit(-1, 2)`.
"""

from __future__ import annotations

from typing import NamedTuple


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
