"""Pairs of quadratics at one gradient: the measured side of Property 1, Lemma 2 and the certificates.

R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i). Everything is read off the two gradients; the largest ratios are
found in the plane by brute force over a whole circle of gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from suffice.bounds import QuadraticCertificate

from ..evidence import Measured, measured_by
from ..family import Domain, Family, Values
from .rows import columns

DIMENSION = 3
_BLOCK = 8
"""Pairs that share one certificate: it computes all pairs of its clients, which costs less than one call per pair."""


def family(features: int = DIMENSION) -> Family:
    """Two quadratics in R^d with eigenvalues in [0.1, 10], rotated at random, and a gradient of client i.

    "spread" places c above its least value |M|^2, M = I - A_k A_i^-1; "dual" is the dual variable of the excess
    certificate, over the value that is best when A_i and A_k are multiples of I.
    """
    d = features
    return Family(
        name=f"pairs of quadratics in R^{d}",
        domains={
            "curvature": Domain(low=0.1, high=10, log=True, shape=(2, d)),
            "turn": Domain(low=-1, high=1, shape=(2, d, d)),
            "xi": Domain(low=-2, high=2, shape=(2, d)),
            "gradient": Domain(low=-1, high=1, shape=(d,)),
            "size": Domain(low=0.01, high=100, log=True),
            "spread": Domain(low=0.05, high=20, log=True),
            "dual": Domain(low=0.05, high=20, log=True),
        },
        sharp=lambda: _sharp(d),
    )


def measured(
    arguments: Callable[[Pairs], dict[str, np.ndarray]],
    measure: Callable[[Pairs], np.ndarray],
    *,
    features: int = DIMENSION,
    rounding: float = 0.0,
) -> Family:
    """The pairs with what is measured on them beside a theorem's arguments."""

    @measured_by("exact", f"pairs of quadratics in R^{features}", rounding=rounding)
    def evidence(values: Values) -> Measured:
        batch = Pairs(values)
        return measure(batch), arguments(batch)

    return replace(family(features), measure=evidence)


def _sharp(d: int) -> Values:
    """Dimension 1 (padded with equal directions): A_i = 1, A_k = a, xi_i - xi_k = 1; M g and v aligned, |M g| = |v|.

    In the last five the Hessians are equal: |v| = 2 |xi| against a gradient just large enough to matter for Lemma 2, or
    so small that nothing but |v| counts; 1 is the best spread when |M g| = |v|.
    """
    apart = [(a, 1.0, 2 * a / (1 - a)) for a in (0.25, 0.5, 0.75, 1.25, 1.5, 2.0, 3.0, 4.0)]
    alike = [(1.0, xi, gradient) for xi, gradient in ((1.0, 2.5), (0.5, 3.0), (4.0, 10.0), (1.0, 1e6), (1.0, 0.1))]
    first = np.eye(d)[0]
    return columns(("curvature", "turn", "xi", "gradient", "size", "spread", "dual"), (
        ([[1.0] * d, [a] * d], [np.eye(d)] * 2, [xi * first, 0 * first], gradient * first, abs(gradient), 1.0, 1.0)
        for a, xi, gradient in [*apart, *alike]
    ))  # fmt: skip


class Pairs:
    """A batch of pairs (n): A (n, 2, d, d), xi (n, 2, d), g = grad R_i (n, d); client i is 0, peer k is 1."""

    def __init__(self, values: Values) -> None:
        rotation = np.linalg.qr(values["turn"])[0]
        self.A = np.einsum("nied,nid,nifd->nief", rotation, values["curvature"], rotation)
        self.xi = values["xi"]
        norm = np.linalg.norm(values["gradient"], axis=-1, keepdims=True)
        self.g = values["gradient"] / norm * values["size"][:, None]
        self.curvature = values["curvature"]
        self.spread, self.dual = values["spread"], values["dual"]
        self.M = np.eye(self.A.shape[-1]) - self.A[:, 1] @ np.linalg.inv(self.A[:, 0])
        self.v = 2 * np.einsum("nde,ne->nd", self.A[:, 1], self.xi[:, 0] - self.xi[:, 1])

    # --- measured ---

    def peer_gradient(self) -> np.ndarray:
        """grad R_k at the theta where grad R_i = g, (n, d)."""
        theta = np.linalg.solve(2 * self.A[:, 0], self.g[..., None])[..., 0] - self.xi[:, 0]
        return 2 * np.einsum("nde,ne->nd", self.A[:, 1], theta + self.xi[:, 1])

    def gap(self) -> np.ndarray:
        """|grad R_i - grad R_k|^2 at that theta, from the two gradients themselves."""
        return ((self.g - self.peer_gradient()) ** 2).sum(-1)

    def similarity(self) -> np.ndarray:
        """r_k at that theta."""
        return np.maximum(1 - self.gap() / (self.g**2).sum(-1), 0)

    def largest_ratio_on_circle(self) -> np.ndarray:
        """max |M g + v|^2 / |g|^2 over |g| >= |given g|, in the plane on the circle: no certificate and no duality."""
        size = np.linalg.norm(self.g, axis=-1)
        return self._largest(size[:, None, None] * np.eye(2))

    def largest_ratio_at_excess(self) -> np.ndarray:
        """max |M g + v|^2 / |g|^2 over e_i >= e_i(given g), in the plane.

        The maximum is on the ellipse e_i = g^T A_i^-1 g / 4: along a ray the ratio is a convex function of 1/|g|, and
        the larger one of the two on a line through 0 is even.
        """
        return self._largest(2 * np.sqrt(self._excess())[:, None, None] * np.linalg.cholesky(self.A[:, 0]))

    def _largest(self, frame: np.ndarray) -> np.ndarray:
        """max |M g + v|^2 / |g|^2 over g = frame (cos, sin), frame (n, 2, 2)."""

        frame, M = frame.swapaxes(1, 2), self.M.swapaxes(1, 2)

        def ratio(angle: np.ndarray) -> np.ndarray:
            g = np.stack((np.cos(angle), np.sin(angle)), -1) @ frame
            image = g @ M + self.v[:, None]
            return (image**2).sum(-1) / (g**2).sum(-1)

        return _largest_on_circle(ratio)

    # --- arguments ---

    def property_1(self) -> dict[str, np.ndarray]:
        """Arguments of adaptive/property-1 and worst-case/quadratic-norms."""
        return {
            "shift": np.linalg.norm(self.v, axis=-1) / 2,
            "distortion": np.linalg.norm(self.M, 2, axis=(-2, -1)),
            "gradient": np.linalg.norm(self.g, axis=-1),
        }

    def lemma_2(self) -> dict[str, np.ndarray]:
        """Arguments of adaptive/lemma-2: c = (1 + spread) |M|^2, the least b for it, eps = e(theta).

        b^2 = sup_g |M g + v|^2 - c |g|^2 = v^T (I - M M^T / c)^-1 v.
        """
        d = self.v.shape[-1]
        top = np.linalg.norm(self.M, 2, axis=(-2, -1)) ** 2
        c = (1 + self.spread) * top
        with np.errstate(all="ignore"):
            scaled = np.where(c > 0, 1 / c, 0)[:, None, None] * (self.M @ self.M.swapaxes(1, 2))
        b2 = (self.v * np.linalg.solve(np.eye(d) - scaled, self.v[..., None])[..., 0]).sum(-1)
        return {"b": np.sqrt(b2), "c": c, "mu": self._mu(), "eps": self._excess()}

    def certificate(self) -> dict[str, np.ndarray]:
        """Arguments of worst-case/quadratic-certificate at the level |g|."""
        level = (self.g**2).sum(-1)
        b2, c = np.empty((2, len(level)))
        d, own = self.v.shape[-1], np.arange(0, 2 * _BLOCK, 2)
        for first in range(0, len(level), _BLOCK):
            block = slice(first, first + _BLOCK)
            certificate = QuadraticCertificate(A=self.A[block].reshape(-1, d, d), xi=self.xi[block].reshape(-1, d))
            point = certificate.best_pair(np.repeat(level[block], 2))
            pairs = own[: len(level[block])], 1 + own[: len(level[block])]
            b2[block], c[block] = point.b2[pairs], point.c[pairs]
        return {"b": np.sqrt(b2), "c": c, "gradient": np.sqrt(level)}

    def excess(self) -> dict[str, np.ndarray]:
        """Arguments of worst-case/quadratic-excess at eps = e_i(g): Lambda_s, |M^T v| and s."""
        eps, v2 = self._excess(), (self.v**2).sum(-1)
        seen = np.linalg.norm(np.einsum("nde,nd->ne", self.M, self.v), axis=-1)
        # with multiples of I the best s is |M^T v| sqrt(4 eps lambda_min(A_i)); s > 0 even if nothing is seen
        s = self.dual * (seen * np.sqrt(2 * self._mu() * eps) + 1e-12 * v2 + 1e-200)
        slope = np.linalg.inv(self.A[:, 0]) / (4 * eps[:, None, None])
        matrix = self.M.swapaxes(1, 2) @ self.M + (s + v2)[:, None, None] * slope
        return {"dual": np.linalg.eigvalsh(matrix)[:, -1], "seen": seen, "slack": s}

    def _mu(self) -> np.ndarray:
        return 2 * self.curvature[:, 0].min(-1)

    def _excess(self) -> np.ndarray:
        """e_i = g^T A_i^-1 g / 4."""
        return np.einsum("nd,nd->n", self.g, np.linalg.solve(self.A[:, 0], self.g[..., None])[..., 0]) / 4


def _largest_on_circle(value: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """max of `value`, angles (n, s) to numbers (n, s), over the circle: a grid, then a zoom into its highest peaks."""
    grid = np.arange(256) * (2 * np.pi / 256)
    first = value(grid[None])
    peak = (first >= np.roll(first, 1, 1)) & (first >= np.roll(first, -1, 1))
    centre = grid[np.argsort(-np.where(peak, first, -np.inf), axis=1)[:, :4]]
    width, best = grid[1], first.max(1)
    for _ in range(9):  # a cell shrinks by 8: the value is flat there, to 1e-16
        angles = centre[..., None] + width * np.linspace(-1, 1, 17)
        found = value(angles.reshape(len(angles), -1)).reshape(angles.shape)
        centre = np.take_along_axis(angles, found.argmax(-1)[..., None], -1)[..., 0]
        best = np.maximum(best, found.max((1, 2)))
        width /= 8
    return best
