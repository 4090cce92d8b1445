"""Quadratics R_i(theta) = (theta + xi_i)^T A_i (theta + xi_i), without the factor 1/2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bounds import Constants, InputError, QuadraticCertificate, as_numbers, check_names

from ..oracle import Additive
from ..randomness import Randomness, Stream


def _mean(draw: Tensor) -> Tensor:
    return draw[:, :, 0] if draw.shape[2] == 1 else draw.mean(2)


@dataclass(frozen=True, kw_only=True)
class Quadratics:
    """N quadratics with additive Gaussian noise.

    A (N, d, d) symmetric positive definite [loss / theta^2], xi (N, d) [theta]; minimisers are -xi_i.
    Satisfies all assumptions of the adaptive paper: mu_i = 2 lambda_min(A_i), beta_i = 2 lambda_max(A_i).
    """

    A: Tensor
    xi: Tensor
    noise: Additive
    start: Tensor
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        A: Any,
        xi: Any,
        *,
        sigma2: Any = None,
        covariance: Any = None,
        start: Any = None,
        names: tuple[str, ...] = (),
    ) -> Quadratics:
        """Build from arrays, checked: exactly one of `sigma2` (total variances) and `covariance`; start 0."""
        A = as_numbers("A", A, ("N", "d", "d"))
        n, d = A.shape[:2]
        if A.shape[2] != d or n == 0 or d == 0:
            raise InputError("A", f"array of shape {A.shape}", "give shape (N, d, d)")
        xi = as_numbers("xi", xi, (n, d))
        asymmetry = np.abs(A - A.transpose(0, 2, 1)).max((1, 2))
        if (asymmetry > 1e-12 * np.abs(A).max((1, 2))).any():
            i = int(np.argmax(asymmetry))
            raise InputError(f"A[{i}]", A[i].tolist(), "give symmetric matrices, for example (A + A.T) / 2")
        least, largest = np.linalg.eigvalsh(A)[:, [0, -1]].T
        if (least <= np.maximum(1e-14 * largest, 1e-60)).any():
            i = int(np.argmin(least))
            raise InputError(f"smallest eigenvalue of A[{i}]", least[i].item(), "give positive definite matrices")
        if names:
            check_names(names, n)
        if (sigma2 is None) == (covariance is None):
            raise InputError("sigma2", sigma2, "give exactly one of sigma2 and covariance")
        noise = Additive.given(covariance) if sigma2 is None else Additive.isotropic(sigma2, d, n)
        if noise.covariance.shape != A.shape:
            raise InputError("covariance", f"array of shape {tuple(noise.covariance.shape)}", f"give shape {A.shape}")
        if start is None:
            begin = np.zeros((n, d))
        elif np.ndim(start) == 1:
            begin = np.tile(as_numbers("theta0", start, (d,)), (n, 1))
        else:
            begin = as_numbers("theta0", start, (n, d))
        return cls(
            A=torch.from_numpy(A),
            xi=torch.from_numpy(xi),
            noise=noise,
            start=torch.from_numpy(begin),
            names=names or tuple(str(i) for i in range(n)),
        )

    @property
    def clients(self) -> int:
        return self.A.shape[0]

    @property
    def features(self) -> int:
        return self.A.shape[1]

    @property
    def dtype(self) -> torch.dtype:
        return self.A.dtype

    @property
    def device(self) -> torch.device:
        return self.A.device

    @property
    def optimum(self) -> Tensor:
        return -self.xi

    @property
    def sigma2(self) -> Tensor:
        return self.noise.sigma2

    @cached_property
    def _offset(self) -> Tensor:
        """grad R_k at client i's optimum, 2 A_k (xi_k - xi_i), as [i, k] (N, N, d): zero for a shared optimum."""
        return 2 * torch.einsum("kde,ike->ikd", self.A, self.xi[None] - self.xi[:, None])

    # Everything is written in delta = theta_i + xi_i, the distance to the model's own optimum, so that
    # nothing cancels there. Peers' gradients 2 A_k delta_i + offset_ik are formed one feature at a
    # time: N^2 numbers, never N^2 d.

    def excess(self, theta: Tensor) -> Tensor:
        delta = theta + self.xi
        return torch.einsum("sid,ide,sie->si", delta, self.A, delta)

    def gradient(self, theta: Tensor) -> Tensor:
        return 2 * torch.einsum("ide,sie->sid", self.A, theta + self.xi)

    def gradient_gap(self, theta: Tensor) -> Tensor:
        return self._gap(theta, self.gradient(theta), None)

    def _gap(self, theta: Tensor, own: Tensor, noise: Tensor | None) -> Tensor:
        """|grad R_k(theta_i) + noise_k - own_i|^2 as [s, i, k]."""
        delta = theta + self.xi
        gap = torch.zeros(*theta.shape[:2], self.clients, dtype=theta.dtype, device=theta.device)
        for a in range(self.features):
            peer = torch.matmul(2 * delta, self.A[:, a].T) + self._offset[..., a]
            if noise is not None:
                peer = peer + noise[:, None, :, a]
            gap += (peer - own[..., a, None]) ** 2
        return gap

    def mixed_gradient(self, theta: Tensor, weights: Tensor) -> Tensor:
        """sum_k weights[s, i, k] grad R_k(theta_i), (S, N, d)."""
        delta = 2 * (theta + self.xi)
        rows = [(torch.matmul(weights, self.A[:, a]) * delta).sum(-1) for a in range(self.features)]
        return torch.stack(rows, dim=-1) + torch.einsum("sik,ikd->sid", weights, self._offset)

    def draw(
        self, randomness: Randomness, iteration: int, *, stream: Stream = Stream.NOISE, batch: int | None = None
    ) -> Tensor:
        """Noise (S, N, m, d) of m samples per client, by default one."""
        return self.noise.draw(randomness, iteration, stream=stream, batch=batch or self.batch)

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        noise = _mean(draw)
        if weights is None:
            return self.gradient(theta) + noise
        return self.mixed_gradient(theta, weights) + torch.matmul(weights, noise)

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        return 2 * torch.einsum("kde,sike->sikd", self.A, theta + self.xi) + _mean(draw)[:, None]

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        noise = _mean(draw)
        own = self.gradient(theta) + noise
        return self._gap(theta, own, noise), (own**2).sum(-1)

    def scenarios(self) -> tuple[Tensor, Tensor]:
        return self.noise.scenarios()

    @property
    def batch(self) -> int:
        return 1

    @property
    def assumptions(self) -> frozenset[str]:
        names = {"smooth", "strongly convex", "PL", "bounded variance", "independent noise", "affine heterogeneity"}
        shared = bool((self.A[:1] == self.A).all())
        return frozenset(names | {"expected smoothness"} | ({"bounded heterogeneity"} if shared else set()))

    def constants(self) -> Constants:
        A, xi = self.A.double().cpu().numpy(), self.xi.double().cpu().numpy()
        eigenvalues = np.linalg.eigvalsh(A)
        return Constants(
            mu=2 * eigenvalues[:, 0],
            beta=2 * eigenvalues[:, -1],
            sigma2=self.sigma2.double().cpu().numpy(),
            excess=self.excess(self.start[None])[0].double().cpu().numpy(),
            heterogeneity=QuadraticCertificate(A=A, xi=xi),
            names=self.names,
        )

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> Quadratics:
        return Quadratics(
            A=self.A.to(device, dtype),
            xi=self.xi.to(device, dtype),
            noise=self.noise.to(dtype, device),
            start=self.start.to(device, dtype),
            names=self.names,
        )
