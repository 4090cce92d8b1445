"""Errata whose instance is rational: both numbers from fractions by keyword, and the refutation as a certificate.

An erratum computes its numbers in floats by the library's own functions; here they are written once more, as closed
forms of the instance, so that `recheck.py` decides which one is larger. Tests compare both routes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from suffice.bounds import find
from suffice.bounds.symbolic import expression

from ..certificate import certificate, nested
from ..recheck import value
from .erratum import Erratum


@dataclass(frozen=True, kw_only=True)
class Exact:
    """The printed and the true value of an erratum, as functions of the keywords `at`."""

    printed: Callable[..., Any]
    measured: Callable[..., Any]
    at: Mapping[str, Fraction]

    def sides(self) -> tuple[Any, Any]:
        """Both sides, printed and measured, as nested expressions."""
        return nested(expression(self.printed)), nested(expression(self.measured))

    def numbers(self) -> tuple[Fraction, Fraction]:
        """The printed and the measured number."""
        printed, measured = (value(side, dict(self.at)) for side in self.sides())
        return printed, measured

    def certificate(self, erratum: Erratum) -> dict[str, Any]:
        """Certify that an upper bound is exceeded, a lower one undercut, or one side of an equality larger."""
        printed, measured = self.sides()
        first, second = self.numbers()
        above = erratum.side == "upper" or (erratum.side != "lower" and second > first)
        says = f"{erratum.id}: what is true {'exceeds' if above else 'is below'} what is printed ({erratum.location})"
        left, right = (measured, printed) if above else (printed, measured)
        at = {name: str(number) for name, number in self.at.items()}
        return certificate("exceeds", says, {}, left=left, right=right, at=at)


def exact(printed: Callable[..., Any] | int, measured: Callable[..., Any] | int, **at: Any) -> Exact:
    """An instance; a whole number stands for itself."""
    sides = [side if callable(side) else _constant(side) for side in (printed, measured)]
    asked = {name for side in sides for name in inspect.signature(side).parameters}
    if asked != set(at):
        raise ValueError(f"{sorted(asked)} are the keywords, not {sorted(at)}")
    return Exact(printed=sides[0], measured=sides[1], at={name: Fraction(number) for name, number in at.items()})


def _constant(number: int) -> Callable[[], int]:
    return lambda: number


def _bound(key: str) -> Callable[..., Any]:
    bound = find(key, "printed").bound
    assert bound is not None
    return bound


def _decreasing(*, C, mu, beta, e0):
    """e_10 of one client of curvature mu without noise, at the steps C/(mu (t + gamma)), gamma = C beta/mu - 1."""
    return e0 * math.prod((1 - C / (t + (C * beta / mu - 1))) ** 2 for t in range(1, 11))


def _after_one_step(*, C, mu, beta, e0, sigma2):
    """E[e_1] at eta = C/mu."""
    return (1 - C / mu * beta) ** 2 * e0 + (C / mu) ** 2 * beta * sigma2 / 2


EXACT: dict[str, Exact] = {
    "adaptive-property-1-constant": exact(
        lambda A, gap: 2 * A**2 * gap**2, lambda A, gap: (2 * A * gap) ** 2, A=1, gap=1
    ),
    "adaptive-property-1-symmetric": exact(  # A = (p q; 0 s), xi_i - xi_k = (1, -1)
        lambda p, q, s: 8 * ((p - q) ** 2 + s**2), lambda p, q, s: (2 * p - q) ** 2 + (q - 2 * s) ** 2,
        p=1, q=1, s="3/10",
    ),
    "adaptive-code-figure-1-constant": exact(lambda gap: 2 * gap**2, lambda gap: 4 * gap**2, gap=1),
    "adaptive-definition-1-above-one": exact(
        1, lambda r, sigma2: 1 / sigma2 / (1 + r / sigma2), r="1/2", sigma2="1/10000"
    ),
    "adaptive-remark-3-phi": exact(lambda r: 1 / (1 + r**2), lambda r: 1 / (1 + r), r="1/2"),
    "adaptive-definition-3-least-psi": exact(lambda threshold: threshold, lambda threshold: threshold**2,
                                             threshold="1/2"),
    "adaptive-lemma-2-models": exact(
        lambda b2, c, other: b2 + c * other**2, lambda own, other: (own - other) ** 2, b2=0, c=0, own=1, other=0
    ),
    "adaptive-lemma-2-chain": exact(
        lambda b, mu, eps: 1 / (1 + (1 - b / (2 * mu * eps)) ** 2),
        lambda b, mu, eps: 1 / (1 + (1 - b**2 / (2 * mu * eps)) ** 2), b=2, mu=1, eps=2,
    ),
    "adaptive-corollary-1-index": exact(
        lambda N: 1 / N, lambda second, third: 1 / (1 + second**2 + third**2), N=3, second="9/10", third="3/10"
    ),
    "adaptive-code-weights-normalised": exact(lambda r: (1 + r**2) / (1 + r), 1, r="3/4"),
    "adaptive-code-no-threshold": exact(
        lambda N, r: (1 + (N - 1) * r) / N, lambda N, threshold: threshold + (1 - threshold) / N,
        N=20, r="1/100", threshold="1/2",
    ),
    "adaptive-lemma-1-correlated-noise": exact(
        lambda eta, beta, N: eta**2 * beta / 2 / N, lambda eta, beta: eta**2 * beta / 2, eta="1/2", beta=1, N=10
    ),
    "adaptive-appendix-noise-factor": exact(
        lambda eta, beta, sigma2: eta * beta * sigma2, lambda eta, beta, sigma2: eta**2 * beta / 2 * sigma2,
        eta=9, beta="1/10", sigma2=1,
    ),
    "adaptive-appendix-positive-part": exact(
        lambda own, peer: (1 - (peer - own) ** 2 / own**2) / (1 + (1 - (peer - own) ** 2 / own**2) ** 2), 0,
        own=2, peer=-1,
    ),
    "adaptive-appendix-sum-index": exact(
        lambda r: 1 / (1 + r**2), lambda r: (1 + r) / (1 + r**2), r="3/4"
    ),
    "adaptive-theorem-2-decreasing-step": exact(  # the maximum is its noise term, as e_0 is smaller
        lambda C, mu, beta, sigma2: C**2 * beta * sigma2 / (2 * mu**2 * (C - 1)), _after_one_step,
        C=2, mu=1, beta=1, e0=1, sigma2=1,
    ),
    "adaptive-theorem-2-decreasing-start": exact(
        lambda e0, T: e0 / T, _decreasing, C=2, mu="1/100", beta=1, e0=1, T=10
    ),
    "adaptive-section-5-bounded-variance": exact(  # 4 (d + 1) |x|^2 of a (a . x), a standard normal
        lambda d, near: 4 * (d + 1) * d * near**2, lambda d, far: 4 * (d + 1) * d * far**2, d=10, near=1, far=10
    ),
    "adaptive-definition-s1-labels": exact(lambda K: (K / 2 + 1) + K / 2, lambda K: K, K=10),
    "sample-optimal-theorem-2-threshold": exact(  # the mean of two models b/mu apart: mu (b/(2 mu))^2/2
        lambda eps: eps, lambda eps, mu: eps / 2 / (8 * mu), eps=1, mu="1/100"
    ),
    "sample-optimal-theorem-3-sketch-step": exact(
        lambda x: x - 2 * x, lambda x, eta: x - eta * 2 * x, x=1, eta="1/4"
    ),
    "sample-optimal-theorem-3-sketch-mean": exact(
        lambda eta, N: 1 - eta / N, lambda eta: 1 - eta, eta="1/2", N=10
    ),
    "sample-optimal-corollary-1-speedup": exact(lambda N: 1 / N, lambda N: N, N=10),
    "sample-optimal-section-5-bias": exact(lambda m: m / 2, lambda m: m**2 / 4, m=8),
    "sample-optimal-linear-noise": exact(1, lambda x: 2 * x**2 + 1, x=100),
    "sample-optimal-assumption-4-dimension": exact(1, lambda d: d, d=10),
    "sample-optimal-theorem-5-bias": exact(
        lambda mu, ball: 2 * ball**2 * (2 * mu * ball) / mu, lambda mu, ball: mu * ball**2 / 2, mu=100, ball=1
    ),
    "cobo-example-2-constant": exact(
        _bound("cobo/example-2-dissimilarity"),
        lambda own_curvature, peer_curvature, separation: own_curvature**2 * peer_curvature**2
        / (own_curvature**2 + peer_curvature**2) * separation**2,
        own_curvature="1/2", peer_curvature="1/2", separation=1,
    ),
    "cobo-example-2-equality": exact(
        _bound("cobo/example-2-dissimilarity"), lambda peer_curvature, separation: peer_curvature**2 * separation**2,
        own_curvature=1, peer_curvature=1, separation=1,
    ),
    "cobo-theorem-1-heterogeneity": exact(3, lambda M2: 2 + 24 * M2, M2="19/100"),
    "cobo-algorithm-1-output": exact(
        lambda x: x**2, lambda x, eta: (1 - eta) ** 2 * x**2 + eta**2, x="1/5", eta="7/25"
    ),
    "cobo-lemma-3-variance": exact(
        lambda eta, sigma: eta**2 * sigma**2 / 4, lambda eta, sigma: eta**2 * sigma**2 / 2, eta="1/2", sigma=1
    ),
    "cobo-lemma-4-noise": exact(
        lambda eta, sigma2, rho, size: 1 / size**2 * eta * sigma2 / (2 * rho * size),
        lambda eta, sigma2, size: 2 * eta**2 * sigma2 * (1 - 1 / size), eta="1/4", sigma2=1, rho=1, size=2,
    ),
    "cobo-lemma-4-contraction": exact(
        lambda eta, rho, size: 1 - 2 * eta * rho * size,
        lambda eta, rho, size, curvature: 1 - eta * rho * size - eta * curvature,
        eta="1/2", rho="1/5", size=3, curvature="1/1000000000",
    ),
    "cobo-lemma-4-pair-mean": exact(lambda g, h: ((g + h) / 2) ** 2, lambda g, h: (g + h) ** 2, g=1, h="6/5"),
    "cobo-corollary-2-cross-term": exact(  # curvatures 1 and h at x and 0: means over (i, j)
        lambda h, x: (x**2 + (x / 2) ** 2 + (h * x / 2) ** 2) / 4 + 2 * x**2 / 4 / 4, lambda x: x**2 / 2,
        h="7/10", x=2,
    ),
    "cobo-code-ifca": exact(lambda eta, N: 1 - eta * N, lambda eta: 1 - eta, eta="3/10", N=10),
    "scafflix-weight-zero": exact(
        lambda mu, x: mu * x**2 / 2, lambda alpha, x: (alpha * x) ** 2 / 2, mu=1, x=5, alpha=0
    ),
    "scafflix-assumption-3-convexity": exact(  # samples L x^2/2 and -bend x^2/2, D = (L - bend) x^2/4
        lambda L, bend, x: 2 * (2 * L) * (L - bend) * x**2 / 4, lambda L, bend, x: (L**2 + bend**2) / 2 * x**2,
        L=10, bend=9, x=1,
    ),
}  # fmt: skip
"""The exact instances by the ids of their errata."""
