"""Counter-based random numbers: Philox4x32-10, the same for any order, batch, process and precision.

A draw is a pure function of key (seed, root) and counter (block, client, iteration, stream), so
there is no generator object, no global state and no loop over seeds. One call of the cipher gives four
32-bit words: four uniforms, or by Box-Muller four normals. One uniform takes one word in both
precisions and normals are computed in float64 before rounding, so float32 and float64 share paths.

Source: Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
These numbers are final: a change here alters every path ever published.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor

_MASK = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


class Stream(IntEnum):
    """What a draw is for. Values are permanent."""

    NOISE = 0
    SIMILARITY = 1
    COIN = 2
    DATA = 3
    START = 4


def philox(counter: tuple[Tensor, ...], key: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Philox4x32-10 on int64 tensors that hold 32-bit words and broadcast; returns four words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        # The 64-bit product wraps into the sign bit; masking the arithmetic shift restores the high word.
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            ((p1 >> 32) & _MASK) ^ c1 ^ k0,
            p1 & _MASK,
            ((p0 >> 32) & _MASK) ^ c3 ^ k1,
            p0 & _MASK,
        )
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    return c0, c1, c2, c3


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """The random numbers of a batch of seeds (S,), all under one root."""

    seeds: Tensor
    root: int = 0

    def _words(self, *, iteration: int, stream: Stream, clients: int, features: int) -> Tensor:
        """Words (S, clients, 4 * ceil(features / 4)) as int64."""
        device = self.seeds.device
        blocks = torch.arange(-(-features // 4), device=device)
        client = torch.arange(clients, device=device)[:, None]
        seed = self.seeds.to(torch.int64)[:, None, None]
        zero = torch.zeros((), dtype=torch.int64, device=device)
        words = philox(
            (blocks + zero, client + zero, zero + iteration, zero + int(stream)),
            (seed & _MASK, zero + (self.root & _MASK)),
        )
        return torch.stack(torch.broadcast_tensors(*words), dim=-1).flatten(-2)

    def uniform(self, *, iteration: int, stream: Stream, clients: int, features: int) -> Tensor:
        """Uniforms in (0, 1), float64 (S, clients, features): (word + 1/2) / 2^32."""
        words = self._words(iteration=iteration, stream=stream, clients=clients, features=features)
        return (words[..., :features].to(torch.float64) + 0.5) * 2.0**-32

    def normal(
        self,
        *,
        iteration: int,
        stream: Stream,
        clients: int,
        features: int,
        dtype: torch.dtype = torch.float64,
    ) -> Tensor:
        """Standard normals (S, clients, features): Box-Muller on the word pairs (0, 1) and (2, 3) of each block."""
        padded = 4 * -(-features // 4)
        u = self.uniform(iteration=iteration, stream=stream, clients=clients, features=padded)
        u = u.unflatten(-1, (-1, 2))
        radius = torch.sqrt(-2 * torch.log(u[..., 0]))
        angle = (2 * math.pi) * u[..., 1]
        pair = torch.stack((radius * torch.cos(angle), radius * torch.sin(angle)), dim=-1)
        return pair.flatten(-2)[..., :features].to(dtype)
