"""CoBo's Theorem I and Corollary II: what the print allows and asks, and the tuned step."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

from suffice.bounds import evaluate, find
from suffice.bounds.theorems.cobo import tuned_step

AVERAGES = (
    "cobo/theorem-1-mean-gradient", "cobo/theorem-1-midpoint-gradient", "cobo/corollary-2", "cobo/theorem-1-consensus",
    "cobo/theorem-1-tuned",
)  # fmt: skip


def bound(key, edition, values, **more):
    theorem = find(key, edition)
    names = {p.name for p in theorem.parameters}
    return evaluate(theorem, **{k: v for k, v in (values | more).items() if k in names})


def test_no_superlinear_loss_meets_the_printed_separation_condition():
    at = {"own_curvature": 1.0, "peer_curvature": 1.0, "separation": 1.0}
    zeta2 = bound("cobo/example-2-dissimilarity", "corrected", at)
    np.testing.assert_allclose(zeta2, 0.5, rtol=1e-11)
    assert 79_000 * zeta2 < (100 + (100 - 1)) ** 2  # |grad f_i + grad f_k|^2 at x = 100


@pytest.mark.parametrize("M", [0.0, 0.2**0.5])
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_corrected_theorem_holds_under_the_printed_heterogeneity_and_penalty(size, M):
    rho = 3**0.5 / size
    at = {"eta": 1 / (rho * size), "beta": 1.0, "rho": rho, "size": size, "M": M, "e0": 1.0, "spread": 1.0}
    for key in AVERAGES:
        assert np.isfinite(bound(key, "corrected", at, sigma2=1.0, T=10))


def test_tuned_bound_covers_the_mean_gradient_bound_at_the_tuned_step():
    rng = np.random.default_rng(8)
    attained = 0
    for _ in range(200):
        at = {"beta": np.exp(rng.normal()), "size": int(rng.integers(1, 6)), "M": rng.uniform(0, 0.999)}
        m2 = bound("cobo/cluster-dissimilarity", "corrected", at)
        at["rho"] = 1.01 * (1 + np.sqrt(m2)) * at["beta"] / at["size"] * (1 + np.exp(rng.normal()))
        at |= {"e0": np.exp(rng.normal()), "spread": rng.choice([0, 0.3, 3]), "sigma2": np.exp(rng.uniform(-6, 2))}
        at["T"] = int(rng.choice([1, 2, 10, 100]))
        step = float(tuned_step(**{name: at[name] for name in signature(tuned_step).parameters}))
        ratio = bound("cobo/theorem-1-mean-gradient", "corrected", at, eta=step) / bound(AVERAGES[-1], "corrected", at)
        assert ratio <= 1 + 1e-11
        attained += ratio > 1 - 1e-11
    assert attained > 10  # wherever the limit 1/(rho c) does not bind


def test_the_selection_margin_is_that_of_two_models_moved_alike():
    # x = m_0 + v, y = m_1 + v: z - m_0 = (m_1 - m_0)/2 + v and z - m_1 = (m_0 - m_1)/2 + v, v along neither
    radius = np.array([0.0, 0.3, 1.0, 2.0])
    at = {"own_curvature": 2.0, "peer_curvature": 0.25, "separation": 4.0}
    got = bound("cobo/selection-margin", "corrected", at, radius=radius)
    np.testing.assert_allclose(got, 0.5 * (radius**2 - 4.0), rtol=1e-11, atol=1e-14)
