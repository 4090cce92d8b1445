"""All least-squares problems share this: their population losses are quadratics, known exactly."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor

from suffice.bounds import Constants
from suffice.support.errors import InputError

from ..problem import QuadraticProblem, Trust
from .quadratic import Quadratics
from .rows import Rows

MULTIPLICATIVE = "the noise of these gradients grows with the distance from the optimum, so no one sigma bounds it"
VERTICES_BY_ROWS = 2**23
"""Residuals of rows at vertices that are held together, in a few arrays of 64 MB each."""


class QuadraticPopulation(QuadraticProblem):
    """Everything but the oracle of a problem with population `population`, whose own noise is not used."""

    population: Quadratics
    data: Rows | None = None
    without_noise: ClassVar[str]
    """The remedy that is named for a client whose stochastic gradients do not vary."""

    @abstractmethod
    def variance(self, theta: Tensor) -> Tensor:
        """Exact total variance of client k's stochastic gradient at given points theta (P, d), as (P, N)."""

    names: Any = property(lambda self: self.population.names)
    optimum: Any = property(lambda self: self.population.optimum)
    A: Any = property(lambda self: self.population.A)
    start: Any = property(lambda self: self.population.start)
    excess = property(lambda self: self.population.excess)
    gradient = property(lambda self: self.population.gradient)
    gradient_gap = property(lambda self: self.population.gradient_gap)

    @cached_property
    def sigma2(self) -> Tensor:
        """Largest variance over the convex hull of all starts and optima, (N,).

        The gradient of one sample is affine in theta, so its total variance is a convex quadratic: its
        maximum over the hull is at a vertex, and this number is exact there.
        """
        variance = signal = self.optimum.new_zeros(self.clients)
        rows = len(self.data.X) if isinstance(self.data, Rows) else 1
        some = max(1, min(256, VERTICES_BY_ROWS // rows))  # memory: `some` N d at a time
        hull = torch.cat((self.start, self.optimum))
        for vertices in (hull if hull.is_meta else hull.unique(dim=0)).split(some):  # which differ takes values to see
            variance = torch.maximum(variance, self.variance(vertices).max(0).values)
            everywhere = vertices[:, None].expand(-1, self.clients, -1)
            signal = torch.maximum(signal, (self.gradient(everywhere) ** 2).sum(-1).max(0).values)
        return torch.where(variance > 1e-12 * signal, variance, 0)  # below that it is rounding

    def certainty(self) -> tuple[Trust, str, str]:
        return "exact", "all models", "the convex hull of the starts and all optima"

    def constants(self) -> Constants:
        zero = (self.sigma2 == 0).nonzero()
        if len(zero):
            raise InputError(f"gradient variance of client {self.names[int(zero[0])]}", 0.0, self.without_noise)
        return replace(
            self.population.constants(),
            sigma2=self.sigma2.double().cpu().numpy(),
            unbounded=MULTIPLICATIVE,
            notes=(
                "sigma is the largest deviation of one stochastic gradient over the convex hull of the starts and all "
                "clients' optima (exact there); the noise is multiplicative, so outside that hull it is an estimate",
            ),
        )
