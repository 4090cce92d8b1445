"""The bound of E[tau]: its inequality at random models, that it is attained, and hitting times of simulated paths."""

from __future__ import annotations

import numpy as np
from first_steps import first_below

from suffice.bounds import evaluate, find
from suffice.planning.exact.hitting_certificate import certified_rates, contraction, hitting_bounds
from suffice.simulate.moments.gradient_moments import moments_of_rows
from suffice.simulate.moments.packed import pack
from suffice.simulate.moments.recursion import ExactRecursion, orbit

N, D = 3, 2


def bound_of(recursion, v, epsilon, steps):
    """For one vector of rates."""
    return hitting_bounds(recursion, v[None], epsilon, steps)[0]


def rows():
    rng = np.random.default_rng(11)
    X = [rng.normal(size=(n, D)) for n in (12, 15, 40)]
    return [(x, x @ (np.ones(D) + 0.2 * rng.normal(size=D)) + 0.4 * rng.normal(size=len(x))) for x in X]


def recursion(blocks=None):
    moments = moments_of_rows(blocks or rows(), start=np.full((N, D), -1.0))
    return ExactRecursion(moments=moments, client=0)


RATES, SHARE = np.array([0.04, 0.01, 0.01]), 0.1


def test_the_contraction_holds_wherever_the_excess_is_large_and_is_attained():
    exact = recursion()
    epsilon = SHARE * exact.excess
    A = exact.moments.A[0]
    for steps in (1, 5, 20):
        functional = orbit(exact.matrix(RATES).T, exact.loss, steps)[:, -1]
        q = contraction(exact, functional, epsilon)
        angle = np.linspace(0, 2 * np.pi, 721)
        direction = np.stack((np.cos(angle), np.sin(angle)), axis=1)
        ratios = []
        for scale in np.concatenate((np.linspace(1, 3, 41), [10.0, 1e3])):  # on and outside of {e = epsilon}
            delta = direction * np.sqrt(scale * epsilon / np.einsum("sd,de,se->s", direction, A, direction))[:, None]
            z = np.column_stack((np.ones(len(delta)), delta, pack(delta[:, :, None] * delta[:, None])))
            ratios.append((z @ functional / (scale * epsilon)).max())
        assert max(ratios) <= q * (1 + 1e-12)
        assert max(ratios) > 0.97 * q  # 3 % less would be wrong


def test_mean_hitting_times_of_paths_are_below_it_and_not_far():
    exact, blocks = recursion(), rows()
    epsilon = SHARE * exact.excess
    bound = bound_of(exact, RATES, epsilon, int(np.ceil(first_below(exact.curve(RATES, 10_000), epsilon))))
    rng, paths = np.random.default_rng(3), 4000
    best = np.linalg.lstsq(*blocks[0], rcond=None)[0]
    A = exact.moments.A[0]
    theta, tau = np.full((paths, D), -1.0), np.full(paths, np.inf)
    for t in range(400):
        gap = theta - best
        e = np.einsum("sd,de,se->s", gap, A, gap)
        tau = np.where((e < epsilon) & np.isinf(tau), t, tau)
        step = 0
        for (x, y), rate in zip(blocks, RATES):
            chosen = rng.integers(len(x), size=paths)
            step = step + rate * 2 * (np.einsum("sd,sd->s", x[chosen], theta) - y[chosen])[:, None] * x[chosen]
        theta = theta - step
    assert np.isfinite(tau).all()
    assert tau.mean() + 4 * tau.std() / np.sqrt(paths) <= bound < 6 * tau.mean()


def test_no_bound_where_the_floor_is_above_the_precision_and_a_smaller_step_has_one():
    exact = recursion()
    v = 0.9 * exact.limit(RATES) * RATES
    epsilon = 0.9 * exact.floor(v)
    assert bound_of(exact, v, epsilon, 20) == np.inf
    found = certified_rates(exact, v, epsilon, 20)
    assert found is not None
    assert found[1].sum() < v.sum()
    assert bound_of(exact, v, 2 * exact.excess, 20) == 0


def test_it_is_below_what_noise_that_grows_with_the_gradient_promises():
    """Alone: variance <= floor + factor |grad|^2 at all models, by the corollary at its own best step."""
    exact, (x, y), epsilon = recursion(), rows()[0], SHARE * recursion().excess
    A, best = x.T @ x / len(x), np.linalg.lstsq(x, y, rcond=None)[0]
    mu, beta = 2 * np.linalg.eigvalsh(A)[[0, -1]]
    # of a row 2 x (x . delta - r), |.|^2 <= 2 (2 |x| r)^2 + 2 |2 x x . delta|^2, and delta = A^-1 grad / 2
    s2 = 8 * ((x**2).sum(1) * (y - x @ best) ** 2).mean()
    fourth = np.einsum("ni,nj,n->ij", x, x, (x**2).sum(1)) / len(x)
    Q = 2 * np.linalg.eigvalsh(np.linalg.inv(A) @ fourth @ np.linalg.inv(A))[-1]
    record = find("adaptive/corollary-1-multiplicative-expected-time")
    values = {"mu": mu, "beta": beta, "s2": s2, "eps": epsilon, "e0": exact.excess, "q": 1.0, "Q": Q}
    own, steps = np.eye(N)[0], np.geomspace(1e-4, 0.5, 40) / (beta * Q)
    promised = [(float(evaluate(record, **values, eta=eta, split=eta * beta * Q)), eta) for eta in steps]
    usable = [(bound, eta) for bound, eta in promised if np.isfinite(bound)]
    assert len(usable) > 20
    for bound, eta in usable[::4]:
        assert bound_of(exact, eta * own, epsilon, 20) <= bound


def test_what_the_client_does_not_see_is_no_ground_for_a_bound():
    blocks = rows()
    blocks[0] = (blocks[0][0][:1], blocks[0][1][:1])
    exact = recursion(blocks)
    assert bound_of(exact, RATES, SHARE * exact.excess, 20) == np.inf
    alone = np.array([0.3 * exact.limit(np.eye(N)[0]), 0, 0])
    assert bound_of(exact, alone, SHARE * exact.excess, 20) < np.inf  # its one row is fitted exactly
