"""Exact worst cases of one step and of many: attained by their witnesses and not exceeded."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import DEFINITIONS, Continuous, Sharp, collaboration_weights, evaluate, find

OUTWARD = 1 + 1e-12  # evaluate moves 4.5e-13


def definition(key):
    (found,) = (d for d in DEFINITIONS if d.key == f"worst-case/{key}")
    return found.reduce


def bound(key, **values):
    return evaluate(find(f"worst-case/{key}"), **values)


# --- one step ---


def change(eta, beta, alpha, r, gradient, V):
    """The largest E[e_t] - e_{t-1}: the record less |g|^2 / (2 beta)."""
    pull = definition("pull")(weights=alpha, similarity=r)
    got = bound("one-step", eta=eta, beta=beta, weight=alpha.sum(), pull=pull, gradient=gradient, V=V)
    return got - gradient**2 / (2 * beta)


TABLE = (  # beta = sigma = |g| = 1; step weights eta beta A = .1, .5, .999
    ((1.0,), Continuous(), (-0.0900, -0.2500, -0.0010)),
    ((1.0, 0.5), Continuous(), (-0.0707, -0.2397, -0.1948)),
    ((1.0, 0.8, 0.5), Continuous(), (-0.0649, -0.2411, -0.2737)),
)


@pytest.mark.parametrize(("similarity", "criterion", "expected"), TABLE)
def test_one_step_values(similarity, criterion, expected):
    r = np.array(similarity)
    alpha = collaboration_weights(criterion, similarity=r, sigma2=np.ones(len(r)))
    for length, value in zip((0.1, 0.5, 0.999), expected):
        got = change(length / alpha.sum(), 1.0, alpha, r, 1.0, (alpha**2).sum())
        np.testing.assert_allclose(got, value, rtol=0, atol=6e-5)


def test_one_step_is_attained_in_dimension_1_and_never_exceeded():
    rng = np.random.default_rng(30)
    branches = set()
    for _ in range(200):
        beta, theta, n = np.exp(rng.normal()), rng.normal(), rng.integers(1, 5)
        alpha, r, sigma2 = rng.uniform(0, 1, n), np.append(1.0, rng.uniform(0, 1, n - 1)), rng.uniform(0, 1, n)
        eta = rng.uniform(0, 2.5) / (beta * alpha.sum())
        V, gradient = (alpha**2 * sigma2).sum(), abs(beta * theta)
        limit = change(eta, beta, alpha, r, gradient, V)
        witness = []
        for sign in (-1, 1):  # R_i = beta theta^2 / 2, g_k = (1 +- sqrt(1 - r_k)) g_i
            g = (alpha * (1 + sign * np.sqrt(1 - r))).sum() * beta * theta
            witness.append(beta / 2 * ((theta - eta * g) ** 2 - theta**2) + beta / 2 * eta**2 * V)
        scale = gradient**2 / (2 * beta) + beta * eta**2 * V
        np.testing.assert_allclose(
            max(witness), limit, rtol=0, atol=1e-11 * scale * (1 + (eta * beta * alpha.sum()) ** 2)
        )
        branches.add(int(np.argmax(witness)))
        d = 3  # any quadratic of curvature at most beta, any admissible gradients
        H, x = np.diag(rng.uniform(-beta, beta, d)), rng.normal(size=d)
        x *= gradient / np.linalg.norm(H @ x)
        own = H @ x
        noise = rng.normal(size=(n, d))
        noise *= rng.uniform(0, 1, (n, 1)) * np.sqrt(1 - r)[:, None] * gradient / np.linalg.norm(noise, axis=1)[:, None]
        after = x - eta * alpha @ (own + noise)
        got = (after @ H @ after - x @ H @ x) / 2 + eta**2 * H.max() * V / 2
        assert got <= limit + 1e-11 * scale
    assert branches == {0, 1}


def test_lemma_1_loses_at_most_a_factor_2_of_the_decrease():
    rng = np.random.default_rng(31)
    for _ in range(200):
        alpha, r = rng.uniform(0, 1, 4), rng.uniform(0, 1, 4)
        eta = rng.uniform(0, 1) / alpha.sum()
        lemma = -eta / 2 * (alpha * r).sum()
        exact = change(eta, 1.0, alpha, r, 1.0, 0.0)
        assert 2 * lemma <= exact + 1e-12
        assert exact <= lemma + 1e-12
    last = change(1 / alpha.sum(), 1.0, alpha, r, 1.0, 0.0)  # at eta beta A = 1 the loss is a variance
    share = alpha / alpha.sum()
    variance = (share * (1 - r)).sum() - (share * np.sqrt(1 - r)).sum() ** 2
    np.testing.assert_allclose(-(share * r).sum() / 2 - last, variance / 2, rtol=1e-9)


def sharp_values(r, sigma2, gradient, beta):
    p = 1 - np.sqrt(1 - r)
    Y = definition("agreement")(similarity=r, sigma2=sigma2)
    return p, Y, bound("sharp-step", beta=beta, gradient=gradient, agreement=Y, sharp_mass=(p / sigma2).sum())


def test_sharp_step_is_attained_by_its_weights_and_beaten_by_none():
    rng = np.random.default_rng(32)
    for _ in range(30):
        n = rng.integers(1, 6)
        r, sigma2 = np.append(1.0, rng.uniform(0.1, 1, n - 1)), np.exp(rng.uniform(1, 4, n))
        gradient, beta = np.exp(rng.normal()), np.exp(rng.normal())
        if gradient**2 * ((1 - np.sqrt(1 - r)) / sigma2).sum() > 1:
            continue
        p, Y, best = sharp_values(r, sigma2, gradient, beta)
        x = gradient**2 * p / (beta * sigma2 * (1 + gradient**2 * Y))

        def worst(x, r=r, p=p, sigma2=sigma2, gradient=gradient, beta=beta):
            return bound("one-step", eta=1.0, beta=beta, weight=x.sum(), pull=(x * p).sum(), gradient=gradient,
                         V=(x**2 * sigma2).sum())  # fmt: skip

        np.testing.assert_allclose(worst(x), best, rtol=1e-11)
        for _ in range(50):
            assert worst(x * np.exp(rng.normal(size=n) * rng.choice([1e-3, 0.1, 1]))) >= best / OUTWARD
        np.testing.assert_allclose(
            best - gradient**2 / (2 * beta),
            -(gradient**4) * Y / (2 * beta * (1 + gradient**2 * Y)),
            rtol=0,
            atol=1e-12 * gradient**2 / beta,
        )
        alpha = collaboration_weights(Sharp(), similarity=r, sigma2=sigma2)
        np.testing.assert_allclose(alpha / alpha[0], x / x[0], rtol=1e-9)


def test_sharp_step_printed_example():
    # beta = |g| = sigma = 1; r = 1 self, 50 x .9, 1000 x .1: outside the record's condition, the step limit binds
    r = np.concatenate(([1.0], np.full(50, 0.9), np.full(1000, 0.1)))
    phi = 1 - np.sqrt(1 - r)
    x = phi / phi.sum()  # the largest step of weights proportional to phi*
    lengths = np.linspace(0, 1, 401)[1:]
    best = min(change(1.0, 1.0, length * x, r, 1.0, ((length * x) ** 2).sum()) for length in lengths)
    np.testing.assert_allclose(-best, 0.2617, rtol=0, atol=6e-5)


# --- many steps ---


def test_contraction_is_attained_and_never_exceeded_by_strongly_convex_losses():
    rng = np.random.default_rng(40)
    closest = 0.0
    for _ in range(300):
        mu, beta = np.sort(np.exp(rng.uniform(-3, 0, 2)))
        alpha, r = rng.uniform(0, 1, 3), np.append(1.0, rng.uniform(0, 1, 2))
        weight, pull = alpha.sum(), definition("pull")(weights=alpha, similarity=r)
        limit = 2 / (beta * (2 * weight - pull) + mu * pull)
        assert limit * beta * weight >= 1 - 1e-12
        eta = limit * rng.choice([1, rng.uniform(0.1, 1)])
        values = {"eta": eta, "mu": mu, "beta": beta, "weight": weight, "pull": pull, "e0": 1.0}
        c = (alpha * (1 - np.sqrt(1 - r))).sum()
        np.testing.assert_allclose((1 - eta * mu * c) ** 10, bound("contraction", T=5, **values), rtol=1e-9)
        # R = mu |x|^2 / 2 + (beta - mu) sum softened |x|, curvature between mu and beta; a random admissible direction
        x, width = rng.normal(size=2) * 3, np.exp(rng.normal(size=2))
        loss = lambda x, w=width, m=mu, b=beta: m / 2 * x @ x + (b - m) * (w * (np.sqrt(x**2 + w**2) - w)).sum()  # noqa: E731
        own = mu * x + (beta - mu) * width * x / np.sqrt(x**2 + width**2)
        turn = rng.normal(size=2)
        h = weight * own + (weight - pull) * turn / np.linalg.norm(turn) * np.linalg.norm(own)
        ratio = loss(x - eta * h) / loss(x)
        one = bound("contraction", T=1, **values)
        assert ratio <= one * OUTWARD
        closest = max(closest, ratio / one)
    assert closest > 0.9


def test_contraction_beyond_its_step_limit_is_false():
    # eta beta A = 1.2, mu / beta = .1, (A - A_-) / A = .8: curvature beta and peers at (1 + .8) of the gradient
    eta, beta, mu, weight, pull = 1.2, 1.0, 0.1, 1.0, 0.2
    assert eta > 2 / (beta * (2 * weight - pull) + mu * pull)
    formula = find("worst-case/contraction").bound(eta=eta, mu=mu, pull=pull, e0=1.0, T=1)
    np.testing.assert_allclose([(1 - eta * beta * 1.8) ** 2, formula], [1.3456, 0.9526], rtol=0, atol=5e-5)


def test_noise_floor_is_attained_by_two_curvatures_and_never_exceeded():
    rng = np.random.default_rng(41)
    for _ in range(60):
        mu, beta = np.sort(np.exp(rng.uniform(-4, 1, 2)))
        pull = np.exp(rng.uniform(-1, 1))
        eta, V, e0, T = (
            rng.uniform(0.05, 1) / (beta * pull),
            np.exp(rng.normal()),
            np.exp(rng.normal()),
            rng.integers(1, 40),
        )
        limit = bound("noise-floor", eta=eta, mu=mu, beta=beta, pull=pull, e0=e0, V=V, T=T)

        def excess(curvatures, start, noise, eta=eta, pull=pull, T=T):  # second moments, one step at a time
            e = np.array(start)
            for _ in range(T):
                e = (1 - eta * pull * curvatures) ** 2 * e + eta**2 * curvatures * noise / 2
            return e.sum()

        np.testing.assert_allclose(excess(np.array([mu, beta]), [e0, 0], np.array([0, V])), limit, rtol=1e-11)
        curvatures, start, noise = rng.uniform(mu, beta, 4), rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
        assert excess(curvatures, e0 * start, V * noise) <= limit * OUTWARD
    quiet = bound("noise-floor", eta=eta, mu=mu, beta=beta, pull=pull, e0=e0, V=0.0, T=T)
    same = bound("contraction", eta=eta, mu=mu, beta=beta, weight=pull, pull=pull, e0=e0, T=T)
    np.testing.assert_allclose(quiet, same, rtol=1e-12)


@pytest.mark.parametrize(("kappa", "low", "high"), [(10, 10, 19.99), (100, 100, 199.9)])
def test_the_theorems_plateau_against_the_exact_one_of_curvature_mu(kappa, low, high):
    ratios = []
    for eta in (1.0, 0.3, 1e-3):  # beta = 1; the theorem's floor eta beta s2 / (2 mu), T large
        theorem = evaluate(find("adaptive/theorem-2-constant"), eta=eta, mu=1 / kappa, beta=1.0, q=1.0, e0=0.0, s2=1.0,
                           T=10**7)  # fmt: skip
        exact = bound("noise-floor", eta=eta, mu=1.0, beta=1.0, pull=1.0, e0=0.0, V=1.0, T=10**7)
        np.testing.assert_allclose(theorem / exact, kappa * (2 - eta), rtol=1e-9)
        ratios.append(theorem / exact)
    assert low <= min(ratios) * OUTWARD
    assert max(ratios) <= high * OUTWARD
    np.testing.assert_allclose(ratios[-1], high, rtol=1e-4)
