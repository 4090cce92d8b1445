"""Units: powers of the two quantities that a user may rescale, the loss and the parameter theta.

A step size has unit theta^2/loss, which is `Unit(-1, 2)`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
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


def table(file: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file beside this one, by column; lines that begin with # are remarks."""
    lines = Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()
    yield from csv.DictReader(line for line in lines if not line.startswith("#"))


def unit_of(row: Mapping[str, str]) -> Unit:
    """The unit whose powers are in the columns `loss` and `theta`."""
    return Unit(int(row["loss"]), int(row["theta"]))
