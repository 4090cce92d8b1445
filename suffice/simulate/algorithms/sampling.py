"""Sampling of clients: a server draws a given number of each cluster for a round, uniformly without replacement."""

from __future__ import annotations

import math
from itertools import combinations, product

import torch
from torch import Tensor

from suffice.support.errors import InputError

_MOST = 5000


def cluster_sizes(clients: int, clusters: Tensor | None) -> Tensor:
    """Clients per cluster (G,); clusters None is one of everybody."""
    return torch.tensor([clients]) if clusters is None else clusters.bincount()


def sample(u: Tensor, count: int, clusters: Tensor | None) -> Tensor:
    """True for the `count` clients of each cluster with the smallest uniforms u (S, N), as (S, N)."""
    if clusters is None:
        return u.argsort(-1).argsort(-1) < count
    # Sorted by cluster and then by u, a client's rank in its cluster is its place less its cluster's first place.
    first = (clusters[:, None] > clusters).sum(-1)
    return (u + clusters).argsort(-1).argsort(-1) - first < count


def every_sample(clients: int, count: int, clusters: Tensor | None) -> Tensor:
    """All equally likely outcomes of `sample`, (J, N)."""
    sizes = cluster_sizes(clients, clusters).tolist()
    total = math.prod(math.comb(size, count) for size in sizes)
    if total > _MOST:
        raise InputError("participants", count, f"{total} possible draws, more than {_MOST}: simulate instead")
    labels = [0] * clients if clusters is None else clusters.tolist()
    inside = [[i for i, label in enumerate(labels) if label == g] for g in range(len(sizes))]
    chosen = torch.zeros(total, clients, dtype=torch.bool)
    for row, parts in zip(chosen, product(*(combinations(members, count) for members in inside))):
        row[[i for part in parts for i in part]] = True
    return chosen


def only(present: Tensor | None, vectors: Tensor) -> Tensor:
    """`vectors` (S, N, d) of the present clients (S, N), zero for the others; None: everybody is."""
    return vectors if present is None else torch.where(present[..., None], vectors, 0)
