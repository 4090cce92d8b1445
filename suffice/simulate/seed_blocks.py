"""Blocks of seeds, which always run whole: a seed's block and its place there depend on its index alone, and the size
of a block on (N, d, dtype) alone. So a seed's path is bitwise the same whichever others are asked for.
"""

from __future__ import annotations

import torch
from torch import Tensor

from suffice.support.errors import InputError

from .oracle import Oracle

_CACHE_BYTES = 320 * 1024
_LARGEST_BLOCK = 4096
MOST_DRAWN = 5e8
"""The samples of one step may hold so many numbers (4 GB)."""


def block_size(clients: int, features: int, dtype: torch.dtype) -> int:
    """Seeds per block: the largest power of two whose (N, N) and (N, d) arrays fit the cache (64 at N = 20)."""
    per_seed = clients * (clients + features) * dtype.itemsize
    return 1 << min(max(_CACHE_BYTES // per_seed, 1), _LARGEST_BLOCK).bit_length() - 1


def padded_seeds(problem: Oracle, seeds: int) -> int:
    """How many seeds run when the first `seeds` are asked for: blocks always run whole."""
    size = block_size(problem.clients, problem.features, problem.dtype)
    return -(-seeds // size) * size


def seed_blocks(problem: Oracle, wanted: range) -> list[Tensor]:
    """The whole blocks that hold the seeds `wanted`, seed indices of each."""
    size = block_size(problem.clients, problem.features, problem.dtype)
    drawn = float(size) * problem.draw_size
    if drawn > MOST_DRAWN:
        raise InputError("batch", problem.batch, f"one step would draw {drawn:.1e} numbers, over {MOST_DRAWN:.0e}")
    return [torch.arange(size) + size * block for block in sorted({seed // size for seed in wanted})]
