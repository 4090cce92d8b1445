"""Averaging by servers: one server per cluster averages the models of its clients. Clusters are labels 0..G-1 (N,)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot


def cluster_means(models: Tensor, weights: Tensor, clusters: Tensor | None, count: int = -1) -> Tensor:
    """sum_i w_i x_i / sum_i w_i over the clients i of each cluster, (S, G, d).

    models (S, N, d); weights (N,) or (S, N), not all zero in any cluster; clusters None is one of everybody.
    `count` is G, without which it is read off the labels: on a card that is a wait for it.
    """
    share = weights[..., None, :]
    if clusters is not None:
        share = one_hot(clusters, count).to(models).T * share
    return torch.matmul(share / share.sum(-1, keepdim=True), models)


def distances(x: Tensor, y: Tensor) -> Tensor:
    """|x_i - y_k| as [s, i, k] of models (S, N, d), exactly 0 between equal ones: N^2 numbers, not N^2 d."""
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


def of_client(servers: Tensor, clients: int, clusters: Tensor | None) -> Tensor:
    """Each client's server model, (S, G, d) -> (S, N, d)."""
    return servers.expand(-1, clients, -1) if clusters is None else servers[:, clusters]
