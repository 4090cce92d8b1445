"""Ditto: personal models pulled towards the last received server model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import (
    CLUSTERS,
    D,
    N,
    affine_error,
    assert_follows,
    assert_same_path,
    built,
    common,
    costs,
    equal_clients,
    parts,
    randomness,
    simulated,
)

from suffice.bounds import InputError
from suffice.simulate import Ditto, FedAvg, Local, Quadratics, Stream, expected_excess, run
from suffice.simulate.algorithms import MinibatchSGD, Scaffold

SIZES = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
RULES = {
    "every step": Ditto(pull=0.7),
    "rounds": Ditto(pull=0.7, server=FedAvg(period=3, sizes=SIZES)),
    "sampled": Ditto(pull=1.5, server=FedAvg(period=2, participants=2)),
    "clusters": Ditto(pull=1.5, server=FedAvg(period=2, clusters=torch.tensor(CLUSTERS))),
}


def ditto(rule: Ditto):
    """One server unless clusters; w is broadcast when a round begins."""
    lam, fed = rule.pull, rule.server
    sizes = np.ones(N) if fed.sizes is None else fed.sizes.numpy()
    labels = np.zeros(N, dtype=int) if fed.clusters is None else np.array(CLUSTERS)
    groups = [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]

    def path(seed, g, start):
        v, t = start.copy(), 0
        server = [np.average(start[m], axis=0, weights=sizes[m]) for m in groups]
        yield v.copy()
        while True:
            received = [server[label].copy() for label in labels]
            w = [r.copy() for r in received]
            u = randomness(seed).uniform(iteration=t + 1, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
            present = [sorted(m, key=lambda i: u[i])[: fed.participants] for m in groups]
            for _ in range(fed.period):
                t += 1
                for i in np.concatenate(present):
                    v[i] = v[i] - 0.1 * (g(i, v[i], t) + lam * (v[i] - received[i]))
                    w[i] = w[i] - 0.1 * g(i, w[i], t)
                yield v.copy()
            server = [np.average([w[i] for i in p], axis=0, weights=sizes[p]) for p in present]

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    assert_follows(RULES[name], ditto(RULES[name]))


@pytest.mark.parametrize("name", RULES)
def test_the_step_is_affine(name):
    assert RULES[name].linear
    for t in (1, 2, 3):
        assert affine_error(RULES[name], iteration=t) < 1e-13


@pytest.mark.parametrize("name", RULES)
def test_a_common_optimum_is_left_by_nobody(name):
    problem = common(built())
    path = simulated(RULES[name], problem, 8, 0.2)
    np.testing.assert_allclose(path, np.broadcast_to(problem.start.numpy(), path.shape), rtol=0, atol=1e-14)


def test_without_a_pull_it_is_local_and_one_client_without_a_pull_is_sgd():
    assert_same_path(Ditto(pull=0.0, server=FedAvg(period=3)), Local(), built())
    assert_same_path(Ditto(pull=0), Local(), built(1))


def test_the_pull_is_towards_the_model_received_not_the_copy_or_the_newest():
    """Equal quiet clients: pulled towards its copy w_i, v would stay with it; w is that of the round's start."""
    A, xi = np.full((2, 1, 1), 0.5), np.zeros((2, 1))  # the gradient at x is x
    problem = Quadratics.of(A, xi, sigma2=0.0, start=[1.0])
    got = simulated(Ditto(pull=1.0, server=FedAvg(period=2)), problem, 3, 0.1)[:, 0, 0, 0]
    second = 0.9 - 0.1 * (0.9 + (0.9 - 1.0))
    np.testing.assert_allclose(got, [1, 0.9, second, second - 0.1 * (second + second - 0.81)], rtol=1e-13)


def test_at_rest_the_server_is_fedavg_s_and_the_models_lie_between_it_and_the_own_optimum():
    """sum_i grad R_i(w) = 0 and (2 A_i + lam) v_i = lam w - 2 A_i xi_i are left alone, and nothing nearby."""
    A, xi, _, start = parts()
    quiet, lam = Quadratics.of(A, xi, sigma2=0.0, start=start), 4.0
    w = np.linalg.solve(A.sum(0), -np.einsum("ide,ie->d", A, xi))
    v = np.array([np.linalg.solve(2 * A[i] + lam * np.eye(D), lam * w - 2 * A[i] @ xi[i]) for i in range(N)])
    rest = {"models": v[None], "copies": np.tile(w, (1, N, 1)), "server": w[None, None]}
    for moved in (None, "models", "server"):
        state = {name: torch.from_numpy(value + (name == moved)) for name, value in rest.items()}
        rule = Ditto(pull=lam)
        step = rule.step(quiet, state, rule.draw(quiet, randomness(0), 1), torch.tensor(0.1, dtype=torch.float64))
        change = float((step["models"] - state["models"]).abs().max())
        assert change > 0.1 if moved else change < 1e-14


def test_costs_are_two_gradients_and_the_server_s_vectors():
    assert [costs(RULES["rounds"], t) for t in (1, 2, 3)] == [(2 * N, 0), (2 * N, 0), (2 * N, 2 * N)]
    assert [costs(RULES["sampled"], t) for t in (1, 2)] == [(4, 0), (4, 4)]


def test_exact_moments_are_those_of_simulated_paths():
    for rule in (RULES["rounds"], Ditto(pull=1.0, server=FedAvg(participants=5))):
        grid = [0, 1, 3, 4]
        exact = expected_excess(built(), rule, iterations=4, eta=0.1)[grid]
        trace = run(built(), rule, iterations=4, eta=0.1, seeds=4096, grid=grid)
        np.testing.assert_allclose(trace.mean()[0], exact[0], rtol=1e-12)
        # 18 numbers within 6 standard errors: false alarm below 1e-7
        assert np.abs((trace.mean() - exact)[1:] / trace.standard_error()[1:]).max() < 6


def test_equal_clients_follow_the_closed_form_of_two_coupled_recursions():
    """H = 1: v - w contracts by 1 - eta (2A + lam) with the noise of v less the mean noise."""
    problem, lam, eta = equal_clients(), 0.7, 0.1
    got = expected_excess(problem, Ditto(pull=lam), iterations=20, eta=eta)
    A, s2 = problem.A[0].numpy(), problem.sigma2.numpy()
    delta = (problem.start[0] - problem.optimum[0]).numpy()
    eye, d = np.eye(3), 3
    M = np.block([[eye - eta * (2 * A + lam * eye), eta * lam * eye], [np.zeros((d, d)), eye - 2 * eta * A]])
    for i in range(N):
        own, mean, cross = s2[i] / d, s2.sum() / N**2 / d, s2[i] / N / d
        Q = eta**2 * np.block([[own * eye, cross * eye], [cross * eye, mean * eye]])
        P = np.outer(np.tile(delta, 2), np.tile(delta, 2))
        for t in range(21):
            np.testing.assert_allclose(got[t, i], np.trace(A @ P[:d, :d]), rtol=1e-11)
            P = M @ P @ M.T + Q


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("pull", lambda: Ditto(pull=-0.1)),
        ("pull", lambda: Ditto(pull=float("nan"))),
        ("pull", lambda: Ditto(pull=float("inf"))),
        ("fine_tune_after", lambda: Ditto(server=FedAvg(fine_tune_after=4))),
        ("server", lambda: Ditto(server=Scaffold())),
        ("server", lambda: Ditto(server=MinibatchSGD())),
        ("participants", lambda: Ditto(server=FedAvg(participants=7)).init(built(), built().start[None])),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field
