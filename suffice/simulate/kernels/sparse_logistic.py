"""Regularised logistic losses and their gradients over sparse rows, at many models at once."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch

from .library import Unavailable, library


def logistic_means(rows: Any, x: np.ndarray, *, times: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
    """Gradients (m, d) and values (m,) of mean_j log(1 + exp(-a_j . x)) + mu/2 |x|^2 at models x (m, d).

    rows: SciPy's csr_matrix (n, d) of float64, a_j times its label; row j counts times[j] times, times (n,).
    `Unavailable` without a compiler.
    """
    code = library(torch.float64, "sparse_logistic")
    gradient, means = np.empty_like(x, dtype=float, order="C"), np.empty(len(x))
    whole = (np.ascontiguousarray(part, dtype=np.int32) for part in (rows.indptr, rows.indices))
    real = (np.ascontiguousarray(part, dtype=float) for part in (rows.data, times, np.float64(mu), x))
    arrays = (*whole, *real, gradient, means)
    sizes = (ctypes.c_int64(size) for size in (rows.shape[0], *x.shape[::-1]))
    if code.logistic_means(*sizes, *(ctypes.c_void_p(part.ctypes.data) for part in arrays)):
        raise Unavailable("no memory")
    return gradient, means
