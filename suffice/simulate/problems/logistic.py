"""Logistic regression on clients' data: R_i(theta) = mean log(1 + exp(-y x . theta)) + (r/2) |theta|^2, y = -1 or 1.

A sample's gradient is -y s x + r theta with s in (0, 1), so its variance is bounded everywhere (Assumption 2 of
Philippenko et al. 2025), unlike that of least squares, and so are the differences between clients. Without
regularisation there is no strong convexity and no PL inequality: gradients are bounded, losses are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from scipy.special import expit
from torch import Tensor

from suffice.bounds import Constants, GradientDissimilarity, entry_precisions
from suffice.support.errors import InputError

from ..data.encoding import Coordinates
from ..oracle import short
from ..problem import Trust
from .least_squares import MOST_SINGULAR, LeastSquares
from .logistic_optimum import minimise
from .row_model import RowModel
from .rows import Rows
from .start import starting_points

EVERYWHERE = "sigma and b bound the gradient noise and the differences between clients everywhere, not tightly"
PAIRS = "{pairs} are similar by these constants at some precision below the initial excess"
LEAST_CURVATURE = 1e-20
"""A row's loss is given at least this curvature in quadratic models: smaller ones are rounding beside the others', and
their roots divide."""
ALIKE = 1e-9
"""A pair counts from this similarity on."""


def _excess_log_loss(margin: Tensor, step: Tensor) -> Tensor:
    """log(1 + e^-z) at z = margin + step above its tangent at z = margin, to a relative 1e-11.

    It is log(1 - p + p e^s) - p s with p the probability of an error and s = -step; p and s stand for 1 - p and -s
    alike, so p is the smaller one. Near s = 0 by the cumulants of a Bernoulli variable: direct evaluation would cancel.
    """
    p, s = torch.sigmoid(-margin.abs()), torch.where(margin >= 0, -step, step)
    v = p * (1 - p)
    series = s**2 / 2 + (1 - 2 * p) * s**3 / 6 + (1 - 6 * v) * s**4 / 24
    series = v * (series + (1 - 2 * p) * (1 - 12 * v) * s**5 / 120 + (1 - 30 * v + 120 * v**2) * s**6 / 720)
    direct = torch.logaddexp(torch.log1p(-p), torch.log(p) + s) - p * s
    return torch.where(s.abs() < 0.02, series, direct)


@dataclass(frozen=True, kw_only=True)
class Logistic(RowModel):
    """Clients have rows X_i (n_i, d) and labels y_i (n_i,), -1 or 1; rows are sampled with replacement.

    regularisation  r >= 0, the same for all clients and all coefficients
    batch           rows that one stochastic gradient averages
    optimum (N, d) by a second-order solver of SciPy and Newton's method, to a gradient at rounding level
    """

    __repr__ = short
    data: Rows
    optimum: Tensor
    start: Tensor
    names: tuple[str, ...]
    regularisation: float
    batch: int
    remarks: tuple[str, ...] = ()
    coordinates: Coordinates | None = None

    @classmethod
    def _of(cls, data: Rows, names: tuple[str, ...], start: np.ndarray, *, regularisation: float, batch: int) -> Self:
        values = np.unique(data.y.numpy())
        if not (set(values) <= {0.0, 1.0} or set(values) <= {-1.0, 1.0}):
            raise InputError("labels", values.tolist(), "give two classes as 0 and 1, or as -1 and 1")
        data = replace(data, y=torch.where(data.y > 0, 1.0, -1.0).to(data.y))
        for (_, s), name in zip(data.blocks(), names):
            if not regularisation and (s == s[0]).all():
                remedy = "only one class, so no minimiser; merge clients, or use regularisation 0.1, for example"
                raise InputError(f"labels of client {name}", s[0].item(), remedy)
        signed = [x * s[:, None] for x, s in data.blocks()]
        optimum = np.stack([minimise(rows, regularisation, name) for rows, name in zip(signed, names)])
        points: dict[str, Any] = {"optimum": torch.from_numpy(optimum), "start": torch.from_numpy(start)}
        return cls(data=data, names=names, regularisation=regularisation, batch=batch, **points)

    @property
    def gradient_cost(self) -> float:
        return self.features * self.data.counts.double().mean().item()

    def slope(self, prediction: Tensor, y: Tensor) -> Tensor:
        away = -y
        return away * torch.sigmoid(away * prediction)

    # Population quantities need every row: signed rows u = y x in one padded array (N, n, d) with frequencies (N, n).

    @cached_property
    def _signed(self) -> tuple[Tensor, Tensor]:
        index, frequency = self.data.padded()
        return (self.data.X * self.data.y[:, None])[index.T], frequency.T.contiguous()

    @cached_property
    def _margin_at_optimum(self) -> Tensor:
        return torch.einsum("ind,id->in", self._signed[0], self.optimum)

    def excess(self, theta: Tensor) -> Tensor:
        """R_i(theta_i) - R_i(theta_i*) as a sum of terms >= 0: at a stationary point the linear parts cancel."""
        rows, frequency = self._signed
        delta = theta - self.optimum
        loss = _excess_log_loss(self._margin_at_optimum, torch.einsum("ind,sid->sin", rows, delta))
        return (frequency * loss).sum(-1) + self.regularisation / 2 * (delta**2).sum(-1)

    def gradient(self, theta: Tensor) -> Tensor:
        rows, frequency = self._signed
        error = torch.sigmoid(-torch.einsum("ind,sid->sin", rows, theta)) * frequency
        return self.regularisation * theta - torch.einsum("sin,ind->sid", error, rows)

    def _data_gradients(self, theta: Tensor) -> Tensor:
        """Every client's gradient without the regularisation at every model, [s, p, k] (S, P, N, d)."""
        rows, frequency = self._signed
        error = torch.sigmoid(-torch.einsum("knd,spd->spkn", rows, theta)) * frequency
        return -torch.einsum("spkn,knd->spkd", error, rows)

    def gradient_gap(self, theta: Tensor) -> Tensor:
        gradient = self._data_gradients(theta)
        own = gradient.diagonal(dim1=1, dim2=2).transpose(-1, -2)
        return ((gradient - own[:, :, None]) ** 2).sum(-1)

    def variance(self, theta: Tensor) -> Tensor:
        """Exact total variance of client k's stochastic gradient at given points theta (P, d), as (P, N)."""
        slope = self.slope(theta @ self.data.X.T, self.data.y)
        second = self.data.means(slope**2 * (self.data.X**2).sum(-1))
        mean = self._data_gradients(theta[None])[0]
        return (second - (mean**2).sum(-1)).clamp_min(0) / self.batch

    @cached_property
    def sigma2(self) -> Tensor:
        """mean |x|^2 / batch: no variance exceeds it, wherever the models are, (N,)."""
        return self.data.means((self.data.X**2).sum(-1)[None])[0] / self.batch

    @property
    def smoothness(self) -> Tensor:
        """lambda_max(X'X) / (4 n) + r, (N,): tight, the curvature at 0. Arrays have `logistic_smoothness` of bounds."""
        rows, frequency = self._signed
        moment = torch.einsum("in,ind,ine->ide", frequency, rows, rows)
        return torch.linalg.eigvalsh(moment)[:, -1] / 4 + self.regularisation

    # grad R_i - grad R_k = mean_k(s u) - mean_i(s u) with s in (0, 1). Put s = 1/2 + e/2, |e| < 1: its norm is at most
    # (|mean_i u - mean_k u| + rho_i + rho_k) / 2, rho = sup_e |mean(e u)| <= min(mean |u|, sqrt(lambda_max(X'X / n))).

    def heterogeneity(self) -> GradientDissimilarity:
        """b_ik that holds everywhere, with c = 0; b_ik = 0 for clients with the same rows, whatever their order."""
        blocks = [x * s[:, None] for x, s in self.data.blocks()]
        mean = np.stack([u.mean(0) for u in blocks])
        # largest singular value / sqrt(n) by the (d, d) moment, 1e-12 outward for its rounding
        top = [np.sqrt(np.linalg.eigvalsh(u.T @ u / len(u))[-1]) * (1 + 1e-12) for u in blocks]
        rho = [min(np.linalg.norm(u, axis=1).mean(), largest) for u, largest in zip(blocks, top)]
        b = (np.linalg.norm(mean[:, None] - mean[None], axis=-1) + np.add.outer(rho, rho)) / 2
        content = [(u[np.lexsort(u.T)] + 0.0).tobytes() for u in blocks]  # + 0.0: no negative zeros
        same = np.array([content.index(rows) for rows in content])
        return GradientDissimilarity(b2=np.where(same[:, None] == same, 0.0, b**2), c=np.zeros_like(b))

    def certainty(self) -> tuple[Trust, str, str]:
        return "certified", "all models", "all models"

    def constants(self) -> Constants:
        """mu = r, sigma and the pairs bound what they bound at all models; beta and the excess are exact."""
        if not self.regularisation:
            raise InputError("regularisation", 0.0, "without it mu = 0 and no theorem applies; give r > 0")
        mu = np.full(self.clients, self.regularisation)
        beta = np.maximum(self.smoothness.double().cpu().numpy(), mu)
        found = self.known_by(mu=mu, beta=beta, heterogeneity=self.heterogeneity())
        assert found.excess is not None
        enters = entry_precisions(found.heterogeneity, mu=mu, threshold=ALIKE) < found.excess[:, None]
        pairs = f"{enters.sum() - np.diagonal(enters).sum()} of {self.clients * (self.clients - 1)} pairs"
        return replace(found, notes=(EVERYWHERE, PAIRS.format(pairs=pairs), *self.remarks))

    def quadratic_model(self) -> LeastSquares | None:
        """Least squares with the Hessian of R_i and the law of one row's gradient as they are at theta_i*.

        There a row's gradient is x (h x . delta - s) + r theta to first order in delta = theta - theta_i*, where p is
        the modelled chance of y = 1, h = p (1 - p) and s = [y = 1] - p. That of (sqrt(h/2) x . delta - s / sqrt(2 h))^2
        is the same. None of more coefficients than are planned for.
        """
        if self.features > MOST_SINGULAR:
            return None
        X, y = [], []
        for (x, label), optimum in zip(self.data.blocks(), self.optimum.double().cpu().numpy()):
            wrong = expit(-label * (x @ optimum))
            h = np.maximum(wrong * expit(label * (x @ optimum)), LEAST_CURVATURE)
            rows = x * np.sqrt(h / 2)[:, None]
            X.append(rows)
            y.append(rows @ optimum + label * wrong / np.sqrt(2 * h))
        start = self.start.double().cpu().numpy()
        return LeastSquares.of(
            X, y, regularisation=self.regularisation, batch=self.batch, names=self.names, start=start
        )

    def with_start(self, start: Any) -> Logistic:
        """The same problem from another start."""
        return replace(self, start=self.start.new_tensor(starting_points(start, self.clients, self.features)))
