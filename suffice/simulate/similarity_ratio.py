"""Similarity ratios r_ik = (1 - |grad R_k - grad R_i|^2 / |grad R_i|^2)_+ at the models, exact and estimated.

Philippenko et al. (2025), before Definition 1 and Eq. (1). Estimates use m samples per client, independent of those
of the step. One sample of client k serves every model: for each model i the samples of different clients are
independent, which is all that its path depends on. `bounds.similarity_estimator` has the same formulas on given
gradients, N^2 d numbers; here they come from squared distances, N^2 of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from suffice.support.numbers import as_whole

from .oracle import Oracle
from .randomness import Randomness, Stream

SAMPLES = "similarity"
"""The name of the samples among the extra draws of an iteration."""


def _ratio(gap: Tensor, norm: Tensor) -> Tensor:
    """(1 - gap_ik / norm_i)_+ with r_ii = 1; for norm_i = 0 it is 1 where the gap is 0 too, else 0."""
    norm = norm[..., None]
    ratio = gap.div(norm).neg_().add_(1).clamp_min_(0)  # gap / 0 is infinite, or undefined for a gap of 0
    return _own(ratio.masked_fill_((norm == 0) & (gap == 0), 1))


def _own(ratio: Tensor) -> Tensor:
    ratio.diagonal(dim1=-2, dim2=-1).fill_(1)
    return ratio


class Similarity(ABC):
    """How All-for-one learns who is similar: `samples` fresh ones per client (0: none), and the ratios from them."""

    samples: int

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Mapping[str, Tensor]:
        """The extra draws of an iteration in which the ratios are computed."""
        if not self.samples:
            return {}
        return {SAMPLES: problem.draw(randomness, iteration, stream=Stream.SIMILARITY, batch=self.samples)}

    @abstractmethod
    def ratio(self, problem: Oracle, theta: Tensor, extra: Mapping[str, Tensor]) -> Tensor:
        """r_ik as [s, i, k] (S, N, N) in [0, 1], r_ii = 1, at models (S, N, d)."""

    @property
    def gradients_sent(self) -> int:
        """d-vectors that a client sends to another per estimate: here the mean of its m gradients."""
        return 1 if self.samples else 0


@dataclass(frozen=True, kw_only=True)
class ExactSimilarity(Similarity):
    """Ratios from population gradients: the idealised rule that the theorems are about; costs nothing."""

    samples: ClassVar[int] = 0

    def ratio(self, problem: Oracle, theta: Tensor, extra: Mapping[str, Tensor]) -> Tensor:
        return _ratio(problem.gradient_gap(theta), (problem.gradient(theta) ** 2).sum(-1))


@dataclass(frozen=True, kw_only=True)
class SampledSimilarity(Similarity):
    """Eq. (1): (1 - Z_ik / Z_i)_+, Z_ik = |mean_j (g_i^j - g_k^j)|^2, Z_i = |mean_j g_i^j|^2 over m samples."""

    samples: int = 1

    def __post_init__(self) -> None:
        as_whole("samples", self.samples)

    def ratio(self, problem: Oracle, theta: Tensor, extra: Mapping[str, Tensor]) -> Tensor:
        return _ratio(*problem.sampled_gap(theta, extra[SAMPLES]))


@dataclass(frozen=True, kw_only=True)
class DebiasedSimilarity(Similarity):
    """clip(1 - D_ik / G_i, 0, 1) with D and G free of the bias that noise of variance v gives Eq. (1).

    E Z_ik = |grad R_i - grad R_k|^2 + (v_i + v_k)/m and E mean_j |delta_j|^2 = |grad R_i - grad R_k|^2 + v_i + v_k
    for the single differences delta_j = g_i^j - g_k^j, so that
        D_ik = (m Z_ik - mean_j |delta_j|^2) / (m - 1),    G_i = (m Z_i - mean_j |g_i^j|^2)_+ / (m - 1)
    have the right means (G before its positive part). No signal, G_i = 0, means no collaboration, but with peers
    whose gradients are the same.
    """

    samples: int = 2

    def __post_init__(self) -> None:
        as_whole("samples", self.samples, least=2)

    @property
    def gradients_sent(self) -> int:
        """d-vectors per estimate: each of the m gradients, as their scatter is needed."""
        return self.samples

    def ratio(self, problem: Oracle, theta: Tensor, extra: Mapping[str, Tensor]) -> Tensor:
        draw, m = extra[SAMPLES], self.samples
        gap, norm = problem.sampled_gap(theta, draw)
        same, gap, norm = gap == 0, m * gap, m * norm
        for j in range(m):
            single_gap, single_norm = problem.sampled_gap(theta, draw[:, :, j : j + 1])
            gap, norm = gap - single_gap / m, norm - single_norm / m
        norm = norm[..., None]
        return _own(torch.where(same, 1, torch.where(norm > 0, (1 - gap / norm).clamp(0, 1), 0)))


@dataclass(frozen=True, kw_only=True)
class ReleasedSimilarity(SampledSimilarity):
    """The authors' code: max(1 - |g_i - g_k| / |g_i|^2, 0), the numerator not squared; m = 1 there.

    It has the unit of 1 / gradient: all collaborate while gradients are large, nobody once they are small.
    """

    def ratio(self, problem: Oracle, theta: Tensor, extra: Mapping[str, Tensor]) -> Tensor:
        gap, norm = problem.sampled_gap(theta, extra[SAMPLES])
        return _ratio(gap.sqrt(), norm)
