"""Every method's plan against formulas written anew, and its promises against exact moments."""

from __future__ import annotations

import math

import numpy as np
import pytest

from suffice.bounds import Constants, GradientDissimilarity, InputError, QuadraticCertificate, plan_rows
from suffice.bounds.planning.break_even import break_even, gain
from suffice.bounds.planning.comparison import METHODS, STANDARD, compare, lower_bound
from suffice.bounds.planning.network import Network, semimetric

ORDER = [*STANDARD, "lower-bound"]


def affine(seed, *, clients=5, relative=0.0, excess=True):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(clients, 2)) * np.exp(rng.uniform(-4, -1))
    b = np.linalg.norm(x[:, None] - x[None], axis=-1)
    mu = np.exp(rng.uniform(-1, 0, clients))
    return Constants(
        mu=mu,
        beta=mu.max() * np.exp(rng.uniform(0, 2, clients)),
        sigma2=np.exp(rng.uniform(-2, 1, clients)),
        excess=np.exp(rng.uniform(-1, 2, clients)) if excess else None,
        heterogeneity=GradientDissimilarity(b2=b**2, c=relative * (1 - np.eye(clients))),
    )


def quadratics(seed, *, clients=4, features=3, equal=False, shared=False, start=None):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(clients, features, features)))[0]
    A = Q @ (np.exp(rng.uniform(-1, 0.5, (clients, features)))[..., None] * Q.swapaxes(1, 2))
    A = (A + A.swapaxes(1, 2)) / 2
    if equal:
        A = np.broadcast_to(A[:1], A.shape).copy()
    optimum = rng.normal(size=(clients, features)) * (0 if shared else 0.1)
    start = np.full((clients, features), 1.5) if start is None else start
    gap = start - optimum
    eigenvalues = np.linalg.eigvalsh(A)
    constants = Constants(
        mu=2 * eigenvalues[:, 0],
        beta=2 * eigenvalues[:, -1],
        sigma2=np.exp(rng.uniform(-1, 1, clients)),
        excess=np.einsum("id,ide,ie->i", gap, A, gap),
        heterogeneity=QuadraticCertificate(A=A, xi=-optimum),
    )
    return Network(constants=constants, start=start), A, optimum


def planned(network, epsilon, method=None, alpha=0.5):
    plans = compare(network, plan_rows(network.constants, epsilon), method=method, alpha=alpha)
    return {entry.method: entry for entry in plans}


def exact_fixed_weights(A, optimum, sigma2, start, weights, eta, T):
    """E e_i after T rounds of theta_i+ = theta_i - eta_i sum_j w_ij g_j(theta_i), isotropic noise: per client exact."""
    d = optimum.shape[1]
    result = []
    for i, w in enumerate(weights):
        H, centre = 2 * np.einsum("j,jde->de", w, A), 2 * np.einsum("j,jde,je->d", w, A, optimum)
        mean, cov = start[i].copy(), np.zeros((d, d))
        noise = eta[i] ** 2 * (w**2 * sigma2).sum() / d * np.eye(d)
        M = np.eye(d) - eta[i] * H
        for _ in range(T):
            mean, cov = M @ mean + eta[i] * centre, M @ cov @ M.T + noise
        gap = mean - optimum[i]
        result.append(gap @ A[i] @ gap + np.trace(A[i] @ cov))
    return np.array(result)


def exact_all_for_all(A, optimum, sigma2, start, weights, eta, T, *, averaged=False):
    """Mean over clients of E e_i after T rounds of All-for-all by the moments of all models together."""
    n, d = optimum.shape
    W = np.kron(weights @ weights.T, np.eye(d))
    H = np.zeros((n * d, n * d))
    for i in range(n):
        H[i * d : (i + 1) * d, i * d : (i + 1) * d] = 2 * A[i]
    noise = W @ np.diag(np.repeat(sigma2 / d, d)) @ W.T * eta**2
    M = np.eye(n * d) - eta * W @ H
    x, cov, best = start.reshape(-1), np.zeros((n * d, n * d)), optimum.reshape(-1)
    total, joint, sums = np.zeros(n * d), np.zeros((n * d, n * d)), np.zeros((n * d, n * d))
    for _ in range(T):
        x, cov = M @ x + eta * W @ H @ best, M @ cov @ M.T + noise
        # sums: covariance of the running sum with the newest iterate
        sums = sums @ M.T + cov
        joint = joint + sums + sums.T - cov
        total = total + x
    if averaged:
        x, cov = total / T, joint / T**2
    gap = x - best
    return (gap @ H @ gap / 2 + np.trace(H @ cov) / 2) / n


@pytest.mark.parametrize("seed", range(12))
def test_fixed_weights_need_the_rounds_of_theorem_2_and_are_not_beaten_by_any_equal_weights(seed):
    constants = affine(seed)
    epsilon = 0.05
    entry = planned(Network(constants=constants), epsilon)["fixed-weights"]
    weights, b = entry.settings["weights"], np.sqrt(constants.heterogeneity.b2)
    for i in range(5):
        mu, beta, e0 = constants.mu[i], constants.beta[i], constants.excess[i]

        def rounds(w, i=i, mu=mu, beta=beta, e0=e0):
            slack = epsilon - (w @ b[i]) ** 2 / (2 * mu)
            if slack < 0.1 * epsilon:
                return math.inf
            steps = max(beta / mu, beta * (w**2 @ constants.sigma2) / (mu**2 * slack))
            return steps * math.log(1 + 2 * max(0.0, e0 - epsilon) / slack)

        np.testing.assert_allclose(weights[i].sum(), 1, rtol=1e-12)
        assert entry.rounds[i] == math.ceil(rounds(weights[i]) * (1 + 1e-12))
        order = np.argsort(b[i], kind="stable")
        for size in range(1, 6):
            w = np.zeros(5)
            w[order[:size]] = 1 / size
            assert rounds(weights[i]) <= rounds(w) * (1 + 1e-9)
    assert entry.samples_per_client == max(entry.rounds)
    sent = sum(2 * ((weights[i] > 0).sum() - 1) * entry.rounds[i] for i in range(5))
    np.testing.assert_allclose(entry.vectors, sent, rtol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_fixed_weights_reach_the_precision_on_quadratics_by_exact_moments(seed):
    network, A, optimum = quadratics(seed, equal=True)
    entry = planned(network, 0.2)["fixed-weights"]
    assert (entry.settings["weights"] > 0).sum() > 4  # somebody collaborates
    for extra in (0, 17):
        T = int(max(entry.rounds)) + extra
        excess = exact_fixed_weights(
            A, optimum, network.constants.sigma2, network.start, entry.settings["weights"], entry.settings["eta"], T
        )
        assert (excess <= 0.2 * (1 + 1e-9)).all()


@pytest.mark.parametrize("seed", range(8))
def test_all_for_all_reaches_the_mean_precision_on_quadratics_by_exact_moments(seed):
    network, A, optimum = quadratics(seed, equal=seed % 2 == 0)
    entry = planned(network, 0.2)["all-for-all"]
    W = entry.settings["weights"]
    assert (W > 0).sum() > 4
    averaged = "averaged" in entry.theorem
    T = int(entry.rounds[0])
    mean = exact_all_for_all(
        A, optimum, network.constants.sigma2, network.start, W, entry.settings["eta"], T, averaged=averaged
    )
    assert mean <= 0.2 * (1 + 1e-9)
    exact = np.mean(
        [
            sum(W[i, j] * (optimum[j] - optimum[i]) @ A[i] @ (optimum[j] - optimum[i]) for j in range(4))
            for i in range(4)
        ]
    )
    np.testing.assert_allclose(entry.settings["peer_excess"], exact, rtol=1e-9)


def test_all_for_all_plans_the_averaged_iterate_when_the_spectrum_is_bad():
    # a star: the centre is near everybody, the others are not near one another
    n = 12
    b = np.full((n, n), 0.9)
    b[0] = b[:, 0] = 0.45
    np.fill_diagonal(b, 0)
    constants = Constants(
        mu=1.0, beta=20.0, sigma2=300.0, excess=[0.4] * n, heterogeneity=GradientDissimilarity(b2=b**2, c=0 * b)
    )
    entry = planned(Network(constants=constants), 0.3)["all-for-all"]
    assert (entry.theorem, entry.settings["rule"]) == ("sample-optimal/theorem-3-averaged-sharp-rounds", "threshold")
    W = entry.settings["weights"]
    slack = 0.3 - (W * b**2).sum() / n / 2
    smax = np.linalg.eigvalsh(W @ W.T).max()
    noise = 300 * (W**2).sum() / n / slack
    most = max(20 * smax, noise)
    np.testing.assert_allclose(entry.settings["eta"], 1 / most, rtol=1e-12)
    rounds = 2 * 0.4 / slack * most**2 / (2 * most - noise) - 1
    np.testing.assert_allclose(entry.rounds[0], math.ceil(rounds), rtol=1e-12)
    assert "averaged iterates" in entry.guarantee


def test_all_for_all_asks_corollary_1_only_where_each_pair_is_near():
    # b^2 = 1.4 mu eps for each pair: a mean misfit of 0.63 eps, for which the Corollary's eta leaves too little
    n, eps = 10, 0.3
    b2 = np.full((n, n), 1.4 * eps)
    np.fill_diagonal(b2, 0)
    constants = Constants(
        mu=1.0, beta=2.0, sigma2=300.0, excess=[5.0] * n, heterogeneity=GradientDissimilarity(b2=b2, c=0 * b2)
    )
    entry = planned(Network(constants=constants), eps)["all-for-all"]
    assert entry.theorem == "sample-optimal/theorem-3-sharp-rounds"
    np.testing.assert_array_equal(entry.settings["weights"], np.full((n, n), 1 / n))
    slack = eps - entry.settings["peer_excess"]
    np.testing.assert_allclose(slack, eps * (1 - 0.7 * 0.9), rtol=1e-9)  # misfits are rounded outwards
    most = 2 * 300 / n / slack
    np.testing.assert_allclose(entry.settings["eta"], 2 / (most + 1), rtol=1e-12)
    rounds = most * math.log(1 + 2 * (5 - eps) / slack) / 4
    np.testing.assert_allclose(entry.rounds[0], math.ceil(rounds), rtol=1e-12)


def test_relative_heterogeneity_refuses_fixed_weights_and_leaves_all_for_all():
    plans = planned(Network(constants=affine(0, relative=0.1)), 0.05)
    failure = plans["fixed-weights"].failure
    assert (failure["lhs"], failure["condition"]) == (math.inf, "squared bias <= 1.8 mu eps")
    assert plans["fixed-weights"].rounds is None
    assert plans["all-for-all"].applies
    assert repr(plans["fixed-weights"]) == "MethodPlan(fixed-weights at 0.05: refused: squared bias <= 1.8 mu eps)"
    assert max(len(repr(entry)) for entry in plans.values()) < 160  # no matrices


def test_different_starts_refuse_what_needs_a_common_one():
    start = np.arange(12.0).reshape(4, 3) / 10
    network, *_ = quadratics(0, equal=True, shared=True, start=start)
    plans = planned(network, 0.05)
    for method in ("all-for-all", "cobo", "scafflix"):
        assert plans[method].failure["condition"].startswith("common start")
        assert plans[method].failure["lhs"] > 0 == plans[method].failure["rhs"]
    assert plans["fixed-weights"].applies
    assert plans["all-for-one"].applies


@pytest.mark.parametrize("epsilon", [0.3, 0.03])
def test_cobo_plans_the_fewest_steps_of_theorem_1_for_agreeing_clients(epsilon):
    network, A, _ = quadratics(3, shared=True, clients=3)
    entry = planned(network, epsilon)["cobo"]
    c = network.constants
    H = 2 * A
    M = max(np.linalg.norm((H[i] - H[j]) @ np.linalg.inv(H[i] + H[j]), 2) for i in range(3) for j in range(3))
    assert M < 1
    L, mu, e0, s2, size = c.beta.max(), c.mu.mean(), c.excess.mean(), c.sigma2.max(), 3
    m2 = 2 * M**2 * (size - 1) / (size - (size - 2) * M**2)

    def level(rho, T):
        v = 1 / size + L / (rho * size) * (1 - 1 / size)
        eta = min(1 / (rho * size), math.sqrt(2 * e0 / (T * L * s2 * v)))
        return (2 * e0 / (eta * T) + L * eta * s2 * v) / (1 - m2 * L**2 / ((rho * size) ** 2 - L**2))

    (rho,), T = entry.settings["rho"], entry.rounds[0]
    assert rho >= 1.01 * math.sqrt(1 + m2) * L / size
    target = 2 * mu * epsilon
    assert level(rho, T) <= target < level(rho, T - 2)
    others = 1.0101 * math.sqrt(1 + m2) * L / size * np.geomspace(1, 100, 40)
    assert min(level(r, T * 0.98) for r in others) > target
    np.testing.assert_allclose(entry.vectors, 3 * 2 * T, rtol=1e-12)


def test_cobo_is_refused_without_a_shared_optimum_with_both_sides():
    network, *_ = quadratics(1)
    failure = planned(network, 0.1)["cobo"].failure
    assert (failure["lhs"], failure["rhs"]) == (math.inf, 1.0)


def test_an_affine_pair_without_b_agrees_by_its_c():
    n, c = 3, 0.25
    pair = GradientDissimilarity(b2=np.zeros((n, n)), c=c * (1 - np.eye(n)))
    constants = Constants(mu=1.0, beta=2.0, sigma2=1.0, excess=1.0, heterogeneity=pair)
    entry = planned(Network(constants=constants), 0.1)["cobo"]
    assert entry.settings["clusters"] == [[0, 1, 2]]
    rng = np.random.default_rng(0)
    g = rng.normal(size=(5000, 2))
    h = g + np.sqrt(c) * np.linalg.norm(g, axis=1)[:, None] * (u := rng.normal(size=(5000, 2))) / np.linalg.norm(
        u, axis=1, keepdims=True
    )
    M = (np.linalg.norm(g - h, axis=1) / np.linalg.norm(g + h, axis=1)).max()
    assert 0.99 * (0.5 / 1.5) < M <= 0.5 / 1.5 * (1 + 1e-12)


@pytest.mark.parametrize("alpha", [0.2, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_scafflix_plans_are_corollary_2_and_the_equalised_steps_in_plain_formulas(seed, alpha):
    constants = affine(seed)
    epsilon, mu, A, C = 0.03, constants.mu, constants.beta, constants.sigma2
    paper = planned(Network(constants=constants), epsilon, "scafflix-paper", alpha)["scafflix-paper"]
    eps = 2 * epsilon / mu.max()
    eta = np.minimum(1 / A, eps * mu.min() / (2 * C))
    p = math.sqrt((eta * mu).min())
    D2 = 2 * (alpha * constants.excess).mean() / (alpha**2 * mu).mean()

    def start(eta, p):
        return eta.min() * D2 * (alpha**2 * (1 / eta + eta * constants.beta**2 / p**2)).mean()

    np.testing.assert_allclose(paper.settings["eta"], eta, rtol=1e-12)
    np.testing.assert_allclose(paper.settings["p"], p, rtol=1e-12)
    T = max(max(A / mu), max(2 * C / mu) / (eps * mu.min())) * math.log(2 * start(eta, p) / eps)
    assert paper.rounds[0] == math.ceil(T * (1 + 1e-11))
    np.testing.assert_allclose(paper.vectors, 10 * (paper.rounds[0] * p + 1), rtol=1e-12)

    equalised = planned(Network(constants=constants), epsilon, alpha=alpha)["scafflix"]
    zeta = min((mu / A).min(), epsilon / (C / mu).mean())
    np.testing.assert_allclose(equalised.settings["p"], math.sqrt(zeta), rtol=1e-12)
    T = math.log(mu.max() * start(zeta / mu, math.sqrt(zeta)) / epsilon) / zeta
    assert equalised.rounds[0] == max(0, math.ceil(T * (1 + 1e-11)))


def test_the_released_rule_is_refused_where_its_mean_is_below_the_maximum_and_planned_where_it_is_not():
    constants = affine(1)
    entry = planned(Network(constants=constants), 0.05, "scafflix-released")["scafflix-released"]
    L = constants.beta
    assert entry.failure["condition"] == "every step gamma_i <= 1/A_i: reach <= 1"
    np.testing.assert_allclose(entry.failure["lhs"], L.max() / L.mean(), rtol=1e-12)
    np.testing.assert_allclose(entry.settings["p"], 1 / math.sqrt(L.mean() / constants.mu.min()), rtol=1e-12)
    identical = GradientDissimilarity(b2=np.zeros((2, 2)), c=np.zeros((2, 2)))
    equal = Constants(mu=0.5, beta=2.0, sigma2=1e-3, excess=1.0, heterogeneity=identical)
    one = planned(Network(constants=equal), 0.1, "scafflix-released", 1.0)["scafflix-released"]
    zeta, Psi = 0.25, one.settings["Psi0"]
    floor = 0.5 * 0.5 * 1e-3 / zeta
    T = one.rounds[0]
    level = lambda T: (1 - zeta) ** T * Psi + floor * (1 - (1 - zeta) ** T)  # noqa: E731
    assert level(T) <= one.settings["eps_Psi"] < level(T - 1)


def test_all_for_one_and_local_repeat_the_rows_and_say_that_they_stop():
    network = Network(constants=affine(2))
    for epsilon in (0.1, 0.02):
        rows = plan_rows(network.constants, epsilon)
        entries = {entry.method: entry for entry in compare(network, rows)}
        together, local = entries["all-for-one"], entries["local"]
        assert list(together.rounds) == [row.schedules.hitting["expected_iterations"] for row in rows]
        np.testing.assert_allclose(together.vectors, 2 * 4 * sum(together.rounds), rtol=1e-12)
        assert list(local.rounds) == [row.local.hitting["expected_iterations"] for row in rows]
        assert local.vectors == 0
        for entry in (together, local):
            assert entry.epsilon == epsilon
            assert "stopped" in entry.guarantee
            assert entry.quantity == "E[tau]"


@pytest.mark.parametrize("seed", range(10))
def test_the_lower_bound_lies_beneath_every_plan_with_a_mean_at_a_fixed_time(seed):
    network = Network(constants=affine(seed))
    for epsilon in (0.2, 0.02, 1e-3):
        plans = planned(network, epsilon)
        beneath = lower_bound(network, epsilon)
        assert plans["fixed-weights"].applies
        assert (np.array(beneath.rounds) <= plans["fixed-weights"].rounds).all()
        assert max(beneath.rounds) > 0
        assert [entry for entry in plans] == ORDER


def test_no_common_curvature_no_lower_bound():
    constants = Constants(mu=[0.1, 2.0], beta=[1.0, 3.0], sigma2=1.0, excess=1.0,
                          heterogeneity=GradientDissimilarity(b2=np.zeros((2, 2)), c=np.zeros((2, 2))))  # fmt: skip
    assert lower_bound(Network(constants=constants), 0.01).failure["lhs"] == 2.0


def test_a_semimetric_below_b_is_symmetric_and_takes_detours():
    b = np.array([[0, 5, 1], [3, 0, 1], [9, 1, 0]], dtype=float)
    np.testing.assert_array_equal(semimetric(b), [[0, 2, 1], [2, 0, 1], [1, 1, 0]])


def test_without_the_initial_excess_every_count_is_refused_and_steps_remain():
    plans = planned(Network(constants=affine(0, excess=False)), 0.1)
    assert all(plans[name].failure["condition"] == "initial excess known" for name in STANDARD)
    assert plans["scafflix"].settings["p"] > 0


def test_an_unknown_method_is_named_with_its_neighbour():
    network = Network(constants=affine(0))
    with pytest.raises(InputError, match="did you mean scafflix"):
        compare(network, plan_rows(network.constants, 0.1), method="scafix")
    assert set(METHODS) >= set(STANDARD)


@pytest.mark.parametrize("seed", range(6))
def test_the_break_even_precision_separates_gains_from_none(seed):
    constants = affine(seed, relative=0.05 * seed)
    some = False
    for entry in break_even(constants):
        at = entry.epsilon
        assert entry.first_peer > 0
        if at is None:
            continue
        some = True
        (below,) = (row for row in plan_rows(constants, at * (1 - 1e-6)) if row.client == entry.client)
        (above,) = (row for row in plan_rows(constants, at * (1 + 1e-6)) if row.client == entry.client)
        np.testing.assert_allclose(gain(constants, np.full(5, at * (1 + 1e-6)))[entry.client], above.speedup, rtol=1e-9)
        assert below.speedup <= 1 + 2e-9 < above.speedup
        for factor in np.geomspace(1e-4, 0.99, 5):
            (row,) = (row for row in plan_rows(constants, at * factor) if row.client == entry.client)
            assert row.speedup <= 1 + 2e-9
        assert entry.first_peer <= at * (1 + 1e-6)
    assert some


def test_identical_clients_pay_at_every_precision_and_strangers_at_none():
    n = 3
    identical = GradientDissimilarity(b2=np.zeros((n, n)), c=np.zeros((n, n)))
    same = Constants(mu=1.0, beta=1.0, sigma2=1.0, excess=1.0, heterogeneity=identical)
    assert [entry.epsilon for entry in break_even(same)] == [0.0] * n
    far = np.full((n, n), np.inf)
    np.fill_diagonal(far, 0)
    apart = Constants(
        mu=1.0, beta=1.0, sigma2=1.0, excess=1.0, heterogeneity=GradientDissimilarity(b2=far, c=np.zeros((n, n)))
    )
    assert [(entry.epsilon, entry.first_peer) for entry in break_even(apart)] == [(None, None)] * n
