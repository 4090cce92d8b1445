"""Scafflix on diagonal quadratics: exact second moments, coins included, after any number of iterations.

f_i has the diagonal Hessian h_i. Measured from the optimum, e_i = x_i - x* and k_i = h_i - grad f_i(x_i*) (control
variates), no anchor or minimiser appears, and nothing couples the coordinates but the coin, which second moments do
not see. A gradient is grad f_i(x_i*) + h_i alpha_i e_i + noise, of variance C_i / d + q_i (alpha_i e_i)^2 in each
coordinate, the second part as if samples agreed at the optimum. Assumption 3 asks for h_i^2 + q_i <= A_i h_i.

sum_i alpha_i k_i never changes. The k_i are kept in an orthonormal basis that begins with alpha / |alpha|, so that this
part stays what it is (0, as a rule) and what decays is not hidden by its rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Clients:
    """A batch (B,) of n clients in R^d.

    curvature (B, n, d); A, C, alpha, eta (B, n); p (B,). `saturation` (B,) in [0, 1] is the share of the noise that
    Assumption 3 allows beyond C. models and control (B, n, d) are e and k at the start.
    """

    curvature: np.ndarray
    A: np.ndarray
    C: np.ndarray
    alpha: np.ndarray
    eta: np.ndarray
    p: np.ndarray
    saturation: np.ndarray
    models: np.ndarray
    control: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int]:
        """B, n, d."""
        B, n, d = self.curvature.shape
        return B, n, d

    @property
    def mu(self) -> np.ndarray:
        """(B, n)."""
        return self.curvature.min(-1)

    @property
    def weights(self) -> np.ndarray:
        """Of the models in the mean, proportional to alpha^2 / gamma, (B, n)."""
        weight = self.alpha**2 / self.eta
        return weight / weight.sum(-1, keepdims=True)

    def arguments(self) -> dict[str, np.ndarray]:
        """What the theorems on rates take, besides T."""
        _, n, _ = self.shape
        Psi0 = self.lyapunov(self.start)
        return {
            "p": self.p,
            "contraction": (self.eta * self.mu).min(-1),
            "reach": (self.eta * self.A).max(-1),
            "eta_min": self.eta.min(-1),
            "noise": (self.eta * self.C).mean(-1),
            "N": np.full(len(self.p), float(n)),
            "Psi0": Psi0,
            "V0": n * Psi0 / self.eta.min(-1),
        }

    @cached_property
    def basis(self) -> np.ndarray:
        """Q (B, n, n), first column alpha / |alpha|: k = Q kappa."""
        columns = np.broadcast_to(np.eye(self.shape[1]), (*self.alpha.shape, self.shape[1])).copy()
        columns[..., 1:] = columns[..., :-1]
        columns[..., 0] = self.alpha
        return np.linalg.qr(columns)[0]

    @cached_property
    def start(self) -> np.ndarray:
        """E of (e, kappa)(e, kappa)^T, (B, d, 2 n, 2 n)."""
        kappa = np.einsum("bij,bid->bdj", self.basis, self.control)
        size = np.abs(self.control).max((1, 2))
        kappa[..., 0] = np.where(np.abs(kappa[..., 0]) > 1e-12 * size[:, None], kappa[..., 0], 0.0)
        state = np.concatenate((self.models.swapaxes(1, 2), kappa), axis=-1)
        return state[..., :, None] * state[..., None, :]

    def step(self, moment: np.ndarray) -> np.ndarray:
        """One iteration of second moments (..., B, d, 2 n, 2 n)."""
        return self._linear(moment) + self._shaken(self._additive)

    @property
    def _additive(self) -> np.ndarray:
        """Variance of the local models that does not depend on them, (B, d, n)."""
        B, n, d = self.shape
        return np.broadcast_to(((self.eta / self.alpha) ** 2 * self.C)[:, None] / d, (B, d, n))

    def _linear(self, moment: np.ndarray) -> np.ndarray:
        _, n, _ = self.shape
        h, eta = self.curvature.swapaxes(1, 2), self.eta[:, None]
        local = np.zeros((*h.shape[:2], 2 * n, 2 * n))
        local[..., :n, :n] = (1 - eta * h)[..., None] * np.eye(n)
        local[..., :n, n:] = (self.eta / self.alpha)[:, None, :, None] * self.basis[:, None]
        local[..., n:, n:] = np.eye(n)
        q = self.saturation[:, None, None] * h * np.maximum(self.A[:, None] - h, 0)
        own = np.einsum("...kk->...k", moment)[..., :n]
        return self._coin(local @ moment @ local.swapaxes(-1, -2)) + self._shaken(eta**2 * q * own)

    def _shaken(self, variance: np.ndarray) -> np.ndarray:
        """What independent variances (..., B, d, n) of the local models add, after the coin."""
        _, n, _ = self.shape
        moment = np.zeros((*variance.shape[:-1], 2 * n, 2 * n))
        moment[..., np.arange(n), np.arange(n)] = variance
        return self._coin(moment)

    def _coin(self, moment: np.ndarray) -> np.ndarray:
        B, n, _ = self.shape
        mean = np.broadcast_to(self.weights[:, None], (B, n, n))
        lift = (self.p[:, None] * self.alpha / self.eta)[..., None] * (mean - np.eye(n))
        together = np.zeros((B, 1, 2 * n, 2 * n))
        together[:, 0, :n, :n] = mean
        together[:, 0, n + 1 :, :n] = (self.basis.swapaxes(-1, -2) @ lift)[:, 1:]  # sum_i alpha_i k_i stays
        together[:, 0, n:, n:] = np.eye(n)
        p = self.p[:, None, None, None]
        return p * (together @ moment @ together.swapaxes(-1, -2)) + (1 - p) * moment

    @cached_property
    def operator(self) -> np.ndarray:
        """One iteration as a matrix on (vec of the moment, 1), (B, d, s, s), s = (2 n)^2 + 1."""
        B, n, d = self.shape
        size = (2 * n) ** 2
        basis = np.eye(size).reshape(size, 1, 1, 2 * n, 2 * n)
        images = self._linear(np.broadcast_to(basis, (size, B, d, 2 * n, 2 * n))).reshape(size, B, d, size)
        matrix = np.zeros((B, d, size + 1, size + 1))
        matrix[..., :size, :size] = np.moveaxis(images, 0, -1)
        matrix[..., :size, size] = self._shaken(self._additive).reshape(B, d, size)
        matrix[..., size, size] = 1
        return matrix

    def after(self, T: np.ndarray) -> np.ndarray:
        """Second moments after T (B,) iterations, (B, d, 2 n, 2 n)."""
        state, power = self.vector, self.operator
        whole = T.astype(np.int64)
        for bit in range(int(whole.max(initial=0)).bit_length()):
            odd = ((whole >> bit) & 1 == 1)[:, None, None]
            state = np.where(odd, np.einsum("bdij,bdj->bdi", power, state), state)
            power = power @ power
        return self.matrix(state)

    @property
    def vector(self) -> np.ndarray:
        """(vec of the moment at the start, 1), (B, d, s)."""
        B, n, d = self.shape
        return np.concatenate((self.start.reshape(B, d, 4 * n * n), np.ones((B, d, 1))), axis=-1)

    def matrix(self, state: np.ndarray) -> np.ndarray:
        """The moment in a vector of that kind."""
        B, n, d = self.shape
        return state[..., :-1].reshape(B, d, 2 * n, 2 * n)

    def _squares(self, moment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E|x~_i - x~_i*|^2 and E|h_i - h_i*|^2, (B, n)."""
        _, n, _ = self.shape
        control = np.einsum("bij,bdjk,bik->bi", self.basis, moment[..., n:, n:], self.basis)
        return self.alpha**2 * np.einsum("bdkk->bk", moment)[:, :n], control

    def lyapunov(self, moment: np.ndarray) -> np.ndarray:
        """E Psi, (B,)."""
        model, control = self._squares(moment)
        return self.eta.min(-1) * (model / self.eta + self.eta / self.p[:, None] ** 2 * control).mean(-1)

    def excess(self, moment: np.ndarray) -> np.ndarray:
        """E f~(xbar) - min f~, xbar the mean with the weights of a communication, (B,)."""
        _, n, _ = self.shape
        curvature = (self.alpha[..., None] ** 2 * self.curvature).mean(1)
        square = np.einsum("bi,bdij,bj->bd", self.weights, moment[..., :n, :n], self.weights)
        return (curvature * square).sum(-1) / 2

    def weighted(self, moment: np.ndarray) -> np.ndarray:
        """E (1/(2 n)) sum_i mu_i |x~_i - x~_i*|^2, (B,)."""
        return (self.mu * self._squares(moment)[0]).mean(-1) / 2


def orthogonal(h: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest h (B, n, d) with sum_i weights_i h_i = 0."""
    share = np.einsum("bi,bid->bd", weights, h) / (weights**2).sum(-1)[:, None]
    return h - weights[..., None] * share[:, None]
