"""How far clients are apart: the constants against what they say, at drawn models and where they are attained."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.simulate import Quadratics
from suffice.simulate.algorithms import GradientTracking
from suffice.simulate.mean_loss import minimiser, scalars


def problem(kind: str) -> Quadratics:
    rng = np.random.default_rng(4)
    root = rng.normal(size=(1 if kind == "one Hessian" else 4, 3, 3))
    A = np.broadcast_to(0.1 * np.eye(3) + root @ root.transpose(0, 2, 1), (4, 3, 3))
    m = np.zeros((4, 3)) if kind == "one minimiser" else rng.normal(size=(4, 3))
    return Quadratics.of(A, m, sigma2=1.0, start=rng.normal(size=3))


@pytest.mark.parametrize("kind", ["different", "one Hessian", "one minimiser"])
def test_the_constants_say_what_they_are_said_to(kind):
    given, found = problem(kind), scalars(problem(kind))
    H, m, best = 2 * given.A.numpy(), given.optimum.numpy(), minimiser(given).numpy()
    loss = sum((best - c) @ h @ (best - c) / 2 for h, c in zip(H, m)) / 4
    assert_allclose(found["Gamma"], loss, rtol=1e-12, atol=1e-14)
    assert_allclose(
        found["zeta2"], np.mean([((best - c) @ h) @ ((best - c) @ h) for h, c in zip(H, m)]), rtol=1e-12, atol=1e-14
    )
    assert_allclose(found["hessian_gap"], max(np.linalg.norm(h - H.mean(0), 2) for h in H), rtol=1e-12, atol=1e-14)

    def both(x):
        slopes = np.stack([(x - c) @ h for h, c in zip(H, m)])
        return (slopes**2).sum(-1).mean(0), (slopes.mean(0) ** 2).sum(-1)

    drawn = best + np.geomspace(1e-3, 1e3, 4000)[:, None] * np.random.default_rng(0).normal(size=(4000, 3))
    left, right = both(drawn)
    share = left / (found["G2"] + found["B2"] * right)
    assert share.max() <= 1 + 1e-12
    assert share.max() > {"different": 0.5, "one Hessian": 1 - 1e-9, "one minimiser": 0.45}[kind]
    # with B2 nothing smaller than G2 would do: the difference is a concave quadratic, whose top touches 0
    if kind == "different":
        gap = lambda x: (lambda pair: pair[0] - found["B2"] * pair[1])(both(x[None]))[0]  # noqa: E731
        eye, at = np.eye(3), best
        slope = np.array([(gap(at + e) - gap(at - e)) / 2 for e in eye])
        bend = np.array([[gap(at + a + b) - gap(at + a) - gap(at + b) + gap(at) for a in eye] for b in eye])
        assert_allclose(gap(at - np.linalg.solve(bend, slope)), found["G2"], rtol=1e-9)


def test_the_spectral_gap_of_a_ring():
    """Eigenvalues of a ring of weights 1/3 are (1 + 2 cos(2 pi k / N)) / 3."""
    for N in (3, 5, 8):
        sizes = sorted(abs(1 + 2 * np.cos(2 * np.pi * k / N)) / 3 for k in range(N))
        assert_allclose(GradientTracking.ring(N).spectral_gap, 1 - sizes[-2], rtol=1e-12)
