"""Philox4x32-10 written anew, and the draws built on it, for tests of streams."""

from __future__ import annotations


def cipher(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """Philox4x32-10 on Python integers, which cannot overflow."""
    (a, b, c, d), (k, m) = counter, key
    for turn in range(10):
        high = divmod(0xD2511F53 * a, 2**32), divmod(0xCD9E8D57 * c, 2**32)
        left, right = (k + turn * 0x9E3779B9) % 2**32, (m + turn * 0xBB67AE85) % 2**32
        a, b, c, d = high[1][0] ^ b ^ left, high[1][1], high[0][0] ^ d ^ right, high[0][1]
    return a, b, c, d


def numbers(count: int, *, seed: int, root: int, iteration: int, stream: int, client: int = 0) -> list[int]:
    """The first 64-bit numbers of a counter: a high word, then a low one."""
    words = [w for block in range(-(-count // 2)) for w in cipher((block, client, iteration, stream), (seed, root))]
    return [2**32 * high + low for high, low in zip(words[0::2], words[1::2])][:count]
