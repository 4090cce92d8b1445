"""Scafflix on diagonal quadratics: exact second moments, coins included, after any number of iterations.

f_i has the diagonal Hessian h_i. Measured from the optimum, e_i = x_i - x* and k_i = h_i - grad f_i(x_i*) (control
variates), no anchor or minimiser appears, and nothing couples the coordinates but the coin, which second moments do
not see: every coordinate is an instance of its own for the simulator's step, which is probed. A gradient is
grad f_i(x_i*) + h_i alpha_i e_i + noise, of variance C_i / d + q_i (alpha_i e_i)^2 in each coordinate, the second part
as if samples agreed at the optimum. Assumption 3 asks for h_i^2 + q_i <= A_i h_i.

sum_i alpha_i k_i never changes. The k_i are kept in an orthonormal basis that begins with alpha / |alpha|, so that this
part stays what it is (0, as a rule) and what decays is not hidden by its rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import Quadratics, Scaffnew, split, stack
from suffice.simulate.moment_maps import Maps, probe_batch
from suffice.simulate.moment_powers import operator_powers
from suffice.simulate.problem_batches import over_tensors

ROUNDING = 1e-13
"""The largest change of the part that stays, in its map, that is taken for rounding of the basis and removed."""


@dataclass(frozen=True, kw_only=True)
class Saturated(Quadratics):
    """Quadratics on a line whose noise has, beside its constant part, the variance growth_i (x - x_i*)^2."""

    growth: Tensor

    def scenarios(self) -> tuple[Tensor, Tensor]:
        """The probabilities and draws of two independent numbers of variance 1, one for either part of the noise."""
        points = 2**0.5 * torch.cat((torch.eye(2), -torch.eye(2))).to(self.A)
        draws = points[:, None, None].expand(-1, self.clients, -1, -1)
        return torch.full(draws.shape[:2], 0.25, dtype=self.dtype), draws

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        constant, growing = draw.mean(2)[..., None].unbind(2)
        noise = self.noise.factor[..., 0] * constant + self.growth.sqrt()[:, None] * (theta + self.xi) * growing
        return self.gradient(theta) + noise


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
        """The sizes B, n, d."""
        B, n, d = self.curvature.shape
        return B, n, d

    @property
    def mu(self) -> np.ndarray:
        """The least curvature of each client, (B, n)."""
        return self.curvature.min(-1)

    @property
    def weights(self) -> np.ndarray:
        """The weights of the models in the mean, proportional to alpha^2 / gamma, (B, n)."""
        weight = self.alpha**2 / self.eta
        return weight / weight.sum(-1, keepdims=True)

    def arguments(self) -> dict[str, np.ndarray]:
        """The arguments of the theorems on rates, without T."""
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
        """Q (B, n, n), first column alpha / |alpha|: k = Q kappa. Without that column where all kappa_1 are 0."""
        columns = np.broadcast_to(np.eye(self.shape[1]), (*self.alpha.shape, self.shape[1])).copy()
        columns[..., 1:] = columns[..., :-1]
        columns[..., 0] = self.alpha
        basis = np.linalg.qr(columns)[0]
        stays = np.abs(np.einsum("bi,bid->bd", basis[..., 0], self.control)).max(1)
        still = (stays <= 1e-12 * np.abs(self.control).max((1, 2))).all()
        return basis[..., 1:] if still else basis

    @cached_property
    def start(self) -> np.ndarray:
        """E z z^T, z = (alpha e, kappa, 1), (B, d, m, m) with m = 2 n + 1, or 2 n."""
        kappa = np.einsum("bij,bid->bdj", self.basis, self.control)
        if self.basis.shape[2] == self.shape[1]:
            size = np.abs(self.control).max((1, 2))
            kappa[..., 0] = np.where(np.abs(kappa[..., 0]) > 1e-12 * size[:, None], kappa[..., 0], 0.0)
        models = (self.alpha[..., None] * self.models).swapaxes(1, 2)
        z = np.concatenate((models, kappa, np.ones_like(models[..., :1])), axis=-1)
        return z[..., :, None] * z[..., None, :]

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The first line of each of the L different maps, (L,), and which map each line (a coordinate) has, (B d,)."""
        d = self.shape[2]
        told = np.column_stack((self.A, self.C, self.alpha, self.eta, self.p, self.saturation))
        h = self.curvature.swapaxes(1, 2).reshape(len(told) * d, -1)
        _, first, own = np.unique(np.hstack((h, np.repeat(told, d, 0))), axis=0, return_index=True, return_inverse=True)
        return first, own.ravel()

    @property
    def lines(self) -> np.ndarray:
        """Which of `maps` each line follows, (B d,)."""
        return self._distinct[1]

    @cached_property
    def maps(self) -> Maps:
        """The maps of one iteration of the L lines that are different, (L, m, m)."""
        first, (_, n, d) = self._distinct[0], self.shape
        L, own = len(first), first // d
        h, A, C = self.curvature[own, :, first % d], self.A[own], self.C[own]
        growth = self.saturation[own, None] * h * np.maximum(A - h, 0)
        lines = Quadratics.of(h.reshape(-1, 1, 1) / 2, np.zeros((L * n, 1)), sigma2=C.ravel() / d)
        problems = split(Saturated(**vars(lines), growth=torch.from_numpy(growth.ravel())), L)
        zero = torch.zeros(n, 1, dtype=torch.float64)
        rules = stack([
            Scaffnew(p=odds, alpha=weights, anchors=zero, control=zero)
            for odds, weights in zip(self.p[own].tolist(), torch.from_numpy(self.alpha[own]))
        ])  # fmt: skip
        rest = torch.zeros(L, 1, n, 1, dtype=torch.float64)
        found = probe_batch(problems, rules, {"models": rest, "control": rest}, torch.from_numpy(self.eta[own]), 1)
        basis = torch.from_numpy(self.basis[own])
        turn = torch.zeros(L, n + basis.shape[2] + 1, 2 * n + 1, dtype=torch.float64)
        turn[:, :n, :n] = torch.eye(n)
        turn[:, n:-1, n:-1], turn[:, -1, -1] = basis.mT, 1
        mean, deviations = turn @ found.mean @ turn.mT, turn[:, None] @ found.deviations @ turn.mT[:, None]
        if basis.shape[2] == n:
            still, random = mean[:, n] - torch.eye(2 * n + 1).to(mean)[n], deviations[:, :, n]
            mean[:, n] -= torch.where(still.abs() <= ROUNDING, still, 0)
            deviations[:, :, n] -= torch.where(random.abs() <= ROUNDING, random, 0)
        return Maps(mean=mean, deviations=deviations, weights=found.weights, noise=turn @ found.noise @ turn.mT)

    def step(self, moment: np.ndarray) -> np.ndarray:
        """The second moments one iteration after `moment`, (B, d, m, m)."""
        maps = over_tensors(lambda each: each[torch.from_numpy(self.lines)], self.maps)
        return maps.advance(torch.from_numpy(moment).flatten(0, 1)).numpy().reshape(moment.shape)

    def after(self, T: np.ndarray) -> np.ndarray:
        """Second moments after T (B,) iterations, (B, d, m, m)."""
        every = torch.from_numpy(T.astype(np.int64)).repeat_interleave(self.shape[2])
        moment = torch.from_numpy(self.start).flatten(0, 1)
        found = operator_powers([[(1.0, [self.maps])]], moment, every, torch.from_numpy(self.lines))
        return found[0].numpy().reshape(self.start.shape)

    def _squares(self, moment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E|x~_i - x~_i*|^2 and E|h_i - h_i*|^2, (B, n)."""
        _, n, _ = self.shape
        control = np.einsum("bij,bdjk,bik->bi", self.basis, moment[..., n:-1, n:-1], self.basis)
        return np.einsum("bdkk->bk", moment)[:, :n], control

    def lyapunov(self, moment: np.ndarray) -> np.ndarray:
        """E Psi, (B,)."""
        model, control = self._squares(moment)
        return self.eta.min(-1) * (model / self.eta + self.eta / self.p[:, None] ** 2 * control).mean(-1)

    def excess(self, moment: np.ndarray) -> np.ndarray:
        """E f~(xbar) - min f~, xbar the mean with the weights of a communication, (B,)."""
        _, n, _ = self.shape
        curvature = (self.alpha[..., None] ** 2 * self.curvature).mean(1)
        weights = self.weights / self.alpha
        square = np.einsum("bi,bdij,bj->bd", weights, moment[..., :n, :n], weights)
        return (curvature * square).sum(-1) / 2

    def weighted(self, moment: np.ndarray) -> np.ndarray:
        """E (1/(2 n)) sum_i mu_i |x~_i - x~_i*|^2, (B,)."""
        return (self.mu * self._squares(moment)[0]).mean(-1) / 2


def orthogonal(h: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest h (B, n, d) with sum_i weights_i h_i = 0."""
    share = np.einsum("bi,bid->bd", weights, h) / (weights**2).sum(-1)[:, None]
    return h - weights[..., None] * share[:, None]
