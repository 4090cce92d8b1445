"""Convex losses of one variable that are not quadratic, as profiles of `Separable`: kinks and logistic pieces.

Worst functions of first-order methods change their curvature where a quadratic cannot: it is `inner` within `width` of
the minimiser and `outer` beyond. With outer = 0 that is Huber's loss. `smoothness` is the larger, `mu` the smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_number

from .nonconvex import Profile


@dataclass(frozen=True, kw_only=True)
class Kink(Profile):
    """phi'(u) = outer u + (inner - outer) clip(u, -width, width), phi(0) = 0."""

    inner: float = 1.0
    outer: float = 0.0
    width: float = 1.0

    def __post_init__(self) -> None:
        for name in ("inner", "outer", "width"):
            as_number(name, getattr(self, name), least=0)
        if max(self.inner, self.outer) == 0:
            raise InputError("inner", self.inner, "give a positive curvature inside or outside")

    smoothness = property(lambda self: max(self.inner, self.outer))
    mu = property(lambda self: min(self.inner, self.outer))

    def value(self, u: Tensor) -> Tensor:
        near = u.abs().clamp_max(self.width)
        return self.outer * u**2 / 2 + (self.inner - self.outer) * near * (u.abs() - near / 2)

    def slope(self, u: Tensor) -> Tensor:
        return self.outer * u + (self.inner - self.outer) * u.clamp(-self.width, self.width)

    def apart(self, w: np.ndarray, other: np.ndarray, shift: np.ndarray) -> np.ndarray:
        # phi' has slope at most the smoothness and phi'(u) - outer u is at most |inner - outer| width in size: the gap
        # is bounded by both, and the linear parts of unequal weights leave |w - w'| outer |u|
        bend = abs(self.inner - self.outer) * self.width
        moved = np.minimum(self.smoothness * np.abs(shift), self.outer * np.abs(shift) + 2 * bend)
        return np.where((w == other) | (self.outer == 0), other * moved + np.abs(w - other) * bend, np.inf)


@dataclass(frozen=True, kw_only=True)
class LogisticPiece(Profile):
    """phi(u) = 4 (ln cosh(u/2)) + ridge u^2 / 2, centred logistic loss: phi'' falls from 1 + ridge to ridge."""

    ridge: float = 0.0

    def __post_init__(self) -> None:
        as_number("ridge", self.ridge, least=0)

    smoothness = property(lambda self: 1.0 + self.ridge)
    mu = property(lambda self: self.ridge)

    def value(self, u: Tensor) -> Tensor:
        # ln cosh(u/2) = |u|/2 + ln(1 + exp(-|u|)) - ln 2; near 0 by (1/2) ln(1 + sinh^2(u/2)), which keeps its digits
        size = u.abs()
        near = torch.log1p(torch.sinh(size.clamp_max(1.0) / 2) ** 2) / 2
        far = size / 2 + torch.log1p(torch.exp(-size)) - np.log(2.0)
        return 4 * torch.where(size < 1, near, far) + self.ridge * u**2 / 2

    def slope(self, u: Tensor) -> Tensor:
        return 2 * torch.tanh(u / 2) + self.ridge * u

    def apart(self, w: np.ndarray, other: np.ndarray, shift: np.ndarray) -> np.ndarray:
        moved = np.minimum(np.abs(shift), 4 * np.tanh(np.abs(shift) / 4)) + self.ridge * np.abs(shift)
        apart = other * moved + 2 * np.abs(w - other)
        return np.where((w == other) | (self.ridge == 0), apart, np.inf)
