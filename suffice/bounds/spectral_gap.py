"""The spectral gap of a mixing matrix, and the extreme non-zero eigenvalues of W = Lambda Lambda^T."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

RANK_TOLERANCE = 2.0**-44
"""Singular values of Lambda below this times N times the largest count as zero (a float SVD errs by N 2^-52)."""


def spectral_gap(W) -> float:
    """1 - |W - 11^T/N| of a mixing matrix W (N, N): 1 - |lambda_2| where W is symmetric."""
    W = np.asarray(W, dtype=float)
    return float(1 - np.linalg.norm(W - 1 / len(W), 2))


class Spectrum(NamedTuple):
    """Largest and smallest non-zero eigenvalue of W, and the number of non-zero ones."""

    smax: np.ndarray
    smin: np.ndarray
    rank: np.ndarray


def spectrum(weights) -> Spectrum:
    """The spectrum of W = Lambda Lambda^T from the singular values of Lambda.

    What is non-zero is a numerical decision (RANK_TOLERANCE). Where an eigenvalue is near it, smin is not to be
    trusted: use the averaged iterate, whose bound needs smax alone.
    """
    singular = np.linalg.svd(np.asarray(weights, dtype=float), compute_uv=False)
    rank = (singular > RANK_TOLERANCE * singular.shape[-1] * singular[..., :1]).sum(-1)
    smallest = np.take_along_axis(singular, rank[..., None] - 1, -1)[..., 0]
    return Spectrum(smax=singular[..., 0] ** 2, smin=smallest**2, rank=rank)
