"""Pairs of quadratics at one gradient: the measured side of Property 1, Lemma 2 and the certificate."""

from __future__ import annotations

import numpy as np

from bounds import QuadraticCertificate

from .family import Domain, Family, Values

DIMENSION = 3


def family() -> Family:
    """Two quadratics in R^3 with eigenvalues in [0.1, 10], rotated at random, and a gradient of client i."""
    d = DIMENSION
    return Family(
        name="pairs of quadratics",
        domains={
            "curvature": Domain(low=0.1, high=10, log=True, shape=(2, d)),
            "turn": Domain(low=-1, high=1, shape=(2, d, d)),
            "xi": Domain(low=-2, high=2, shape=(2, d)),
            "gradient": Domain(low=-1, high=1, shape=(d,)),
            "size": Domain(low=0.01, high=100, log=True),
        },
        sharp=_sharp,
    )


def _sharp() -> Values:
    """Dimension 1 (padded with equal directions): A_i = 1, A_k = a, xi_i - xi_k = 1; M g and v aligned, |M g| = |v|."""
    count, d = 12, DIMENSION
    a = np.array([0.25, 0.5, 0.75, 1.25, 1.5, 2.0, 3.0, 4.0, 1.0, 1.0, 1.0, 1.0])
    curvature = np.ones((count, 2, d))
    curvature[:, 1] = a[:, None]
    xi = np.zeros((count, 2, d))
    xi[:, 0, 0] = 1.0
    xi[8:, 0, 0] = [1.0, 0.5, 4.0, 1.0]
    gradient = np.zeros((count, d))
    gradient[:, 0] = np.where(a == 1, 1.0, 2 * a / np.where(a == 1, 1, 1 - a))
    # equal Hessians: |v| = 2 |xi| against a gradient just large enough to matter for Lemma 2
    gradient[8:, 0] = [2.5, 3.0, 10.0, 1e6]
    turn = np.broadcast_to(np.eye(d), (count, 2, d, d)).copy()
    return {
        "curvature": curvature,
        "turn": turn,
        "xi": xi,
        "gradient": gradient,
        "size": np.abs(gradient[:, 0]),
    }


class Pairs:
    """A batch of pairs (n): A (n, 2, d, d), xi (n, 2, d), g = grad R_i (n, d); client i is 0, peer k is 1."""

    def __init__(self, values: Values) -> None:
        rotation = np.linalg.qr(values["turn"])[0]
        self.A = np.einsum("nied,nid,nifd->nief", rotation, values["curvature"], rotation)
        self.xi = values["xi"]
        norm = np.linalg.norm(values["gradient"], axis=-1, keepdims=True)
        self.g = values["gradient"] / norm * values["size"][:, None]
        self.curvature = values["curvature"]

    def gap(self) -> np.ndarray:
        """|grad R_i - grad R_k|^2 at the theta where grad R_i = g, from the two gradients themselves."""
        theta = np.linalg.solve(2 * self.A[:, 0], self.g[..., None])[..., 0] - self.xi[:, 0]
        other = 2 * np.einsum("nde,ne->nd", self.A[:, 1], theta + self.xi[:, 1])
        return ((self.g - other) ** 2).sum(-1)

    def similarity(self) -> np.ndarray:
        """r_k at that theta."""
        return np.maximum(1 - self.gap() / (self.g**2).sum(-1), 0)

    def property_1(self) -> dict[str, np.ndarray]:
        """Arguments of adaptive/property-1."""
        shift = np.einsum("nde,ne->nd", self.A[:, 1], self.xi[:, 0] - self.xi[:, 1])
        M = np.eye(self.A.shape[-1]) - self.A[:, 1] @ np.linalg.inv(self.A[:, 0])
        return {
            "shift": np.linalg.norm(shift, axis=-1),
            "distortion": np.linalg.norm(M, 2, axis=(-2, -1)),
            "gradient": np.linalg.norm(self.g, axis=-1),
        }

    def lemma_2(self) -> dict[str, np.ndarray]:
        """Arguments of adaptive/lemma-2 with the best frontier pair at eps = e(theta)."""
        excess = np.einsum("nd,nd->n", self.g, np.linalg.solve(self.A[:, 0], self.g[..., None])[..., 0]) / 4
        mu = 2 * self.curvature[:, 0].min(-1)
        b2, c = self._frontier(2 * mu * excess)
        return {"b": np.sqrt(b2), "c": c, "mu": mu, "eps": excess}

    def certificate(self) -> dict[str, np.ndarray]:
        """Arguments of worst-case/quadratic-certificate at the level |g|."""
        level = (self.g**2).sum(-1)
        b2, c = self._frontier(level)
        return {"b": np.sqrt(b2), "c": c, "gradient": np.sqrt(level)}

    def largest_ratio(self) -> np.ndarray:
        """max |M g + v|^2 / |g|^2 over |g| >= |given g|, by brute force: no certificate, no duality.

        The maximum is on the sphere |g| = s. Projected fixed-point ascent g <- s (M^T (M g + v)) / |.| increases the
        convex objective at every step; many starts, the top singular direction among them.
        """
        M = np.eye(self.A.shape[-1]) - self.A[:, 1] @ np.linalg.inv(self.A[:, 0])
        v = 2 * np.einsum("nde,ne->nd", self.A[:, 1], self.xi[:, 0] - self.xi[:, 1])
        n, d = v.shape
        size = np.linalg.norm(self.g, axis=-1)[:, None, None]
        right = np.linalg.svd(M)[2]  # rows: right singular vectors
        starts = np.concatenate((right, -right, np.broadcast_to(_directions(d), (n, 16, d))), axis=1) * size
        g = starts * 1.0
        best = np.zeros((n, g.shape[1]))
        for _ in range(400):  # rounds of 50 steps, until no objective moves in the 14th digit
            for _ in range(50):
                pull = np.einsum("nde,nsd->nse", M, np.einsum("nde,nse->nsd", M, g) + v[:, None])
                length = np.linalg.norm(pull, axis=-1, keepdims=True)
                g = np.where(length > 0, pull / np.where(length > 0, length, 1) * size, g)
            image = np.einsum("nde,nse->nsd", M, g) + v[:, None]
            value = (image**2).sum(-1) / size[..., 0] ** 2
            moved = np.abs(value - best) > 1e-14 * value
            best = value
            if not moved.any():
                break
        return best.max(-1)

    def _frontier(self, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        b2, c = np.empty(len(level)), np.empty(len(level))
        for n in range(len(level)):  # a certificate describes one network; pairs are independent networks
            point = QuadraticCertificate(A=self.A[n], xi=self.xi[n]).best_pair(np.full(2, level[n]))
            b2[n], c[n] = point.b2[0, 1], point.c[0, 1]
        return b2, c


def _directions(d: int) -> np.ndarray:
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 4)] * d), -1).reshape(-1, d)[::4]
    return grid / np.linalg.norm(grid, axis=-1, keepdims=True)
