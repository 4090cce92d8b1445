"""Similarity ratios r_ik = (1 - |grad R_k - grad R_i|^2 / |grad R_i|^2)_+ at the models."""

from __future__ import annotations

import torch
from torch import Tensor

from .problem import Problem


def exact(problem: Problem, theta: Tensor) -> Tensor:
    """Ratios from population gradients, [s, i, k] (S, N, N); r_ii = 1.

    Where grad R_i = 0 the ratio is 1 for a peer whose gradient vanishes too and 0 otherwise.
    """
    gap = problem.gradient_gap(theta)
    norm = (problem.gradient(theta) ** 2).sum(-1)[..., None]
    ratio = torch.where(norm > 0, (1 - gap / norm).clamp_min(0), (gap == 0).to(gap.dtype))
    ratio.diagonal(dim1=-2, dim2=-1).fill_(1)
    return ratio
