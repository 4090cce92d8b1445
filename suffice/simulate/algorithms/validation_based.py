"""Collaboration by validation losses: the baseline of CoBo's Table 2. Wagner, Fan, Jaggi (2024)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.support.numbers import as_number

from ..oracle import Oracle
from .algorithm import checked
from .fedfomo import FedFomo, peer_losses


@dataclass(frozen=True, kw_only=True)
class ValidationBased(FedFomo):
    """x_i <- x_i - eta_i g_i(x_i); after every H-th iteration x_i <- s_i + sum_k w_ik (x_k - s_k), s_i the model with
    which i began these H, w_ik proportional to exp(-R_i(x_k) / temperature), summing to 1 over k.

    H is `period`, `temperature` [loss]. R_i is the loss on rows held out, of a problem the exact one. Reimplemented
    from the abstract alone (arXiv 2404.09753: updates weighted by trust, trust from validation losses): compare the
    rule with the paper before relying on it.
    """

    temperature: float = checked(as_number, 1.0, least=1e-12)
    name: str = "validation-based"

    def weights(self, problem: Oracle, began: Tensor, models: Tensor) -> Tensor:
        return torch.softmax(-peer_losses(problem, models) / self.temperature, dim=-1)

    def mixed(self, problem: Oracle, began: Tensor, models: Tensor) -> Tensor:
        return began + torch.matmul(self.weights(problem, began, models), models - began)
