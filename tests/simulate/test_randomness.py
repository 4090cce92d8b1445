"""Philox and what is built on it, against published answers and a cipher written anew on Python integers."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from cipher import cipher, numbers
from scipy.special import gammaincinv

from suffice.simulate import Randomness, Stream, philox

MASK = 2**32 - 1
KNOWN = [  # Salmon et al. (2011), Random123's known-answer file: counter, key, output
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((MASK,) * 4, (MASK,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def words(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(w) for w in philox(tuple(map(torch.tensor, counter)), tuple(map(torch.tensor, key))))


def normals(seeds: int, clients: int, features: int, **more) -> np.ndarray:
    setting = {"iteration": 1, "stream": Stream.NOISE} | more
    return Randomness(seeds=torch.arange(seeds)).normal(clients=clients, features=features, **setting).numpy()


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_philox_gives_the_published_answers(counter, key, answer):
    assert words(counter, key) == answer
    assert cipher(counter, key) == answer  # the reference of this file too


def test_uniform_reads_counter_block_client_iteration_stream_under_key_seed_root():
    seeds, root, iteration, features = [0, 7, 2**32 - 1], 0xDEADBEEF, 12345, 6
    u = Randomness(seeds=torch.tensor(seeds), root=root).uniform(
        iteration=iteration, stream=Stream.COIN, clients=3, features=features
    )
    for s, seed in enumerate(seeds):
        for client in range(3):
            for f in range(features):
                word = cipher((f // 4, client, iteration, 2), (seed, root))[f % 4]
                assert u[s, client, f].item() == (word + 0.5) / 2**32


def test_stream_numbers_are_the_published_ones():
    names = ("NOISE", "SIMILARITY", "COIN", "DATA", "START", "SPLIT")
    assert {s.name: int(s) for s in Stream} == {name: value for value, name in enumerate(names)}


def test_normals_are_box_muller_on_word_pairs():
    got = normals(2, 2, 7, iteration=9, stream=Stream.START)
    for s in range(2):
        for client in range(2):
            for f in range(7):
                block = cipher((f // 4, client, 9, 4), (s, 0))
                u, v = ((block[2 * (f % 4 // 2) + j] + 0.5) / 2**32 for j in range(2))
                wave = math.sin if f % 2 else math.cos
                expected = math.sqrt(-2 * math.log(u)) * wave(2 * math.pi * v)
                # same formula on the same doubles: a few roundings of the elementary functions apart
                np.testing.assert_allclose(got[s, client, f], expected, rtol=1e-14)


def test_a_draw_does_not_depend_on_how_many_are_asked_for():
    whole = normals(9, 6, 11)
    for seeds, clients, features in [(1, 1, 1), (4, 6, 11), (9, 2, 11), (9, 6, 3), (5, 3, 8)]:
        np.testing.assert_array_equal(normals(seeds, clients, features), whole[:seeds, :clients, :features])
    alone = Randomness(seeds=torch.tensor([5])).normal(iteration=1, stream=Stream.NOISE, clients=6, features=11)
    np.testing.assert_array_equal(alone.numpy()[0], whole[5])


def test_float32_normals_are_the_float64_ones_rounded():
    single = normals(50, 3, 5, dtype=torch.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, normals(50, 3, 5).astype(np.float32))


def test_permutations_sort_64_bit_keys():
    got = Randomness(seeds=torch.tensor([0, 5]), root=2).permutation(9, iteration=1, stream=Stream.SPLIT)
    for order, seed in zip(got.tolist(), (0, 5)):
        keys = numbers(9, seed=seed, root=2, iteration=1, stream=5)
        assert order == sorted(range(9), key=lambda row: keys[row])


@pytest.mark.parametrize("concentration", [1e-6, 0.1, 1.0, 30.0, 1e6])
def test_dirichlet_shares_are_gammas_over_their_sum(concentration):
    """By mpmath: G(a + 1) inverts its distribution function at one uniform, and U^(1/a) is of the next."""
    u, got = (
        getattr(Randomness(seeds=torch.tensor([4]), root=9), name)(
            *first, iteration=2, stream=Stream.SPLIT, clients=2, features=features
        )[0]
        for name, first, features in (("uniform", (), 6), ("dirichlet", (concentration,), 3))
    )
    with mpmath.workdps(40):
        for row, shares in zip(u.tolist(), got.tolist()):
            gammas = []
            for below, power in zip(row[0::2], row[1::2]):
                larger = mpmath.mpf(gammaincinv(concentration + 1, below))
                error = mpmath.gammainc(concentration + 1, 0, larger, regularized=True) - below
                assert abs(error) < 1e-10 * min(below, 1 - below)
                gammas.append(larger * mpmath.mpf(power) ** (1 / mpmath.mpf(concentration)))
            expected = [float(gamma / mpmath.fsum(gammas)) for gamma in gammas]
            np.testing.assert_allclose(shares, expected, rtol=1e-9)  # 1e-16 in a logarithm, times 1/a = 1e6
