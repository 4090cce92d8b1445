"""The planner against a second calculator, written anew from sections 10, 14 and 17 of the theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import Binary, Constants, Continuous, GradientDissimilarity, InputError, Sharp, tight_variance
from suffice.planning.client_plan import quotient

RTOL = 1e-9  # up to 400 steps of a recursion, the outward rounding (4.5e-13), the nudge of 2^-46 per contraction


def schedules(mu, beta, q, s2, e0, eps, T, delta):
    """The four rows of section 14 in floats and loops; None where the input is missing."""
    limit = q / beta

    def level(steps):
        B = e0
        for eta in steps:
            B = (1 - eta * mu) * B + eta**2 * beta * s2 / 2
        return B

    out = {"constant": (limit, None), "horizon": (None, None), "decreasing": (2 * beta / (mu * q) - 1, None)}
    if e0 is not None and T is not None:
        out["constant"] = (limit, level([limit] * T))
        L = math.log(e0 / (beta * s2 / (2 * mu * mu * T))) if e0 > 0 else -1
        eta = min(limit, L / (mu * T)) if L > 0 else 0.0
        out["horizon"] = (eta, level([eta] * T))
        gamma = out["decreasing"][0]
        out["decreasing"] = (gamma, level([2 / (mu * (t + gamma)) for t in range(1, T + 1)]))
    eta = min(limit, mu * eps / (beta * s2))
    expected = at_confidence = None
    if e0 is not None:
        drift = eta * mu - eta * eta * beta * s2 / (2 * eps)
        expected = (1 + math.log(e0 / eps)) / drift if e0 >= eps else 0.0
        if delta is not None:
            at_confidence = max(1, math.ceil(math.log(e0 / (eps * delta)) / drift)) if e0 >= eps else 0
    out["hitting"] = (eta, expected, at_confidence)
    return out


def reference(i, mu, beta, sigma2, b2, c, e0, eps, T, delta):
    """One row, for client i: everything a plan promises."""
    n, a = len(mu), [1 / s for s in sigma2]
    G = 2 * mu[i] * eps
    rho = [1.0 if k == i else max(0.0, 1 - b2[i][k] / G - c[i][k]) for k in range(n)]
    value, lam = max((r * sum(a[k] * rho[k] for k in range(n) if rho[k] >= r), r) for r in rho)
    members = [k for k in range(n) if rho[k] >= lam]
    S, P = sum(a[k] for k in members), sum(a[k] * rho[k] for k in members)
    s2 = S / P**2 if 2 * lam * S >= P else 1 / (4 * lam * (P - lam * S))
    w = a[i] / sum(a)
    q = lam + (1 - lam) * w
    start = None if e0 is None else e0[i]
    scalars = (start, eps, T, delta)
    together = schedules(mu[i], beta[i], q, s2, *scalars)
    alone = schedules(mu[i], beta[i], 1.0, sigma2[i], *scalars)
    times = alone["hitting"][1], together["hitting"][1]
    speedup = None if None in times else 1.0 if times == (0, 0) else times[0] / times[1]
    numbers = [lam, 1 / value, s2, q, q / beta[i], speedup]
    return rho, members, numbers, together, alone


def assert_number(got, wanted):
    if wanted is None:
        assert got is None
    else:
        np.testing.assert_allclose(got, wanted, rtol=RTOL)


def assert_schedules(got, wanted):
    for name in ("constant", "horizon"):
        for key, value in zip(("eta", "bound"), wanted[name]):
            assert_number(getattr(got, name)[key], value)
    assert got.decreasing["C"] == 2
    have = [got.decreasing["gamma"], got.decreasing["bound"], got.hitting["eta"], got.hitting["expected_iterations"]]
    for value, want in zip(have, [*wanted["decreasing"], *wanted["hitting"][:2]], strict=True):
        assert_number(value, want)
    assert got.hitting["iterations_at_confidence"] == wanted["hitting"][2]


def random_constants(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    off, mu = 1 - np.eye(n), np.exp(rng.uniform(-3, 0, n))
    values = {"mu": mu, "beta": mu * np.exp(rng.uniform(0, 3, n)), "sigma2": np.exp(rng.uniform(-4, 2, n))}
    values["b2"], values["c"] = np.exp(rng.uniform(-9, -1, (n, n))) * off, rng.uniform(0, 0.6, (n, n)) * off
    if seed % 4 == 1:
        values["b2"][0, 1] = np.inf
    return values | {"e0": None if seed % 5 == 4 else np.exp(rng.uniform(-5, 3, n))}


def build(values):
    pair = GradientDissimilarity(b2=values["b2"], c=values["c"])
    rest = {name: values[name] for name in ("mu", "beta", "sigma2")}
    return Constants(**rest, heterogeneity=pair, excess=values["e0"])


def simple(**changes):
    """Two clients a little apart."""
    off = 1 - np.eye(2)
    base = {"mu": 0.5, "beta": 1.0, "sigma2": 2.0, "b2": 0.02 * off, "c": 0.1 * off, "e0": 3.0}
    return build(base | changes)


def test_plan_agrees_with_the_second_calculator():
    seen = []
    for seed in range(24):
        values = random_constants(seed)
        eps, T, delta = [0.5, 0.02, 1e-3], None if seed % 7 == 6 else 7 * seed + 1, None if seed % 6 == 5 else 0.05
        rows = sf.plan(build(values), eps, horizon=T, confidence=delta)
        assert [(row.epsilon, row.client) for row in rows] == [(e, i) for e in eps for i in range(len(values["mu"]))]
        plain = {name: None if value is None else value.tolist() for name, value in values.items()}
        for row in rows:
            rho, members, numbers, together, alone = reference(row.client, eps=row.epsilon, T=T, delta=delta, **plain)
            np.testing.assert_allclose(row.similarity, rho, rtol=RTOL, atol=1e-14)
            assert (row.criterion.kind, list(row.cluster)) == ("binary", members)
            fixed = None if row.schedules.fixed is None else np.flatnonzero(row.schedules.fixed["weights"])
            followed = members if fixed is None else fixed
            assert list(row.collaborators) == [str(k) for k in followed if k != row.client]
            assert row.local_variance == plain["sigma2"][row.client]
            got = [row.criterion.threshold, row.definition_2_variance, row.sufficient_variance, row.step_ratio]
            times = (part.hitting["expected_iterations"] for part in (row.local, row.schedules))
            for have, want in zip([*got, row.step_limit, quotient(*times)], numbers, strict=True):
                assert_number(have, want)
            assert_schedules(row.schedules, together)
            assert_schedules(row.local, alone)
            seen.append(row)
    assert {len(row.cluster) for row in seen} >= {1, 2, 3, 4}
    assert {row.schedules.horizon["eta"] == 0 for row in seen} == {True, False}
    assert {row.schedules.hitting["eta"] < row.step_limit for row in seen} == {True, False}
    assert {row.sufficient_variance < 0.999 * row.definition_2_variance for row in seen} == {True, False}
    assert any(row.speedup is not None and row.speedup > 1.5 for row in seen)


def test_start_at_the_precision_still_takes_iterations():
    row = sf.plan(simple(e0=0.2), 0.2, confidence=1.0).rows[0]
    step = row.local.hitting["eta"]
    drift = step * 0.5 - step**2 * 1.0 * 2.0 / (2 * 0.2)
    np.testing.assert_allclose(row.local.hitting["expected_iterations"], 1 / drift, rtol=1e-12)
    assert row.local.hitting["iterations_at_confidence"] == 1  # section 17: T = max(1, ceil(ln 1 / Delta))


def test_a_client_alone_plans_as_local():
    zero = np.zeros((1, 1))
    row = sf.plan(simple(b2=zero, c=zero), 0.1, horizon=30, confidence=0.2).rows[0]
    assert (row.cluster, row.speedup, row.step_ratio, row.sufficient_variance) == ((0,), 1, 1, 2)
    assert row.schedules == row.local


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        *(("mu", {"mu": mu}) for mu in ([0.5, 0.0], [1.0, 1.0, 1.0], [[0.5], [0.5, 0.5]], None)),
        ("clients", {"b2": np.zeros((0, 0)), "c": np.zeros((0, 0))}),
        *(("beta", {"beta": beta}) for beta in (math.nan, [1.0, [1.0]])),
        *(("sigma2", {"sigma2": sigma2}) for sigma2 in ([1.0, -1.0], [1.0, 1.0, 1.0], ["one", "two"], None)),
        ("b2", {"b2": [[0.0, 1.0], [1.0]]}),
        ("c", {"c": np.zeros((3, 3))}),
        *(("heterogeneity", {"heterogeneity": given}) for given in ([[0.0, 1.0], [1.0, 0.0]], GradientDissimilarity)),
        *(("names", {"names": names}) for names in ({"a", "b"}, 2, ["a", "a"], ["a", 1])),
    ],
)
def test_what_describes_no_clients_is_refused_by_name(field, changes):
    with pytest.raises(InputError, match=f"^{field} = "):
        described(**changes)


def described(*, b2=((0, 0), (0, 0)), c=((0, 0), (0, 0)), **more):
    values = {"mu": 0.5, "beta": 1.0, "sigma2": 1.0, "heterogeneity": GradientDissimilarity(b2=b2, c=c)}
    return Constants(**(values | more))


@pytest.mark.parametrize(
    ("field", "epsilon", "options"),
    [
        *(("epsilon", eps, {}) for eps in (0, math.nan, -1.0, math.inf, [0.1, 0.0], [0.1, [0.2]], "small", [[0.1]])),
        *(("horizon", 0.1, {"horizon": T}) for T in (0, 1.5, -3, math.nan, "x")),
        *(("confidence", 0.1, {"confidence": delta}) for delta in (0, 2, -0.5, math.nan, "x")),
        ("threshold", 0.1, {"criterion": Binary(threshold=np.array([0.3, 0.5]))}),
    ],
)
def test_impossible_requests_are_refused_by_name(field, epsilon, options):
    with pytest.raises(InputError, match=f"^{field} = "):
        sf.plan(simple(), epsilon, **options)


def test_a_client_without_noise_is_refused():
    with pytest.raises(InputError, match=r"^sigma = 0"):
        sf.plan(simple(sigma2=[1.0, 0.0]), 0.1)


@pytest.mark.parametrize("criterion", [Binary(threshold=0.25), Continuous(), Sharp()], ids=lambda each: each.kind)
@pytest.mark.parametrize("seed", range(3))
def test_a_given_criterion_replaces_the_best_threshold(criterion, seed):
    """Variances and step ratios are those of the criterion, schedules those of the second calculator."""
    values = random_constants(seed)
    sigma2 = values["sigma2"]
    for row in sf.plan(build(values), [0.7, 0.05, 4e-3], criterion=criterion, horizon=40, confidence=0.1):
        i = row.client
        G = 2 * values["mu"][i] * row.epsilon
        rho = np.maximum(1 - values["b2"][i] / G - values["c"][i], 0)
        rho[i] = 1
        own_first = np.roll(np.arange(len(rho)), -i)
        s2 = tight_variance(criterion, similarity=rho[own_first], sigma2=sigma2[own_first])
        q = criterion.step_ratio(1 / sigma2[i] / (1 / sigma2).sum())
        np.testing.assert_allclose([row.sufficient_variance, row.step_ratio], [s2, q], rtol=RTOL)
        scalars = (None if values["e0"] is None else values["e0"][i], row.epsilon, 40, 0.1)
        assert_schedules(row.schedules, schedules(values["mu"][i], values["beta"][i], float(q), float(s2), *scalars))
    assert sf.plan(simple(), 0.2, criterion="binary").rows[0].to_dict() == sf.plan(simple(), 0.2).rows[0].to_dict()
