"""Coordinates in which a client may take its steps: theta_i+ = theta_i - P_i sum_k v_k g_k, P_i = basis basis'.

P_i is applied by client i alone, to the mixed gradient, so that each client may choose its own. "pooled" and its kin
need one matrix of all clients' rows; "own" and "own diagonal" need nothing of anybody.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .gradient_moments import GradientMoments

RIDGE = 0.03
"""This share of the mean eigenvalue is added before directions that rows hardly see are stretched."""

Basis = Callable[[np.ndarray], np.ndarray]


def _root(ridge: float) -> Basis:
    """A^-1/2, with a ridge; without one unless A is nearly singular."""

    def basis(A: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh(A)
        share = ridge if values[0] > 1e-6 * values[-1] else RIDGE
        return vectors / np.sqrt(np.maximum(values, 0) + share * values.mean())

    return basis


def _diagonal(A: np.ndarray) -> np.ndarray:
    return np.diag(1 / np.sqrt(A.diagonal() + RIDGE * A.diagonal().mean()))


SHARED: dict[str, Basis] = {
    "none": lambda A: np.eye(len(A)), "diagonal": _diagonal, "pooled": _root(RIDGE), "pooled, whole": _root(0.0),
}  # fmt: skip
"""Bases from the clients' mean second moment; the last one differs from "pooled" where columns are nearly dependent."""
TOLD_APART = 10
"""Ridges: no eigenvalue below them, and "pooled" is about "pooled, whole"."""
OWN: dict[str, Basis] = {"own": _root(0.0), "own, ridge": _root(RIDGE)}
"""Bases from the client's second moment alone."""


def shared_bases(moments: GradientMoments) -> dict[str, np.ndarray]:
    """Bases of all clients' common coordinates, by name; "none" first."""
    A = moments.A.mean(0)
    values = np.linalg.eigvalsh(A)
    near = values[0] > TOLD_APART * RIDGE * values.mean()
    return {name: make(A) for name, make in SHARED.items() if not (near and name == "pooled, whole")}


def own_bases(moments: GradientMoments, client: int) -> dict[str, np.ndarray]:
    """Bases of coordinates of one client's choice."""
    return {name: make(moments.A[client]) for name, make in OWN.items()}
