"""Logistic losses and their gradients over sparse rows, at many models at once."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch

from .library import Unavailable, library


def logistic_means(
    rows: Any, x: np.ndarray, *, times: np.ndarray | None = None, value: bool = False
) -> tuple[np.ndarray, np.ndarray | None]:
    """Gradients (m, d) of mean_j log(1 + exp(-a_j . x)) at the models x (m, d), and with `value` that mean (m,).

    rows: SciPy's csr_matrix (n, d) of float64, a_j times its label; times (n,): how often each counts, else once.
    `Unavailable` without a compiler.
    """
    code = library(torch.float64, "columns")
    parts = (rows.indptr.astype(np.int32), rows.indices.astype(np.int32), np.ascontiguousarray(rows.data, dtype=float))
    counts = np.ones(len(parts[0]) - 1) if times is None else np.ascontiguousarray(times, dtype=float)
    x = np.ascontiguousarray(x, dtype=float)
    gradient, means = np.empty_like(x), np.empty(len(x)) if value else None
    arrays = (*parts, counts, x, gradient, means)
    sizes = (ctypes.c_int64(size) for size in (*rows.shape, len(x)))
    if code.logistic_means(*sizes, *(ctypes.c_void_p(None if a is None else a.ctypes.data) for a in arrays)):
        raise Unavailable("no memory")
    return gradient, means
