"""From a problem to what every method's theorem asks: starts, misfits, expected smoothness, the released constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import Constants
from bounds.network import Network

if TYPE_CHECKING:
    from simulate import Problem

MOST_MISFITS = 300
"""Clients up to which every loss is evaluated at every other client's optimum."""
BY_ROWS = "Scafflix: A and C by the largest smoothness of a row, C at the clients' models of the mixed objective"


def network(source: Problem | Constants, constants: Constants, *, alpha: float = 0.5) -> Network:
    """All that can be told of `source`, whose constants are `constants`, for Scafflix's weight alpha in (0, 1]."""
    if isinstance(source, Constants):
        return Network(constants=constants)
    from simulate import LeastSquares

    start, optimum = _numpy(source.start), _numpy(source.optimum)
    misfit = None
    if source.clients <= MOST_MISFITS:
        everywhere = source.optimum[:, None].expand(-1, source.clients, -1)
        misfit = np.maximum(_numpy(source.excess(everywhere)).T, 0)  # [i, s]: client i at the optimum of s
        np.fill_diagonal(misfit, 0.0)
    known: dict[str, Any] = {"constants": constants, "start": start, "misfit": misfit, "batch": int(source.batch)}
    if isinstance(source, LeastSquares):  # its sigma2 bounds the variance on a region alone
        known |= _by_rows(source, constants, np.full(source.clients, alpha), optimum) | {"notes": (BY_ROWS,)}
    return Network(**known, **_released(source, constants))


def _by_rows(source: Any, constants: Constants, alpha: np.ndarray, optimum: np.ndarray) -> dict[str, np.ndarray]:
    """`scafflix/assumption-3-minibatch`: A = (1 - 2/m)_+ L + (2/m) max_j L_ij, C = 2 Var at the mixed models."""
    import torch

    solution = Network(constants=constants).mixed_solution(alpha)
    assert solution is not None
    models = alpha[:, None] * solution + (1 - alpha[:, None]) * optimum
    variance = _numpy(source.variance(torch.from_numpy(models).to(source.start))).diagonal()
    m = source.batch
    A = max(0, m - 2) / m * constants.beta + 2 / m * _numpy(source.sample_smoothness)
    return {"A": A, "C": 2 * variance}


def _released(source: Any, constants: Constants) -> dict[str, Any]:
    """As the released code of Scafflix: the regulariser is divided by n (least squares) or 4 n (logistic loss)."""
    from simulate import Logistic

    r, data = getattr(source, "regularisation", None), getattr(source, "data", None)
    if not r or data is None:
        return {}
    logistic = isinstance(source, Logistic)
    counts = _numpy(data.counts) * (4 if logistic else 1)
    smooth = _numpy(source.smoothness) if logistic else constants.beta
    return {"released": smooth - r + r / counts, "released_mu": float(r)}


def _numpy(tensor: Any) -> np.ndarray:
    return tensor.detach().double().cpu().numpy()
