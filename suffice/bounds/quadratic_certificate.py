"""The exact heterogeneity of quadratics, where Assumption 3's best pair is known at every level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from suffice.support.numbers import as_numbers

from .elementary import quotient
from .quadratics import gradient_difference, positive_definite

BLOCK = 2**18
"""The most numbers in the matrices of pairs that are decomposed at a time."""
OUTWARD = 1 + 1e-12
"""The factor that covers the rounding of a norm."""


class FrontierPoint(NamedTuple):
    """The best affine pair at a level: c, b2 = b*^2(c), and the ratio c + b2 / level."""

    c: np.ndarray
    b2: np.ndarray
    ratio: np.ndarray


@dataclass(frozen=True, kw_only=True)
class QuadraticCertificate:
    """The exact heterogeneity of R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i).

    As theta ranges over R^d so does g = grad R_i, and grad R_i - grad R_k = M g + v with
    M = I - A_k A_i^{-1}, v = 2 A_k (xi_i - xi_k). Let l_j be the squared singular values of M and w_j
    the components of v on its left singular vectors. The frontier of Assumption 3 is
        b*^2(c) = sup_g |M g + v|^2 - c |g|^2 = sum_j c w_j^2 / (c - l_j)        for c > l_max.
    At a level G = |grad R_i|^2 the best pair minimises F(c) = c + b*^2(c) / G, a convex function with
    F'(c) = 1 - S(c) / G, S(c) = sum_j l_j w_j^2 / (c - l_j)^2. Hence S(c) = G, or c = l_max when S stays
    below G (the hard case of the trust-region problem; then v has no part on the top left singular space).
    Nothing is lost: by strong duality of the trust-region problem min_c F(c) is the maximum of
    |M g + v|^2 / |g|^2 over |g|^2 >= G.

    A (N, d, d) symmetric positive definite [loss / theta^2], xi (N, d) [theta].
    """

    A: np.ndarray
    xi: np.ndarray

    def __post_init__(self) -> None:
        A = positive_definite("A", self.A)
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "xi", as_numbers("xi", self.xi, A.shape[:2]))

    @property
    def clients(self) -> int:
        return len(self.A)

    @property
    def working_numbers(self) -> int:
        """How many numbers `similarity` holds at once, as measured: up to 12 arrays (N, N, d) and 5 of a block."""
        n, d = self.xi.shape
        return 12 * n * n * d + 5 * min(n * n, max(BLOCK // d**2, n)) * d**2

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, ...]:
        """l_max (N, N), gaps l_max - l_j >= 0 (N, N, d) and w_j^2 (N, N, d)."""
        return tuple(map(np.concatenate, zip(*(_decomposed(M, v) for _, M, v in self._differences()))))

    @cached_property
    def _near(self) -> tuple[np.ndarray, ...]:
        """i and k (p,) of the pairs, and their part of `_spectrum`, whose gradients may be similar at some level: a row
        or a column of M of length 1 shows l_max >= 1, and so a ratio of at least 1 at every level."""
        parts = []
        for first, M, v in self._differences():
            squared = M**2
            i, k = np.nonzero(np.maximum(squared.sum(-1).max(-1), squared.sum(-2).max(-1)) < 1)
            parts.append((first + i, k, *_decomposed(M[i, k], v[i, k])))
        return tuple(map(np.concatenate, zip(*parts)))

    def _differences(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """M and v of some clients i at a time, the first of them: all at once would be of size (N, N, d, d)."""
        n, d = self.xi.shape
        many = max(1, BLOCK // (n * d * d))
        for first in range(0, n, many):
            yield first, *gradient_difference(self.A, self.xi, slice(first, first + many))

    def frontier(self, c: np.ndarray) -> np.ndarray:
        """b*^2 at c (N, N): the smallest b^2 that makes (b^2, c) satisfy Assumption 3; inf for c < l_max."""
        top, _, _ = self._spectrum
        return np.where(c < top, np.inf, _b2(np.maximum(c - top, 0), *self._spectrum))

    @cached_property
    def uniform(self) -> np.ndarray:
        """b (N, N) with |grad R_i - grad R_k| <= b_ik everywhere; inf where two Hessians differ: then there is none."""
        H, optimum = 2 * self.A, -self.xi
        b = np.linalg.norm(np.einsum("kde,ike->ikd", H, optimum[:, None] - optimum[None]), axis=-1)
        same = (H[:, None] == H[None]).all((-2, -1))
        return np.where(same, b * OUTWARD, np.inf)

    def best_pair(self, level: np.ndarray) -> FrontierPoint:
        """The pair (c, b2) of least ratio at squared-gradient levels (..., N), each entry (..., N, N)."""
        return _best_pair(np.asarray(level, dtype=float)[..., None], *self._spectrum)

    def near_pair(self, level: np.ndarray) -> FrontierPoint:
        """The same as `best_pair`, but inf where l_max >= 1 is plain, as such pairs are similar at no level."""
        i, k, *spectrum = self._near
        found = np.full((3, *level.shape, self.clients), np.inf)
        found[..., i, k] = _best_pair(level[..., i], *spectrum)
        return FrontierPoint(*found)

    def similarity(self, level: np.ndarray) -> np.ndarray:
        # A_k A_i^{-1} carries a relative error of cond(A_i) roundings: 4 cond u (1 + F) covers it. Nothing is known
        # at a level that under- or overflowed.
        ratio = self.near_pair(np.asarray(level, dtype=float)).ratio
        lost = 2.0**-51 * np.linalg.cond(self.A)[:, None] * (1 + ratio)
        rho = np.nan_to_num(np.maximum(1 - ratio - lost, 0), nan=0.0)
        return np.where(np.eye(self.clients, dtype=bool), 1.0, rho)

    def entry_level(self, similarity: float) -> np.ndarray:
        # rho(G) >= s iff c + b*^2(c)/G <= 1 - s for some c: the least G is min_c b*^2(c) / (1 - s - c). Along
        # the minimisers c(G) the ratio increases in t = c - l_max (G = S falls), so its level set is one t.
        top, gap, w2 = self._spectrum
        weight = (top[..., None] - gap) * w2
        room = 1 - similarity - top
        low, high = np.zeros_like(top), np.maximum(room, 0)
        with np.errstate(all="ignore"):
            for _ in range(100):
                t = (low + high) / 2
                S = quotient(weight, (t[..., None] + gap) ** 2).sum(-1)
                small = t + _b2(t, top, gap, w2) / S <= room
                low, high = np.where(small, t, low), np.where(small, high, t)
            level = np.where(room > low, _b2(low, top, gap, w2) / (room - low), np.inf)
        level = np.where((w2.sum(-1) == 0) & (room >= 0), 0.0, level)
        return np.where(np.eye(self.clients, dtype=bool), 0.0, level)


def _decomposed(M: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """l_max (...), gaps l_max - l_j (..., d) and w_j^2 (..., d) of matrices M (..., d, d) and v (..., d)."""
    left, singular, _ = np.linalg.svd(M)
    squared = singular**2
    return squared[..., 0], squared[..., :1] - squared, np.einsum("...dj,...d->...j", left, v) ** 2


def _best_pair(level: np.ndarray, top: np.ndarray, gap: np.ndarray, w2: np.ndarray) -> FrontierPoint:
    """The pair of least ratio at levels that broadcast against `top`."""
    weight = (top[..., None] - gap) * w2  # l_j w_j^2
    # The root of S(t) = sum weight / (t + gap)^2 = G, t = c - l_max, is at least sqrt(weight_top / G). From there
    # Newton's method on S^(-1/2), which is concave, climbs towards it: S below G, and t is 0 in the hard case,
    # which `_b2` treats exactly. Every t is valid, and F is flat at its minimum: 1e-9 t moves it by 1e-18.
    with np.errstate(all="ignore"):
        t = np.sqrt(weight[..., 0] / level)
        for _ in range(64):
            share = weight / np.where((away := t[..., None] + gap) > 0, away, np.inf) ** 2
            S = share.sum(-1)
            step = (np.sqrt(S / level) - 1) * quotient(S, quotient(share, away).sum(-1))
            t = t + np.maximum(np.nan_to_num(step, nan=0.0, posinf=0.0), 0)
            if not (step > 1e-9 * t).any():
                break
    b2 = _b2(t, top, gap, w2)
    with np.errstate(all="ignore"):
        return FrontierPoint(c=top + t, b2=b2, ratio=top + t + quotient(b2, level))


def _b2(t: np.ndarray, top: np.ndarray, gap: np.ndarray, w2: np.ndarray) -> np.ndarray:
    """b*^2 at c = l_max + t: sum_j c w_j^2 / (t + gap_j); c = l_j = 0 leaves |v|^2."""
    c = (top + t)[..., None]
    with np.errstate(all="ignore"):
        terms = quotient(c * w2, t[..., None] + gap)
    return np.where(c == 0, w2, terms).sum(-1)
