"""Scafflix: starts, steps and constants, the former with its second moments, coins included."""

from __future__ import annotations

import numpy as np
import pytest
from records import bound_of, definition_of  # tests/helpers

from suffice.bounds.scafflix_settings import (
    Steps,
    equalised_steps,
    initial_control_variates,
    paper_steps,
    released_steps,
)


def define(key, edition="corrected", **values):
    return definition_of("scafflix")(key, edition)(**values)


bound = bound_of("scafflix")


class Clients:
    """f_i(x) = (x - c_i)^T H_i (x - c_i) / 2 in R^d with weights alpha_i, anchors y_i and gradient noise Q_i.

    Mixed optimum: sum_i alpha_i H_i (alpha_i x + (1 - alpha_i) y_i - c_i) = 0.
    """

    def __init__(self, H, c, y, alpha, Q=None):
        self.H, self.c, self.y, self.alpha = (np.asarray(value, dtype=float) for value in (H, c, y, alpha))
        self.n, self.d = self.c.shape
        self.Q = np.zeros_like(self.H) if Q is None else Q
        eigenvalues = np.linalg.eigvalsh(self.H)
        self.mu, self.L = eigenvalues[:, 0], eigenvalues[:, -1]
        self.C = np.trace(self.Q, axis1=1, axis2=2)
        right = np.einsum("i,ijk,ik->j", self.alpha, self.H, self.c - (1 - self.alpha)[:, None] * self.y)
        self.optimum = np.linalg.solve(self.mixed_hessian() * self.n, right)
        self.h = self.gradients(self.optimum)

    def mixed_hessian(self):
        return np.einsum("i,ijk->jk", self.alpha**2, self.H) / self.n

    def personalised(self, x):
        """alpha_i x_i + (1 - alpha_i) y_i of models x (d,) or (n, d)."""
        return self.alpha[:, None] * x + (1 - self.alpha)[:, None] * self.y

    def gradients(self, x):
        """grad f_i at the personalised models."""
        return np.einsum("ijk,ik->ij", self.H, self.personalised(x) - self.c)

    def outcomes(self, steps):
        """(probability, A, B) of the coin: e -> A e + B noise for e = (x_i - x*, h_i - h_i*), stacked."""
        n, d, eye = self.n, self.d, np.eye(self.n * self.d)
        local = np.hstack([eye - _wide(steps.eta, d) @ _blocks(self.H), _wide(steps.eta / self.alpha, d)])
        shock = -_wide(steps.eta / self.alpha, d)
        mean = np.kron(np.outer(np.ones(n), self.weights(steps)), np.eye(d))
        keep = np.hstack([0 * eye, eye])
        lift = _wide(steps.p * self.alpha / steps.eta, d) @ (mean - eye)
        yield steps.p, np.vstack([mean @ local, keep + lift @ local]), np.vstack([mean @ shock, lift @ shock])
        yield 1 - steps.p, np.vstack([local, keep]), np.vstack([shock, 0 * eye])

    def weights(self, steps):
        return self.alpha**2 / steps.eta / (self.alpha**2 / steps.eta).sum()

    def start(self, x, h):
        return np.concatenate([np.broadcast_to(x, (self.n, self.d)) - self.optimum, h - self.h]).ravel()

    def moments(self, steps, x, h, T):
        """E[e e^T] at t = 0..T from models x and control variates h."""
        e, outcomes, Q = self.start(x, h), list(self.outcomes(steps)), _blocks(self.Q)
        M = np.outer(e, e)
        yield M
        for _ in range(T):
            M = sum(q * (A @ M @ A.T + B @ Q @ B.T) for q, A, B in outcomes)
            yield M

    def moments_after(self, steps, x, h, T):
        """E[e e^T] after T iterations, by powers of the linear map of (vec M, 1)."""
        e, size, Q = self.start(x, h), (2 * self.n * self.d) ** 2, _blocks(self.Q)
        step = np.zeros((size + 1, size + 1))
        step[-1, -1] = 1
        for q, A, B in self.outcomes(steps):
            step[:-1, :-1] += q * np.kron(A, A)
            step[:-1, -1] += q * (B @ Q @ B.T).ravel()
        after = np.linalg.matrix_power(step, T) @ np.append(np.outer(e, e).ravel(), 1)
        return after[:-1].reshape(len(e), len(e))

    def distances(self, M):
        """E|x~_i - x~_i*|^2 and E|h_i - h_i*|^2, each (n,)."""
        model, control = np.diag(M).reshape(2, self.n, self.d).sum(-1)
        return self.alpha**2 * model, control

    def lyapunov(self, steps, M):
        model, control = self.distances(M)
        return steps.eta.min() / self.n * (model / steps.eta + steps.eta / steps.p**2 * control).sum()

    def excess(self, steps, M):
        """E f~(xbar) - f~*."""
        size, mean = self.n * self.d, np.kron(self.weights(steps), np.eye(self.d))
        return np.trace(self.mixed_hessian() @ mean @ M[:size, :size] @ mean.T) / 2

    def constants(self):
        return {"A": self.L, "C": self.C, "mu": self.mu}


def _wide(v, d):
    return np.diag(np.repeat(v, d))


def _blocks(matrices):
    n, d, _ = matrices.shape
    out = np.zeros((n, d, n, d))
    out[np.arange(n), :, np.arange(n)] = matrices
    return out.reshape(n * d, n * d)


def draw(seed, *, n=3, d=2, condition=30.0, noise=1.0):
    """Random clients, condition numbers up to `condition`, anchors away from the local optima."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    top = np.exp(rng.uniform(-1.5, 1.5, (n, 1)))
    values = top * np.exp(-rng.uniform(0, np.log(condition), (n, d)))
    H = np.einsum("nij,nj,nkj->nik", Q, values, Q)
    shock = rng.normal(size=(n, d, d)) * np.exp(rng.uniform(-3, 1, (n, 1, 1))) * noise
    clients = Clients(
        H=(H + H.swapaxes(1, 2)) / 2,
        c=rng.normal(size=(n, d)) * 3,
        y=rng.normal(size=(n, d)) * 3,
        alpha=rng.uniform(0.1, 1, n),
        Q=shock @ shock.swapaxes(1, 2),
    )
    return clients, rng


# --- Theorems 1 and 2 -----------------------------------------------------------------------------------


TWO = Clients(H=np.ones((2, 1, 1)), c=[[0.0], [2.0]], y=[[0.0], [2.0]], alpha=[1.0, 0.5])
"""f_1 = x^2/2 and f_2 = (x - 2)^2/2 with weights 1 and 1/2: x* = 0.4."""


# --- the start ------------------------------------------------------------------------------------------


def test_the_gradients_as_control_variates_freeze_the_models():
    x = np.zeros(1)
    steps = Steps(eta=np.array([0.5, 1.0]), p=0.3)
    frozen = list(TWO.moments(steps, x, TWO.gradients(x), 50))
    np.testing.assert_allclose(frozen[-1], frozen[0], rtol=1e-13)
    moving = list(
        TWO.moments(steps, x, initial_control_variates(TWO.gradients(x), eta=steps.eta, alpha=TWO.alpha), 400)
    )
    np.testing.assert_allclose(np.diag(moving[-1])[:2], 0, atol=1e-14)


def test_initial_control_variates_are_the_projection_and_the_start_is_within_its_bound():
    for seed in range(200):
        clients, rng = draw(seed, condition=50)
        eta, p, x = rng.uniform(0.01, 1, 3) / clients.L, rng.uniform(0.05, 1), rng.normal(size=2) * 3
        g = clients.gradients(x)
        h = initial_control_variates(g, eta=eta, alpha=clients.alpha)
        np.testing.assert_allclose(clients.alpha @ h, 0, atol=1e-13 * np.abs(g).sum())
        # the nearest point of {alpha @ h = 0} in the norm sum eta_i |h_i|^2, by least squares on a basis
        basis = np.linalg.svd(clients.alpha[None])[2][1:].T
        root = np.sqrt(eta)[:, None]
        nearest = basis @ np.linalg.lstsq(root * basis, root * g, rcond=None)[0]
        np.testing.assert_allclose(h, nearest, rtol=1e-9, atol=1e-10 * np.abs(g).max())
        steps = Steps(eta=eta, p=p)
        start = next(clients.moments(steps, x, h, 0))
        distance2 = ((x - clients.optimum) ** 2).sum()
        assert clients.lyapunov(steps, start) <= start_bound(clients, steps, distance2) * (1 + 1e-12)
        model, control = clients.distances(start)
        Psi = define("lyapunov", model_distance2=model, control_distance2=control, eta=eta, p=p)
        np.testing.assert_allclose(Psi, clients.lyapunov(steps, start), rtol=1e-13)


def start_bound(clients, steps, distance2):
    return bound(
        "initial-lyapunov",
        eta_min=steps.eta.min(),
        p=steps.p,
        distance2=distance2,
        inverse_step=define("inverse-step", alpha=clients.alpha, eta=steps.eta),
        stiffness=define("stiffness", alpha=clients.alpha, eta=steps.eta, beta=clients.L),
    )


def test_the_bound_of_the_start_is_nearly_attained():
    clients = Clients(H=np.ones((2, 1, 1)), c=[[0.0], [2.0]], y=np.zeros((2, 1)), alpha=[1.0, 1.0])
    steps = Steps(eta=np.array([1.0, 1e-4]), p=1e-3)
    x = clients.optimum + 1
    h = initial_control_variates(clients.gradients(x), eta=steps.eta, alpha=clients.alpha)
    ratio = clients.lyapunov(steps, next(clients.moments(steps, x, h, 0))) / start_bound(clients, steps, 1.0)
    assert 0.999 < ratio <= 1


# --- the corollaries and their steps --------------------------------------------------------------------


def test_rules_of_the_steps_have_the_contraction_and_the_floor_that_they_promise():
    ratios = []
    for seed in range(200):
        clients, rng = draw(seed, n=6)
        constants, eps = clients.constants(), 10.0 ** rng.uniform(-3, 0)
        top = clients.mu.max()
        paper, equal = paper_steps(eps_Psi=2 * eps / top, **constants), equalised_steps(eps_mu=eps, **constants)
        for steps in (paper, equal):
            given = steps.arguments(**constants)
            assert given["reach"] <= 1 + 1e-15
            np.testing.assert_allclose(given["contraction"], steps.p**2, rtol=1e-14)
            assert given["eta_min"] * given["noise"] / given["contraction"] <= eps / top * (1 + 1e-14)
        np.testing.assert_allclose(equal.eta * clients.mu, equal.p**2, rtol=1e-14)
        ratios.append(equal.p**2 / paper.p**2)
    # both reach eps in the mean of mu_i |x_i - x_i*|^2 / 2: a mean of the clients' noise replaces the largest
    assert np.min(ratios) >= 1 - 1e-14
    assert np.median(ratios) > 5
    quiet = paper_steps(A=clients.L, C=0, mu=clients.mu, eps_Psi=1e-9)
    np.testing.assert_array_equal(quiet.eta, 1 / clients.L)
    assert quiet.p == pytest.approx(np.sqrt((clients.mu / clients.L).min()), rel=1e-15)


def test_the_released_code_takes_a_mean_where_the_largest_constant_is_needed():
    L = np.array([100.0] + [1.0] * 7)
    clients = Clients(H=L[:, None, None], c=np.arange(8.0)[:, None], y=np.zeros((8, 1)), alpha=np.ones(8))
    steps = released_steps(L=L, mu=0.1, alpha=1.0)
    reach = steps.arguments(A=L, C=0.0, mu=0.1)["reach"]
    assert reach == pytest.approx(100 / 13.375, rel=1e-14)
    late = [clients.lyapunov(steps, clients.moments_after(steps, 0.0, np.zeros((8, 1)), T)) for T in (20, 21)]
    assert late[1] / late[0] > 30  # 38 times per iteration
    np.testing.assert_allclose(released_steps(L=2.0, mu=0.1, alpha=[0.1, 0.1]).eta, 0.5, rtol=1e-14)


def test_constants_of_the_mixed_objective_bound_its_hessian():
    for seed in range(50):
        clients, _ = draw(seed)
        low, high = np.linalg.eigvalsh(clients.mixed_hessian())[[0, -1]]
        assert define("flix-strong-convexity", alpha=clients.alpha, mu=clients.mu) <= low * (1 + 1e-12)
        assert high <= define("flix-smoothness", alpha=clients.alpha, beta=clients.L) * (1 + 1e-12)
    same = np.full(3, 2.0)
    assert define("flix-smoothness", alpha=np.ones(3), beta=same) == 2


def test_definitions_of_the_corollaries_are_the_largest_and_the_mean_they_say():
    A, C, mu = np.array([2.0, 6.0, 3.0]), np.array([4.0, 1.0, 0.0]), np.array([1.0, 2.0, 0.5])
    assert define("condition-number", A=A, mu=mu) == 6
    assert define("largest-noise", C=C, mu=mu) == 4
    assert define("mean-noise", C=C, mu=mu) == 1.5
