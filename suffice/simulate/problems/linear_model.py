"""Stochastic gradients of losses of a linear prediction, l(x . theta, y) + (r/2) |theta|^2."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor


class LinearModel(ABC):
    """The oracle side of a problem whose samples are pairs (x, y).

    One sample's gradient is slope(x . theta, y) x + r theta. So a weighted sum of all clients' gradients at each of
    P models needs P N m slopes and matrix products with the samples; no gradient of a pair is ever formed.
    """

    @property
    @abstractmethod
    def ridge(self) -> float:
        """The regularisation r."""

    @abstractmethod
    def samples(self, draw: Tensor) -> tuple[Tensor, Tensor]:
        """Features x (S, N, m, d) and responses y (S, N, m) of a draw."""

    @abstractmethod
    def slope(self, prediction: Tensor, y: Tensor) -> Tensor:
        """dl/dprediction."""

    def centred(self, theta: Tensor) -> Tensor:
        """Models as the predictions see them; a problem that knows a better origin than 0 subtracts it."""
        return theta

    def _slopes(self, theta: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """Slopes of client k's samples at model p, divided by m, as [s, p, (k, j)] (S, P, N m)."""
        prediction = torch.matmul(self.centred(theta), x.flatten(1, 2).transpose(-1, -2))
        return self.slope(prediction, y.flatten(1)[:, None]) / x.shape[2]

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        x, y = self.samples(draw)
        if weights is None:
            slope = self.slope((self.centred(theta)[:, :, None] * x).sum(-1), y) / x.shape[2]
            gradient = (slope[..., None] * x).sum(2)
            return gradient + self.ridge * theta if self.ridge else gradient
        slope = weights.repeat_interleave(x.shape[2], -1) * self._slopes(theta, x, y)
        gradient = torch.matmul(slope, x.flatten(1, 2))
        return gradient + self.ridge * weights.sum(-1, keepdim=True) * theta if self.ridge else gradient

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        x, y = self.samples(draw)
        prediction = torch.einsum("sikd,skmd->sikm", self.centred(theta), x)
        gradient = torch.einsum("sikm,skmd->sikd", self.slope(prediction, y[:, None]) / x.shape[2], x)
        return gradient + self.ridge * theta if self.ridge else gradient

    # |g_i - g_k|^2 = |g_i|^2 - 2 <g_i, g_k> + |g_k|^2 from slopes and Gram matrices: N^2 m^2 numbers at a time, never
    # N^2 d. The regularisation is the same for all clients, so it cancels in the differences.

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        x, y = self.samples(draw)
        n, m = x.shape[1:3]
        slope = self._slopes(theta, x, y).unflatten(-1, (n, m))
        own = slope.diagonal(dim1=1, dim2=2).transpose(-1, -2)  # (S, N, m): client i's own samples at its model
        g = torch.einsum("sim,simd->sid", own, x)
        cross = (torch.matmul(g, x.flatten(1, 2).transpose(-1, -2)).unflatten(-1, (n, m)) * slope).sum(-1)
        gram = torch.einsum("skmd,skld->skml", x, x)
        peer = torch.einsum("sikm,skml,sikl->sik", slope, gram, slope)
        gap = ((g**2).sum(-1)[..., None] - 2 * cross + peer).clamp_min(0)
        gap.diagonal(dim1=-2, dim2=-1).zero_()
        return gap, ((g + self.ridge * theta if self.ridge else g) ** 2).sum(-1)
