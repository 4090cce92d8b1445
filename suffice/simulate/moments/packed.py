"""Symmetric matrices as vectors of d(d+1)/2 numbers whose inner products are those of the matrices.

Entries i <= j, row by row, those off the diagonal times sqrt(2), so that pack(S) . pack(L) = tr(S L). A linear map of
symmetric matrices becomes a matrix, and a self-adjoint one a symmetric matrix.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def _places(d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and scale of each packed entry, and the packed place of each entry (d, d)."""
    row, column = np.triu_indices(d)
    place = np.zeros((d, d), dtype=int)
    place[row, column] = place[column, row] = np.arange(len(row))
    return row, column, np.where(row == column, 1.0, np.sqrt(2.0)), place


def size(d: int) -> int:
    """Numbers in a packed (d, d) matrix."""
    return d * (d + 1) // 2


def pack(S: np.ndarray) -> np.ndarray:
    """Symmetric (..., d, d) as (..., d(d+1)/2)."""
    row, column, scale, _ = _places(S.shape[-1])
    return S[..., row, column] * scale.astype(S.dtype)


def unpack(packed: np.ndarray, d: int) -> np.ndarray:
    """The inverse of `pack`."""
    scale, place = _places(d)[2:]
    return np.take(packed / scale.astype(packed.dtype), place, axis=-1)


def sandwich(B: np.ndarray) -> np.ndarray:
    """The matrix of S -> B S B', from packed (d, d) to packed (e, e), for B (..., e, d)."""
    i, j, scale, _ = _places(B.shape[-2])
    k, m, _, _ = _places(B.shape[-1])
    first, second = np.take(B, k, axis=-1), np.take(B, m, axis=-1)  # columns before rows: whole rows are then copied
    # (B S B')_ij = sum_{k<m} (B_ik B_jm + B_im B_jk) S_km + sum_k B_ik B_jk S_kk, and packed S_km carries sqrt(2)
    both = np.take(first, i, axis=-2) * np.take(second, j, axis=-2)
    both += np.take(second, i, axis=-2) * np.take(first, j, axis=-2)
    both *= scale[:, None] * np.where(k == m, 0.5, np.sqrt(0.5))
    return both


def sandwich_derivative(G: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The derivative of <G, sandwich(B)> by B (d, d), for G (D, D): 2 L B S summed over G's parts pack(L) pack(S)'."""
    scale, place = _places(len(B))[2:]
    by_S = (unpack(G.T, len(B)) @ B) / scale[:, None, None]  # (S, i, l): sums of (L B)_il S
    return 2 * by_S[place, :, np.arange(len(B))].sum(1).T


def affine(shift: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The matrix (..., 1 + d, 1 + e) that takes (1, x) to (1, shift + basis x)."""
    matrix = np.zeros((*shift.shape[:-1], 1 + basis.shape[-2], 1 + basis.shape[-1]))
    matrix[..., 0, 0], matrix[..., 1:, 0], matrix[..., 1:, 1:] = 1, shift, basis
    return matrix
