"""Linear recursions beside one step after the other."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.verification.family import Domain, Family
from suffice.verification.instances.aligned_pair import Aligned
from suffice.verification.instances.recursions import affine, affine_recursion, by_length
from suffice.verification.instances.scheduled import Horizon

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


SHORT = {
    "beta": Domain(low=0.25, high=4, log=True), "kappa": Domain(low=1, high=30),
    "r": Domain(low=0.01, high=1, log=True), "sigma2_i": Domain(low=0.1, high=1e6, log=True),
    "sigma2_k": Domain(low=1e-6, high=1, log=True), "ratio": Domain(low=0.1, high=1),
    "e0": Domain(low=1, high=10, log=True), "T": Domain(low=1, high=900, integer=True),
    "eps": Domain(low=0.01, high=1, log=True), "d": Domain(low=1e3, high=1e12, log=True),
    "delta": Domain(low=0.1, high=0.9), "split": Domain(low=0, high=0.8),
}  # fmt: skip


@pytest.mark.parametrize("kind", [Aligned, Horizon])
def test_nothing_is_left_of_a_path_whose_mean_is_below_the_precision(kind):
    values = Family(name="pairs", domains=SHORT).draw(300, seed=3)
    batch = kind.of(values)
    early = np.flatnonzero(batch.length < batch.T / 2)
    assert 20 < len(early) < 250
    short, whole = (kind.of({name: value[early] for name, value in values.items()}) for _ in range(2))
    whole.__dict__["length"] = whole.T
    assert len(short._times) < len(whole._times)
    for measure in ("running", "hitting", "stopped", "last_running", "last_above"):
        found, expected = getattr(short, measure)(), getattr(whole, measure)()
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15, err_msg=measure)
