"""The rows of all clients' data, and sampling them with replacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import labelled
from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from ..randomness import Randomness, Stream


def client_labels(X: Sequence[Any], y: Sequence[Any], names: Sequence[str]) -> tuple[str, ...]:
    """The clients' names; `InputError` unless there is one array of each kind for every client."""
    if isinstance(X, np.ndarray) and X.ndim != 3:
        raise InputError("X", f"array of shape {X.shape}", "give a list with one (n, d) array per client")
    for name, value in (("X", X), ("y", y)):
        if not isinstance(value, (Sequence, np.ndarray)):
            raise InputError(name, value, "give one array per client, in a list")
    labels = labelled(names, len(X))
    if not labels:
        raise InputError("clients", 0, "give at least one client")
    if len(y) != len(X):
        raise InputError("y", f"{len(y)} arrays", f"give one per client, {len(X)}")
    return labels


def client_rows(X: Sequence[Any], y: Sequence[Any], labels: Sequence[str]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows (n_i, d) and targets (n_i,) as numbers, at least one row a client, the same predictors everywhere."""
    blocks, targets = [], []
    for label, rows, target in zip(labels, X, y):
        block = as_numbers(f"X of client {label}", rows, ("n", blocks[0].shape[1] if blocks else "d"))
        if len(block) == 0:
            raise InputError(f"rows of client {label}", 0, "give every client at least one row")
        blocks.append(block)
        targets.append(as_numbers(f"y of client {label}", target, (len(block),)))
    return blocks, targets


@dataclass(frozen=True, kw_only=True)
class Rows:
    """X (rows, d) and y (rows,) of all clients, concatenated; client i has `counts[i]` rows from `first[i]` on.

    A network's X and y may have more axes. `most` is the largest count, known without a look at the device.
    """

    X: Tensor
    y: Tensor
    first: Tensor = dataclass_field(init=False)
    counts: Tensor
    most: int = dataclass_field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", self.counts.cumsum(0) - self.counts)
        object.__setattr__(self, "most", int(self.counts.max()))

    @classmethod
    def of(cls, X: Sequence[Any], y: Sequence[Any], names: Sequence[str]) -> tuple[Rows, tuple[str, ...]]:
        """From one (n_i, d) array and one (n_i,) array per client, checked; and one label per client."""
        labels = client_labels(X, y, names)
        blocks, targets = client_rows(X, y, labels)
        if not blocks[0].shape[1]:
            raise InputError("predictors", 0, "give at least one predictor, or an intercept")
        joined, values = (torch.from_numpy(np.concatenate(parts)) for parts in (blocks, targets))
        return cls(X=joined, y=values, counts=torch.tensor([len(block) for block in blocks])), labels

    def blocks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(X_i, y_i) of each client, float64."""
        parts = (each.double().cpu().split(self.counts.tolist()) for each in (self.X, self.y))
        return [(X.numpy(), y.numpy()) for X, y in zip(*parts)]

    def draw(self, randomness: Randomness, iteration: int | Tensor, *, stream: Stream, batch: int) -> Tensor:
        """Indices of the sampled rows of each client, (S, N, m), with replacement."""
        u = randomness.uniform(iteration=iteration, stream=stream, clients=len(self.counts), features=batch)
        return self.first[:, None] + (u * self.counts[:, None]).to(torch.int64)

    def kept(self, mask: Tensor) -> Rows:
        """The rows where `mask` (rows,) is true; every client keeps one at least."""
        counts = torch.stack([part.sum() for part in mask.split(self.counts.tolist())])
        return Rows(X=self.X[mask], y=self.y[mask], counts=counts)

    def means(self, values: Tensor) -> Tensor:
        """Each client's mean of values (P, rows), as (P, N)."""
        clients = torch.arange(len(self.counts), device=self.X.device)
        owner = torch.repeat_interleave(clients, self.counts, output_size=len(self.X))
        mean = values.new_zeros(len(values), len(self.counts))
        return mean.index_add_(1, owner, values / self.counts[owner])

    def padded(self) -> tuple[Tensor, Tensor]:
        """Row indices (J, N) and their frequencies (J, N); clients with fewer rows repeat one with frequency 0."""
        position = torch.arange(self.most, device=self.X.device)[:, None]
        kind = self.X.dtype if self.X.is_floating_point() else torch.float64  # a network's rows may be indices
        frequency = (position < self.counts) / self.counts.to(kind)
        return self.first + torch.minimum(position, self.counts - 1), frequency
