"""Regularised logistic losses and their gradients over sparse rows, at many models at once."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import torch

from .library import Unavailable, library


def logistic_means(
    rows: Any,
    x: np.ndarray,
    *,
    times: np.ndarray,
    base: np.ndarray,
    anchor: np.ndarray,
    alpha: np.ndarray,
    mu: float,
    value: bool = False,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Gradients by x (m, d) of l(t), t = alpha x + (1 - alpha) anchor, and with `value` l (m,).

    l(t) = mean_j log(1 + exp(-a_j . (base . t, t))) + mu/2 |t|^2, row j counted times[j] times.
    rows: SciPy's csr_matrix (n, 1 + d) of float64, a_j times its label; times (n,), base and anchor (d,), alpha (m,).
    `Unavailable` without a compiler.
    """
    code = library(torch.float64, "columns")
    gradient, means = np.empty_like(x, dtype=float, order="C"), np.empty(len(x)) if value else None
    reals = (rows.data, times, base, anchor, np.float64(mu), alpha, x)
    arrays = (
        *(np.ascontiguousarray(part, dtype=np.int32) for part in (rows.indptr, rows.indices)),
        *(np.ascontiguousarray(part, dtype=float) for part in reals),
    )
    sizes = (ctypes.c_int64(size) for size in (rows.shape[0], *x.shape[::-1]))
    pointers = (ctypes.c_void_p(None if a is None else a.ctypes.data) for a in (*arrays, gradient, means))
    if code.logistic_means(*sizes, *pointers):
        raise Unavailable("no memory")
    return gradient, means
