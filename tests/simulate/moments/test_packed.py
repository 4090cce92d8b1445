"""Packed symmetric matrices keep inner products, and linear maps of matrices become matrices."""

from __future__ import annotations

import numpy as np

from suffice.simulate.moments.packed import cross, pack, sandwich, size, unpack


def test_packing_keeps_inner_products_and_comes_back():
    rng = np.random.default_rng(0)
    S, L = (x + x.swapaxes(1, 2) for x in rng.normal(size=(2, 5, 4, 4)))
    assert pack(S).shape == (5, size(4))
    np.testing.assert_allclose((pack(S) * pack(L)).sum(-1), np.einsum("aij,aji->a", S, L), rtol=1e-13)
    np.testing.assert_allclose(unpack(pack(S), 4), S, rtol=1e-15)


def test_maps_of_matrices_are_matrices():
    rng = np.random.default_rng(1)
    S, B, h, m = rng.normal(size=(4, 4)), rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=3)
    S = S + S.T
    np.testing.assert_allclose(sandwich(B) @ pack(S), pack(B @ S @ B.T), rtol=1e-12)
    outer = np.outer(B.T @ m, h)
    np.testing.assert_allclose(cross(B.T, h) @ m, pack(outer + outer.T), rtol=1e-12)
