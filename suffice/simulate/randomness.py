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
from typing import Any

import torch
from torch import Tensor

from suffice.support.errors import InputError

_MASK = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)


class Stream(IntEnum):
    """The purpose of a draw. Values are permanent: 6 and 7 were used by code that is gone, and stay unused."""

    NOISE = 0
    SIMILARITY = 1
    COIN = 2
    DATA = 3
    START = 4
    SPLIT = 5


def check_root(root: int) -> None:
    """Raise `InputError` unless `root` is a 32-bit word."""
    if not isinstance(root, int) or not 0 <= root < 2**32:
        raise InputError("root", root, "give a whole number within 0..2^32 - 1")


def philox(counter: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Philox4x32-10 on int64 tensors or arrays that hold 32-bit words and broadcast; returns four words."""
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

    def _words(self, *, iteration: int | Tensor, stream: Stream, clients: int, features: int) -> Tensor:
        """Words (S, clients, 4 * ceil(features / 4)) as int64."""
        device = self.seeds.device
        blocks = torch.arange(-(-features // 4), device=device)
        client = torch.arange(clients, device=device)[:, None]
        seed = self.seeds.to(torch.int64)[:, None, None] & _MASK
        zero = torch.zeros(1, dtype=torch.int64, device=device)
        words = (blocks, client, zero + iteration, zero + int(stream), seed, zero + (self.root & _MASK))
        if device.type == "cpu":  # NumPy does the cipher's 150 operations in a third of the time when there is little
            words = tuple(word.numpy() for word in words)
        words = (torch.as_tensor(word) for word in philox(words[:4], words[4:]))
        return torch.stack(torch.broadcast_tensors(*words), dim=-1).flatten(-2)

    def uniform(self, *, iteration: int | Tensor, stream: Stream, clients: int, features: int) -> Tensor:
        """Uniforms in (0, 1), float64 (S, clients, features): (word + 1/2) / 2^32.

        Many iterations of one seed at once: `iteration` (T, 1, 1), whose axis takes the place of the seeds'.
        """
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

    def permutation(self, count: int, *, iteration: int, stream: Stream) -> Tensor:
        """A uniform order of 0 .. count - 1 for each seed, (S, count), by sorting keys of 63 bits."""
        words = self._words(iteration=iteration, stream=stream, clients=1, features=2 * count)[:, 0, : 2 * count]
        return ((words[:, ::2] << 31) + (words[:, 1::2] >> 1)).argsort(dim=-1, stable=True)

    def dirichlet(self, concentration: float, *, iteration: int, stream: Stream, clients: int, features: int) -> Tensor:
        """Shares (S, clients, features) that sum to 1 over the features, all of the same concentration a > 0.

        Gamma variates over their sum, in logarithms: G(a) has the law of G(a + 1) U^(1/a), where G(a + 1) by inversion
        of its distribution function does not underflow.
        """
        from scipy.special import gammaincinv

        u = self.uniform(iteration=iteration, stream=stream, clients=clients, features=2 * features)
        larger = torch.from_numpy(gammaincinv(concentration + 1, u[..., 0::2].cpu().numpy())).to(u.device)
        return torch.softmax(torch.log(larger) + torch.log(u[..., 1::2]) / concentration, dim=-1)


def single(seed: int) -> Randomness:
    """The random numbers of one seed of up to 63 bits, which fill both words of the key."""
    return Randomness(seeds=torch.tensor([seed >> 32]), root=seed)
