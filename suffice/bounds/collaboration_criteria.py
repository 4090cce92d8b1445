"""Collaboration criteria phi of Definition 1, and the step ratio q that each of them allows.

A criterion is nondecreasing on [0, 1] with phi(0) = 0 < phi(1) and phi(x) <= x; psi(x) = x phi(x).
`phi` and `psi` take NumPy arrays and torch tensors alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice, real_array

from .step_size_condition import binary_step_ratio, continuous_step_ratio, largest_root, sharp_step_ratio

TOLERANCE = 1e-14
"""Relative tolerance of the binary threshold: r >= lambda is inclusive, and rounding must not exclude equals.

A similarity admitted below the threshold by this much moves psi by the same relative amount,
which the outward rounding of `evaluate` (4.5e-13) covers.
"""


@runtime_checkable
class Criterion(Protocol):
    """phi, psi(x) = x phi(x), and the guaranteed step ratio."""

    @property
    def kind(self) -> str: ...
    def phi(self, x): ...
    def step_ratio(self, share): ...

    def psi(self, x):
        return x * self.phi(x)


@dataclass(frozen=True, kw_only=True)
class Binary(Criterion):
    """phi(x) = lambda 1{x >= lambda} (Definition 3): equal weight for all peers with similarity at least lambda.

    `threshold` is lambda in (0, 1], or an array or tensor of them that broadcasts against x.
    """

    kind: ClassVar[str] = "binary"
    threshold: Any

    def __post_init__(self) -> None:
        values = real_array("threshold", self.threshold)
        outside = ~((values > 0) & (values <= 1))
        if outside.any():
            raise InputError("threshold", values[outside].flat[0].item(), "give lambda in (0, 1]")

    def phi(self, x):
        # 0 * x keeps dtype and library of x; a boolean times a float would fall back to float32 in torch.
        return ((x >= self.threshold * (1 - TOLERANCE)) + 0 * x) * self.threshold

    def step_ratio(self, share):
        return binary_step_ratio(threshold=self.threshold, share=share)


@dataclass(frozen=True, kw_only=True)
class Continuous(Criterion):
    """phi(x) = x (Definition 3): weights proportional to similarity."""

    kind: ClassVar[str] = "continuous"

    def phi(self, x):
        return x

    def step_ratio(self, share):
        return continuous_step_ratio(share=share)


@dataclass(frozen=True, kw_only=True)
class Sharp(Criterion):
    """phi(x) = 1 - sqrt(1 - x): the weights that minimise the exact worst case of one step."""

    kind: ClassVar[str] = "sharp"

    def phi(self, x):
        return 1 - abs(1 - x) ** 0.5

    def step_ratio(self, share):
        return sharp_step_ratio(share=share)


@dataclass(frozen=True, kw_only=True)
class Custom(Criterion):
    """Any function that passes the checks of Definition 1, given as a callable on arrays."""

    kind: ClassVar[str] = "custom"
    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError("criterion", self.function, "give a function of the similarities")
        x = np.linspace(0, 1, 4097)
        y = np.asarray(self.function(x), dtype=float)
        if y.shape != x.shape or not np.isfinite(y).all():
            raise InputError("criterion", self.function, "return one finite number per similarity")
        for failing, remedy in (
            (y[0] != 0, "make phi(0) = 0"),
            (y[-1] <= 0, "make phi(1) > 0"),
            ((np.diff(y) < 0).any(), "make phi nondecreasing"),
            ((y > x * (1 + TOLERANCE)).any(), "make phi(x) <= x"),
        ):
            if failing:
                raise InputError("criterion", self.function, f"Definition 1 asks: {remedy}")

    def phi(self, x):
        return self.function(x)

    def step_ratio(self, share):
        """The root by bisection, on the safe side: between grid points phi (r - q) is at least phi(r+) (r- - q)."""
        x = np.linspace(0, 1, 4097)
        y = np.asarray(self.function(x), dtype=float)
        top = y[-1]

        def least(q):  # on [x_j, x_j+1]: phi <= y_j+1 where r - q < 0, and r >= x_j
            gap = np.minimum(x[:-1] - np.asarray(q)[..., None], 0)
            return (y[1:] * gap).min(-1) / top

        share = np.asarray(share, dtype=float)
        q = largest_root(lambda q: 1 - q + (1 / share - 1) * least(q), share.shape)
        return np.where(share >= 1, 1.0, q)[()]


def named(kind: str) -> Criterion | None:
    """The criterion of a name; None for "binary", whose threshold is then chosen for each client and precision."""
    choices: dict[str, Criterion | None] = {"binary": None, "continuous": Continuous(), "sharp": Sharp()}
    return choices[as_choice("criterion", kind, tuple(choices))]
