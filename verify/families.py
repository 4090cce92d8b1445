"""Families of instances: a flat dictionary of domains, and a way to build instances from values.

Random draws, searches and the tests' strategies all act on the domains. Values are batched: one array
of length `count` (or `count` by a shape) per name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from simulate import Randomness, Stream

Values = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """An interval, on a logarithmic scale or not, of whole numbers or not, for each entry of a shape."""

    low: float
    high: float
    log: bool = False
    integer: bool = False
    shape: tuple[int, ...] = ()

    def at(self, u: np.ndarray) -> np.ndarray:
        """The value at quantile u in (0, 1)."""
        if self.integer:
            return np.floor(self.low + u * (self.high - self.low + 1))
        if self.log:
            return self.low * (self.high / self.low) ** u
        return self.low + u * (self.high - self.low)


@dataclass(frozen=True, kw_only=True)
class Family:
    """Domains by name; `sharp` adds instances chosen because a bound is nearly attained there."""

    name: str
    domains: Mapping[str, Domain]
    sharp: Callable[[], Values] | None = None

    def draw(self, count: int, *, seed: int) -> Values:
        """`count` random instances, a pure function of the seed."""
        randomness = Randomness(seeds=torch.tensor([seed]), root=0x5EED)
        values: Values = {}
        for index, (name, domain) in enumerate(self.domains.items()):
            size = int(np.prod(domain.shape, dtype=int))
            u = randomness.uniform(iteration=index, stream=Stream.DATA, clients=count, features=size)
            values[name] = domain.at(u[0].numpy().reshape(count, *domain.shape))
        return values
