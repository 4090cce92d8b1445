"""The projection on the simplex, where CoBo's weights of one client may be kept."""

from __future__ import annotations

import torch
from torch import Tensor


def on_simplex(w: Tensor) -> Tensor:
    """The nearest point with entries >= 0 that sum to 1, along the last axis: (w - tau)_+ for the tau that gives 1."""
    largest = w.sort(-1, descending=True).values
    count = torch.arange(1, w.shape[-1] + 1, dtype=w.dtype, device=w.device)
    tau = (largest.cumsum(-1) - 1) / count  # if the `count` largest remain; it is largest at the right count
    return (w - tau.amax(-1, keepdim=True)).clamp_min(0)
