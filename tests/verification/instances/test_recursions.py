"""Linear recursions beside one step after the other."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.instances.recursions import affine, affine_recursion, by_length

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (5, 3), (64, 2), (65, 2), (700, 3, 2)])
@pytest.mark.parametrize("low", [-0.2, 0.999], ids=["products that vanish", "products that stay"])
def test_a_path_is_followed_step_by_step(shape, low):
    factor, added, start = RNG.uniform(low, 1, shape), RNG.uniform(0, 1, shape), RNG.uniform(0, 1, shape[1:])
    if low < 0 and len(factor) > 3:
        factor[3] = 0
    expected = [start]
    for times, plus in zip(factor, added):
        expected.append(times * expected[-1] + plus)
    np.testing.assert_allclose(affine_recursion(factor, added, start), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", [1, 40, 1000])
def test_one_factor_serves_all_steps(size):
    factor, added, start = np.array([[0.5, 1.0, 0.999]]), np.ones((size, 3)), np.array([3.0, 1.0, 2.0])
    alike = affine_recursion(np.repeat(factor, size, 0), added, start)
    np.testing.assert_allclose(affine_recursion(factor, added, start), alike, rtol=1e-13)
    T = np.array([0.0, 1.0, size])
    np.testing.assert_allclose(affine(factor[0], added[0], start, T), alike[T.astype(int), range(3)], rtol=1e-12)


def test_pieces_are_of_like_length_and_hold_every_instance_once():
    T = RNG.integers(0, 30000, 300).astype(float)
    pieces = list(by_length(T, 40000))
    assert sorted(np.concatenate(pieces)) == list(range(300))
    assert all(len(rows) == 1 or len(rows) * (T[rows].max() + 1) <= 40000 for rows in pieces)
    np.testing.assert_array_equal(T[np.concatenate(pieces)], -np.sort(-T))
