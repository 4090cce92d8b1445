"""Gradient dissimilarity (b_ik, c_ik) of two clients: Assumption 3, and Property 1's pair for quadratics.

Matrices carry [i, k]: peer k seen from client i. A heterogeneity answers two questions:
`similarity(level)`, the guaranteed similarity ratio wherever |grad R_i|^2 >= level, and
`entry_level(similarity)`, the smallest such level that guarantees a given similarity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers

from .quadratics import gradient_difference


@runtime_checkable
class Heterogeneity(Protocol):
    """Planner and definitions ask this of any description of heterogeneity."""

    @property
    def clients(self) -> int: ...

    def similarity(self, level: np.ndarray) -> np.ndarray:
        """rho (..., N, N) at squared-gradient levels (..., N), one per client i."""
        ...

    def entry_level(self, similarity: float) -> np.ndarray:
        """Smallest squared-gradient level (N, N) at which rho_ik >= similarity; inf if none."""
        ...


@dataclass(frozen=True, kw_only=True)
class GradientDissimilarity:
    """|grad R_i - grad R_k|^2 <= b2 + c |grad R_i|^2 for all theta (Assumption 3).

    b2 (N, N) squared [(loss / theta)^2], c (N, N); infinite entries mean that no bound is known.
    """

    b2: np.ndarray
    c: np.ndarray

    def __post_init__(self) -> None:
        clients = len(as_numbers("b2", self.b2, ("N", "N"), infinite=True))
        for name in ("b2", "c"):
            value = as_numbers(name, getattr(self, name), (clients, clients), infinite=True)
            object.__setattr__(self, name, value)
            if (value < 0).any():
                raise InputError(name, value.min().item(), "give numbers >= 0 (inf: no bound)")
            if np.diagonal(value).any():
                raise InputError(name, np.diagonal(value).max().item(), "the diagonal (a client against itself) is 0")

    @property
    def clients(self) -> int:
        return len(self.b2)

    def as_printed(self) -> GradientDissimilarity:
        """Definition 2 as printed divides b, not b^2, by 2 mu eps: these constants in that reading. Not a guarantee."""
        return GradientDissimilarity(b2=np.sqrt(self.b2), c=self.c)

    def similarity(self, level: np.ndarray) -> np.ndarray:
        # (1 - b^2/G - c)_+, good to a few 1e-16: sums over clients absorb that (see ULPS). Own similarity is 1.
        with np.errstate(all="ignore"):
            rho = np.maximum(1 - self.b2 / np.asarray(level)[..., None] - self.c, 0)
        return np.where(np.eye(self.clients, dtype=bool), 1.0, np.nan_to_num(rho, nan=0.0))

    def entry_level(self, similarity: float) -> np.ndarray:
        room = 1 - similarity - self.c
        with np.errstate(all="ignore"):
            level = np.where(room > 0, self.b2 / room, np.inf)
        level = np.where((self.b2 == 0) & (room >= 0), 0.0, level)
        return np.where(np.eye(self.clients, dtype=bool), 0.0, level)


def property_1(A: np.ndarray, xi: np.ndarray, *, edition: str = "corrected") -> GradientDissimilarity:
    """Property 1's pair for quadratics: c = 2 |I - A_k A_i^{-1}|^2, b^2 = 8 |A_k (xi_i - xi_k)|^2 (printed: 2).

    A        (N, d, d) invertible [loss / theta^2]; the statement needs them symmetric, which is not checked: its
             erratum is an A that is not
    xi       (N, d) [theta], of which -xi_i is the minimiser of R_i
    edition  "corrected" or "printed"
    Raises `InputError`.
    """
    if edition not in ("corrected", "printed"):
        raise InputError("edition", edition, "use corrected or printed")
    A = as_numbers("A", A, ("N", "d", "d"))
    if A.shape[1] != A.shape[2]:
        raise InputError("A", f"array of shape {A.shape}", "give shape (N, d, d)")
    try:
        M, v = gradient_difference(A, as_numbers("xi", xi, A.shape[:2]))
    except np.linalg.LinAlgError:
        raise InputError("A", "a singular matrix", "give invertible matrices") from None
    factor = 2 if edition == "corrected" else 0.5
    return GradientDissimilarity(
        b2=factor * (v**2).sum(-1), c=_off_diagonal(2 * np.linalg.norm(M, 2, axis=(-2, -1)) ** 2)
    )


def released_code(A: np.ndarray, xi: np.ndarray) -> GradientDissimilarity:
    """The authors' figure script computes this: b^2 = 2 |A_i xi_i - A_k xi_k|^2, c as in Property 1.

    It is not translation invariant when A_i != A_k, and a factor 2 below the exact 4 |xi_i - xi_k|^2
    of equal Hessians A = I.
    """
    centre = np.einsum("ide,ie->id", A, xi)
    M = np.eye(A.shape[-1]) - A[None] @ np.linalg.pinv(A)[:, None]
    b2 = 2 * ((centre[:, None] - centre[None]) ** 2).sum(-1)
    return GradientDissimilarity(b2=b2, c=_off_diagonal(2 * np.linalg.norm(M, 2, axis=(-2, -1)) ** 2))


def _off_diagonal(matrix: np.ndarray) -> np.ndarray:
    return matrix * (1 - np.eye(len(matrix)))
