"""Families of instances: a flat dictionary of domains, and a way to build instances from values.

Random draws, searches and the tests' strategies all act on the domains. Values are batched: one array
of length `count` (or `count` by a shape) per name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch

from suffice.simulate import Randomness, Stream
from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_whole

from .evidence import Evidence

Values = dict[str, np.ndarray]

_WHOLE = 256
"""Instances that a family may have to be tried whole: fewer than are drawn and searched otherwise."""

BEFORE_EACH: ContextVar[Callable[[], None]] = ContextVar("before each batch", default=lambda: None)
"""Called before a batch of instances is measured: what it raises ends the check, where nothing is half done."""


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Each entry of a shape has an interval, on a logarithmic scale or not, of whole numbers or not.

    `zero` is the share of draws that are 0, whatever the interval.
    """

    low: float
    high: float
    log: bool = False
    integer: bool = False
    shape: tuple[int, ...] = ()
    zero: float = 0.0

    def __post_init__(self) -> None:
        low, high = as_number("low", self.low), as_number("high", self.high)
        if not low <= high:
            raise InputError("high", self.high, f"give at least low = {low:g}")
        if self.log and low <= 0:
            raise InputError("low", self.low, "a logarithmic scale needs positive numbers")
        if not isinstance(self.shape, tuple):
            raise InputError("shape", self.shape, "give a tuple of whole numbers")
        for size in self.shape:
            as_whole("shape", size)

    def at(self, u: np.ndarray) -> np.ndarray:
        """The value at quantile u in [0, 1]."""
        return _between(u, *self.scale)

    @cached_property
    def scale(self) -> tuple[float, ...]:
        """The arguments of `_between` after u: low, high, adds, times, integer, and the share of zeros."""
        past = self.high + self.integer
        grows = (0.0, past / self.low) if self.log else (past - self.low, 1.0)
        return (self.low, self.high, *grows, float(self.integer), self.zero)

    def simpler(self, value: np.ndarray) -> Iterator[np.ndarray]:
        """Simpler values within the interval, the simplest first: small whole numbers, or 1, 2, 4, ... bits."""
        if self.integer:
            most = int(value.max())
            few = [*range(int(self.low), min(most, int(self.low) + 48)), *(most >> by for by in range(12, 0, -1))]
            for candidate in sorted({each for each in few if self.low <= each < most}):
                yield np.minimum(value, candidate)
            return
        mantissa, exponent = np.frexp(value)
        short = [np.ldexp(np.round(mantissa * 2**bits) / 2**bits, exponent) for bits in (1, 2, 4, 8, 16)]
        for each in [np.ones_like(value), *short] if self.log and self.low <= 1 <= self.high else short:
            yield np.where((value == 0) & (self.zero > 0), 0.0, np.clip(each, self.low, self.high))


@dataclass(frozen=True, kw_only=True)
class Family:
    """Domains by name, and the evidence that an instance gives.

    `measure` turns values (leading axis the instance) into evidence with one entry per instance (or several per
    instance, in order). `sharp` adds instances chosen because a bound is nearly attained there. `arguments` gives the
    theorem's arguments of values alone, for families in which measuring costs more than building.
    """

    name: str
    domains: Mapping[str, Domain]
    measure: Callable[[Values], Evidence] | None = None
    sharp: Callable[[], Values] | None = None
    arguments: Callable[[Values], Mapping[str, np.ndarray]] | None = None

    def evidence(self, values: Values) -> Evidence:
        """The evidence that the instances of `values` give; `InputError` without `measure`."""
        if self.measure is None:
            raise InputError("family", self.name, "it measures nothing: give `measure`")
        BEFORE_EACH.get()()
        return self.measure(values)

    @cached_property
    def places(self) -> dict[str, tuple[Domain, slice]]:
        """Every domain with its columns of the unit cube."""
        ends = np.cumsum([0, *(math.prod(domain.shape) for domain in self.domains.values())]).tolist()
        return {name: (domain, slice(*ends[at : at + 2])) for at, (name, domain) in enumerate(self.domains.items())}

    @cached_property
    def _scales(self) -> np.ndarray:
        """`Domain.scale` of every column, (6, k)."""
        columns = [domain.scale for domain, at in self.places.values() for _ in range(at.start, at.stop)]
        return np.array(columns).reshape(-1, 6).T

    def at(self, u: np.ndarray) -> Values:
        """Values at points of the unit cube, u (count, k)."""
        return self.split(self.numbers(u))

    def numbers(self, u: np.ndarray) -> np.ndarray:
        """The same values as numbers (count, k), not yet split by domain."""
        return _between(u, *self._scales)

    def split(self, numbers: np.ndarray) -> Values:
        """Numbers (count, k) by the names of their domains."""
        return {
            name: np.ascontiguousarray(numbers[:, columns]).reshape(len(numbers), *domain.shape)
            for name, (domain, columns) in self.places.items()
        }

    def whole(self) -> Values | None:
        """Every instance, where all domains are whole numbers, few together; None elsewhere."""
        every = self.domains.values()
        if any(domain.shape or domain.zero or not domain.integer for domain in every):
            return None
        ranges = [np.arange(int(np.ceil(domain.low)), int(np.floor(domain.high)) + 1.0) for domain in every]
        if math.prod(map(len, ranges)) > _WHOLE:
            return None
        return dict(zip(self.domains, (each.ravel() for each in np.meshgrid(*ranges, indexing="ij"))))

    def quantiles(self, count: int, *, seed: int) -> np.ndarray:
        """Random points of the unit cube, (count, k), a pure function of the seed; not to be written to."""
        return _quantiles(tuple(at.stop - at.start for _, at in self.places.values()), count, seed)

    def corners(self, count: int, *, seed: int) -> np.ndarray:
        """`count` random points of the unit cube (count, k) where simple things happen: each number is at an end of its
        interval, or 0 where that lies inside, with probability 2/5; domains that are the same, such as one minimiser
        for each client, have the same values with 1/4; the entries of an array are all alike, of two values, or (with
        several axes) differ from the rest in a block alone, some clients in some features, with 1/4 each."""
        u, side = self.quantiles(count, seed=seed), self.quantiles(count, seed=seed + 0x10000)
        pick = self.quantiles(count, seed=seed + 0x20000)
        u = np.where(side < 0.4, (side < 0.2).astype(float), u)
        same: dict[Domain, list[slice]] = {}
        for domain, columns in self.places.values():
            same.setdefault(domain, []).append(columns)
            own, lots = u[:, columns], pick[:, columns]  # the first one is a view
            if not domain.log and not domain.zero and domain.low < 0 < domain.high:
                own[:] = np.where(side[:, columns] > 0.9, -domain.low / (domain.high - domain.low), own)
            if own.shape[1] > 1:
                first, second, kind = own[:, :1], own[:, 1:2], lots[:, :1]
                two = np.where(lots < 0.5, first, second)
                if len(domain.shape) > 1:
                    block = np.where(_block(lots, domain.shape), first, np.where(second < 0.5, 0.5, second))
                    own[:] = np.where((kind > 0.5) & (kind < 0.75), block, own)
                own[:] = np.where(kind < 0.25, first, np.where(kind < 0.5, two, own))
        for first, *others in same.values():
            for columns in others:
                u[:, columns] = np.where(pick[:, first.stop - 1 : first.stop] > 0.75, u[:, first], u[:, columns])
        return u

    def draw(self, count: int, *, seed: int) -> Values:
        """`count` random instances, a pure function of the seed."""
        return self.at(self.quantiles(count, seed=seed))


def _between(u: np.ndarray, low: Any, high: Any, adds: Any, times: Any, integer: Any, zero: Any) -> np.ndarray:
    """Values at quantiles; what else is given is one number each or one for every column."""
    v = np.maximum((u - zero) / (1 - zero), 0)
    value = low * times**v + adds * v
    value = np.where(integer, np.minimum(np.floor(value), high), value)  # v = 1 is a corner
    return np.where(u < zero, 0.0, value)


def _block(lots: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Which entries lie in a random block of an array, (n, size): few, half or most of the rows, in some columns."""
    lots = lots.reshape(len(lots), shape[0], -1)
    share = np.array([0.2, 0.5, 0.9])[(lots[:, 0, -1] * 3).astype(int)]
    rows = lots[:, :, 0] * 7 % 1 < share[:, None]
    columns = lots[:, -1] * 11 % 1 < 0.5
    return (rows[:, :, None] & columns[:, None]).reshape(len(lots), -1)


@lru_cache(maxsize=64)
def _quantiles(sizes: tuple[int, ...], count: int, seed: int) -> np.ndarray:
    """Quantiles of all domains by one call: entries beyond a domain's size are drawn in vain, calls cost more."""
    u = Randomness(seeds=torch.tensor([seed]), root=0x5EED).uniform(
        iteration=torch.arange(len(sizes))[:, None, None],
        stream=Stream.DATA,
        clients=count,
        features=max(sizes, default=0),
    )
    drawn = np.concatenate([u[index, :, :size].numpy() for index, size in enumerate(sizes)], axis=1)
    drawn.flags.writeable = False  # families of the same shapes share it
    return drawn
