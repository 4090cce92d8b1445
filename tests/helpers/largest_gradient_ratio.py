"""The exact dissimilarity of two quadratics wherever client i's excess loss is at least eps.

With g = grad R_i the excess of R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i) is g^T B g, B = A_i^-1 / 4, and
grad R_i - grad R_k = M g + v. A number L bounds |M g + v|^2 / |g|^2 on {g^T B g >= eps} iff, for some tau >= 0,
    L |g|^2 - |M g + v|^2 - tau (g^T B g - eps) >= 0   for all g
(S-lemma: one quadratic constraint with an interior point loses nothing). By the Schur complement, with
s = tau eps - |v|^2 > 0, that is L >= F(s),
    F(s) = lambda_max(M^T M + (s + |v|^2) B / eps + (M^T v) (M^T v)^T / s),
so every s gives a bound and the infimum over s is exact. F is convex in s. If M^T v = 0 the infimum is at s -> 0.
"""

from __future__ import annotations

import numpy as np

from suffice.bounds import QuadraticCertificate
from suffice.bounds.quadratics import gradient_difference
from suffice.support.numbers import quotient


class AtExcess(QuadraticCertificate):
    """The certificate at excess losses."""

    def ratio_at_excess(self, excess: np.ndarray) -> np.ndarray:
        """The largest |grad R_i - grad R_k|^2 / |grad R_i|^2 where e_i >= excess (..., N), each entry (..., N, N).

        Never above `best_pair` at the level 2 mu_i excess: that keeps of e_i >= excess only what PL says of grad R_i.
        """
        return largest_ratio(self.A, self.xi, np.asarray(excess, dtype=float))

    def similarity_at_excess(self, excess: np.ndarray) -> np.ndarray:
        """rho (..., N, N) wherever R_i(theta) - min R_i >= excess (..., N): exact, up to a rounding down."""
        ratio = self.ratio_at_excess(excess)
        rho = np.nan_to_num(np.maximum(1 - ratio - rounding(self.A, ratio), 0), nan=0.0)
        return np.where(np.eye(self.clients, dtype=bool), 1.0, rho)


def largest_ratio(A: np.ndarray, xi: np.ndarray, excess: np.ndarray) -> np.ndarray:
    """inf_s F(s) for every pair, (..., N, N), at excess losses (..., N), one per client i; the diagonal is 0.

    A float error of M^T v would be divided by a small s: its square, and its product with |M^T v|, are added to the
    objective, so that the s that is chosen keeps them harmless and the value covers them.
    """
    M, v = gradient_difference(A, xi)
    w = np.einsum("ikde,ikd->ike", M, v)
    v2, size = (v**2).sum(-1), np.sqrt((w**2).sum(-1))
    error = 2.0**-51 * np.linalg.cond(A)[:, None] * (1 + np.linalg.norm(M, axis=(-2, -1))) * np.sqrt(v2)
    spill = 2 * size * error + error**2
    e = np.asarray(excess, dtype=float)[..., None]
    with np.errstate(all="ignore"):
        slope = np.linalg.inv(A)[:, None] / (4 * e[..., None, None])
        fixed = M.swapaxes(-1, -2) @ M + v2[..., None, None] * slope
        outer = w[..., :, None] * w[..., None, :]

        def matrix(s: np.ndarray) -> np.ndarray:
            return fixed + s[..., None, None] * slope + quotient(outer, s[..., None, None])

        def value(s: np.ndarray) -> np.ndarray:
            return _top(matrix(s)) + quotient(spill, s)

        # F(s) is at least s lambda_max(B) / eps and at least |M^T v|^2 / s: both bracket the minimiser.
        steep = 1 / (4 * e * np.linalg.eigvalsh(A)[:, :1])
        start = np.sqrt((size**2 + spill) / steep)
        first = value(start)
        low, high = quotient(size**2 + spill, first), first / steep
        for _ in range(48):
            s = np.sqrt(low * high)
            rising = _rising(matrix(s), slope, w, spill, s)
            low, high = np.where(rising, low, s), np.where(rising, s, high)
        ratio = np.minimum(np.minimum(value(low), value(high)), first)
    return np.where(np.eye(len(A), dtype=bool), 0.0, ratio)


def rounding(A: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """What the float errors of A_i^-1 (condition times roundings) and of the eigenvalue can add to the ratio."""
    return 2.0**-50 * (A.shape[-1] + 2 * np.linalg.cond(A)[:, None]) * (1 + ratio)


def _rising(matrix: np.ndarray, slope: np.ndarray, w: np.ndarray, spill: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Whether a subgradient of F, u^T F'(s) u for a top eigenvector u, is positive."""
    usable = np.isfinite(matrix.sum((-1, -2)))[..., None, None]
    u = np.linalg.eigh(np.where(usable, matrix, 0.0))[1][..., -1]
    quadratic = (u * (slope @ u[..., None])[..., 0]).sum(-1)
    return quadratic * s**2 > (u * w).sum(-1) ** 2 + spill


def _top(matrix: np.ndarray) -> np.ndarray:
    """The largest eigenvalue; nan where the matrix is not finite."""
    usable = np.isfinite(matrix.sum((-1, -2)))
    top = np.linalg.eigvalsh(np.where(usable[..., None, None], matrix, 0.0))[..., -1]
    return np.where(usable, top, np.nan)
