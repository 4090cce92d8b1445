"""Scafflix with bounded variance: where it is false, the best probability, steps, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of  # tests/helpers

from suffice.bounds import ConditionError, InputError, find
from suffice.bounds.scafflix_settings import bounded_variance_steps, equalised_steps
from suffice.verification.claims.scafflix import bounded_variance as claims

bound = bound_of("scafflix")


def test_the_square_is_false_where_the_variance_grows_with_the_distance():
    """Theorem 1 under Assumption 3 keeps 2 - gamma A for 2 - gamma mu."""
    evidence = claims.measure(claims._attained(wide=False), "theorem-1")
    growing = evidence.values["C"].max(-1) == 0
    assert evidence.ratio(find("scafflix/theorem-1-noisy")).max() <= 1 + 1e-12
    assert evidence.ratio(find("scafflix/theorem-1-sharp"))[growing].max() > 1.1


def test_short_steps_double_the_printed_rate_and_nothing_is_gained_at_the_limit():
    given = {"p": 1.0, "contraction": 1e-4, "eta_min": 1.0, "noise": 0.0, "Psi0": 1.0, "T": 1000}
    rates = [np.log(bound("theorem-1-noisy", reach=reach, **given)) for reach in (1.0, 1e-3)]
    printed = np.log(bound("theorem-1", **given | {"reach": 1.0}))
    np.testing.assert_allclose(rates, [printed, 1000 * np.log1p(-1e-4 * 1.999)], rtol=1e-9)


def test_the_best_probability_halves_the_communications():
    # ln(Psi_0/eps) = 1: per unit of the logarithm, and the one communication of the last iteration taken away
    kappa, p = np.array([10.0, 100.0, 1000.0]), np.exp(np.linspace(np.log(1e-2), 0, 20_001))[:, None]
    best = 2 * np.sqrt(kappa) / (kappa + 1)
    per_unit = bound("corollary-1-sharp", kappa_max=kappa, Psi0=np.e, eps_Psi=1.0) - best
    exactly = best / (-2 * np.log((kappa - 1) / (kappa + 1)))  # 1.43, 4.95, 15.8
    assert (per_unit >= exactly).all()
    np.testing.assert_allclose(per_unit, exactly, rtol=1 / 250)  # 4 artanh(1/kappa) is 1/(3 kappa^2) above 4/kappa
    costs = p * bound("corollary-1-sharp-iterations", kappa_max=kappa, p=p, Psi0=np.e, eps_Psi=1.0)
    np.testing.assert_allclose(p[costs.argmin(0), 0], best, rtol=5e-3)
    older = bound("corollary-1", kappa_max=kappa, Psi0=np.e, eps_Psi=1.0) - kappa**-0.5
    np.testing.assert_allclose(older / per_unit, 2 * (1 + 1 / kappa), rtol=1e-9)


def test_steps_for_bounded_variance_are_those_of_the_record():
    rng = np.random.default_rng(1)
    for _ in range(50):
        mu = 10.0 ** rng.uniform(-2, 0, 5)
        L, C, eps = mu * 10.0 ** rng.uniform(0, 2, 5), rng.uniform(0, 3, 5), 10.0 ** rng.uniform(-3, 0)
        steps = bounded_variance_steps(L=L, C=C, mu=mu, eps_mu=eps)
        x = steps.eta * mu
        assert (steps.eta <= 2 / (L + mu) * (1 + 1e-14)).all()
        np.testing.assert_allclose(steps.p**2, x * (2 - x), rtol=1e-13)
        floor = (x / mu.max()) * (C / mu).mean() / (2 - x)
        assert (mu.max() / 2 * floor <= eps / 2 * (1 + 1e-13)).all()
        assert steps.eta.min() >= equalised_steps(A=L, C=C, mu=mu, eps_mu=eps).eta.min()


def test_what_is_refused_names_the_condition_and_both_sides():
    given = {"p": 0.5, "contraction": 0.1, "eta_min": 1.0, "noise": 0.0, "Psi0": 1.0, "T": 3}
    with pytest.raises(ConditionError, match=r"wide_reach <= 1.*1\.5.*use wide_reach <= 1"):
        bound("theorem-1-sharp", wide_reach=1.5, **given)
    with pytest.raises(ConditionError, match=r"contraction <= wide_reach"):
        bound("theorem-1-sharp", wide_reach=0.05, **given)
    with pytest.raises(InputError, match="contraction"):  # mu = 0
        bound("theorem-1-sharp", wide_reach=0.5, **given | {"contraction": 0.0})
    with pytest.raises(InputError, match="kappa_max"):
        bound("corollary-1-sharp", kappa_max=0.9, Psi0=1.0, eps_Psi=0.1)
    with pytest.raises(InputError, match="mu"):
        bounded_variance_steps(L=1.0, C=0.0, mu=[0.5, 1.5], eps_mu=1.0)
