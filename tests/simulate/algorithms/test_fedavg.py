"""Local SGD and FedAvg: rules by loops, sampling, sizes, clusters, fine-tuning, costs, exact moments."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import (
    CLUSTERS,
    SEEDS,
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
from suffice.simulate import FedAvg, FixedWeights, Local, LocalSGD, Quadratics, Randomness, Stream, expected_excess, run

LABELS = torch.tensor(CLUSTERS)
SIZES = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
RULES = {
    "local-sgd": LocalSGD(period=3),
    "local-sgd-oracle": LocalSGD(period=2, clusters=LABELS),
    "all": FedAvg(period=3, sizes=SIZES),
    "sampled": FedAvg(period=3, participants=2, sizes=SIZES),
    "sampled-clusters": FedAvg(period=2, participants=1, sizes=SIZES, clusters=LABELS),
    "tuned": FedAvg(period=2, participants=3, fine_tune_after=6),
}


def groups(rule) -> list[list[int]]:
    labels = [0] * N if rule.clusters is None else CLUSTERS
    return [[i for i in range(N) if labels[i] == g] for g in range(max(labels) + 1)]


def local_sgd(rule: LocalSGD):
    def path(seed, g, theta):
        yield theta
        t = 0
        while True:
            t += 1
            theta = np.array([theta[i] - 0.1 * g(i, theta[i], t) for i in range(N)])
            if t % rule.period == 0:
                for members in groups(rule):
                    theta[members] = theta[members].mean(0)
            yield theta

    return path


def fedavg(rule: FedAvg):
    sizes = np.ones(N) if rule.sizes is None else rule.sizes.numpy()

    def path(seed, g, start):
        server, x, t = [np.average(start[m], axis=0, weights=sizes[m]) for m in groups(rule)], start.copy(), 0
        present: list[list[int]] = []

        def deploy():
            for w, members in zip(server, groups(rule)):
                x[members] = w

        deploy()
        yield x.copy()
        while True:
            t += 1
            alone = rule.fine_tune_after is not None and t > rule.fine_tune_after
            if (t - 1) % rule.period == 0:  # a round begins
                u = randomness(seed).uniform(iteration=t, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
                present = [sorted(m, key=lambda i: u[i])[: rule.participants] for m in groups(rule)]
            for i in range(N) if alone else [i for drawn in present for i in drawn]:
                x[i] = x[i] - 0.1 * g(i, x[i], t)
            if t % rule.period == 0 and not alone:
                server = [np.average(x[p], axis=0, weights=sizes[p]) for p in present]
                deploy()
            yield x.copy()

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    rule = RULES[name]
    got = assert_follows(rule, local_sgd(rule) if isinstance(rule, LocalSGD) else fedavg(rule))
    assert np.ptp(got[rule.period][:, [0, 4]], axis=1).max() < 1e-12  # clients 0 and 4 share a cluster
    assert np.ptp(got[13], axis=1).max() > 0.1  # after an odd number of iterations they differ


@pytest.mark.parametrize("name", RULES)
def test_the_step_is_affine_in_every_iteration_of_a_round(name):
    assert RULES[name].linear
    for t in (1, 2, 3, 6, 7, 8):
        assert affine_error(RULES[name], iteration=t) < 1e-13


@pytest.mark.parametrize("name", RULES)
def test_a_common_optimum_is_left_by_nobody(name):
    problem = common(built())
    path = simulated(RULES[name], problem, 8, 0.2)
    # sizes need not sum to one exactly: one rounding per averaging
    np.testing.assert_allclose(path, np.broadcast_to(problem.start.numpy(), path.shape), rtol=0, atol=1e-14)


def test_one_client_is_local_sgd_and_local_is_a_period_never_reached():
    alone = built(1)
    for rule in (LocalSGD(period=2), FedAvg(period=2), FedAvg(participants=1)):
        assert_same_path(rule, Local(), alone)
    assert_same_path(LocalSGD(period=100), Local(), built())
    assert_same_path(LocalSGD(period=3, clusters=torch.arange(N)), Local(), built())
    assert_same_path(FedAvg(clusters=torch.arange(N), participants=1), Local(), built())


def test_equal_clients_averaged_every_iteration_are_minibatch_sgd():
    minibatch = FixedWeights(alpha=torch.full((N, N), 1 / N, dtype=torch.float64))
    for rule in (LocalSGD(), FedAvg(), FedAvg(participants=N)):
        assert_same_path(rule, minibatch, equal_clients())


def test_everybody_participating_from_a_common_start_is_local_sgd():
    assert_same_path(FedAvg(period=3), LocalSGD(period=3), equal_clients())
    assert_same_path(FedAvg(period=3, clusters=LABELS), LocalSGD(period=3, clusters=LABELS), equal_clients())
    assert_same_path(FedAvg(period=3, sizes=torch.full((N,), 7.0)), LocalSGD(period=3), equal_clients())


def test_an_oracle_is_one_run_per_cluster():
    """The runs on the sub-problems see other noise, so without noise."""
    A, xi, _, start = parts()
    problem = type(built()).of(A, xi, sigma2=0.0, start=start)
    together = simulated(LocalSGD(period=2, clusters=LABELS), problem, 9, 0.1)
    parted = groups(LocalSGD(clusters=LABELS))
    assert [len(members) for members in parted] == [4, 2]
    for members in parted:
        part = type(problem).of(A[members], xi[members], sigma2=0.0, start=start[members])
        np.testing.assert_allclose(together[:, :, members], simulated(LocalSGD(period=2), part, 9, 0.1), rtol=1e-12)


def test_sampling_is_uniform_constant_within_a_round_and_fresh_in_the_next():
    problem, many = built(), Randomness(seeds=torch.arange(8000))
    rule = FedAvg(period=3, participants=2, clusters=LABELS)
    masks = [rule.draw(problem, many, t).extra["participants"] for t in range(1, 7)]
    assert torch.equal(masks[0], masks[1])
    assert torch.equal(masks[0], masks[2])
    assert torch.equal(masks[3], masks[5])
    agree = (masks[2] == masks[3]).all(-1).double().mean()  # clusters of 4 and 2: one in six, and always
    assert abs(float(agree) - 1 / 6) < 6 * (5 / 36 / 8000) ** 0.5
    for members in groups(rule):
        assert (masks[0][:, members].sum(-1) == 2).all()
    pairs = (masks[0].double().T @ masks[0].double() / 8000).numpy()
    inside = [0, 2, 4, 5]
    spread = 6 * (1 / 4 / 8000) ** 0.5
    assert np.abs(np.diag(pairs)[inside] - 1 / 2).max() < spread
    assert np.abs(pairs[np.ix_(inside, inside)][~np.eye(4, dtype=bool)] - 1 / 6).max() < spread
    assert np.abs(pairs[np.ix_(inside, [1, 3])] - 1 / 2).max() < spread  # clusters are drawn independently


def test_costs_are_those_of_the_table():
    assert [costs(LocalSGD(period=3), t) for t in (1, 2, 3)] == [(N, 0), (N, 0), (N, 2 * N)]
    assert costs(LocalSGD(), 5) == (N, 2 * N)
    assert [costs(FedAvg(period=2, participants=2), t) for t in (1, 2)] == [(2, 0), (2, 4)]
    assert costs(FedAvg(participants=1, clusters=LABELS), 1) == (2, 4)
    tuned = FedAvg(period=2, fine_tune_after=4)
    assert [costs(tuned, t) for t in range(1, 7)] == [(N, 0), (N, 2 * N), (N, 0), (N, 2 * N), (N, 0), (N, 0)]
    sampled = FedAvg(period=2, participants=2, fine_tune_after=4)
    assert [costs(sampled, t) for t in (2, 4, 5)] == [(2, 4), (2, 2 + N), (N, 0)]
    trace = run(built(), FedAvg(period=2, participants=2), iterations=6, eta=0.1, seeds=2)
    assert (trace.oracle_calls[-1], trace.vectors_sent[-1]) == (12, 12)


EXACT = {
    "local-sgd": RULES["local-sgd"],
    "oracle": RULES["local-sgd-oracle"],
    "all": RULES["all"],
    "sampled": FedAvg(participants=2, sizes=SIZES),
    "tuned": FedAvg(period=2, clusters=LABELS, fine_tune_after=4),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_moments_are_those_of_simulated_paths(name):
    grid = [0, 1, 2, 3, 4, 7]
    exact = expected_excess(built(), EXACT[name], iterations=7, eta=0.1)[grid]
    trace = run(built(), EXACT[name], iterations=7, eta=0.1, seeds=4096, grid=grid)
    np.testing.assert_allclose(trace.mean()[0], exact[0], rtol=1e-12)
    # 30 numbers within 6 standard errors: false alarm below 1e-7
    assert np.abs((trace.mean() - exact)[1:] / trace.standard_error()[1:]).max() < 6


def test_local_sgd_on_equal_clients_has_the_variance_of_the_mean():
    """In one dimension, H = 2: both steps contract by m = 1 - 2 a eta, the averaged noise has variance s2 / N."""
    a, s2, eta, n = 0.7, 1.3, 0.2, 5
    problem = type(built()).of(np.full((n, 1, 1), a), np.zeros((n, 1)), sigma2=s2, start=[1.0])
    got = expected_excess(problem, LocalSGD(period=2), iterations=4, eta=eta)
    m2, v = (1 - 2 * a * eta) ** 2, eta**2 * s2
    at2 = v / n * (m2 + 1)
    expected = a * np.array([1, m2 + v, m2**2 + at2, m2**3 + m2 * at2 + v, m2**4 + m2**2 * at2 + at2])
    np.testing.assert_allclose(got, expected[:, None].repeat(n, 1), rtol=1e-12)


def test_participants_stay_for_a_round():
    """One of two clients without noise, two local steps a round: both paths of two rounds by hand, four equally likely
    for the server; a client that would be drawn anew in each step would reach other points."""
    a, eta = np.array([0.5, 2.0]), 0.1
    problem = Quadratics.of(a[:, None, None] / 2, [[0.0], [0.0]], sigma2=0.0, start=[1.0])
    got = expected_excess(problem, FedAvg(participants=1, period=2), iterations=4, eta=eta)
    keep = (1 - eta * a) ** 2
    mean = keep.mean(), (keep**2).mean(), np.array([(k * m) ** 2 for k in keep for m in keep]).mean()
    np.testing.assert_allclose(got[2], a / 2 * mean[1], rtol=1e-12)
    np.testing.assert_allclose(got[4], a / 2 * mean[2], rtol=1e-12)
    # within a round the copy of a client that is not drawn stays
    np.testing.assert_allclose(got[1], a / 2 * (1 + keep) / 2, rtol=1e-12)


def test_too_many_possible_draws_are_refused():
    with pytest.raises(InputError, match="184756 possible draws"):
        FedAvg(participants=10).outcomes(built(20), 1)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("period", lambda: FedAvg(period=0)),
        ("period", lambda: LocalSGD(period=1.5)),
        ("period", lambda: LocalSGD(period=True)),
        ("participants", lambda: FedAvg(participants=0)),
        ("participants", lambda: FedAvg(participants=N + 1)),
        ("participants", lambda: FedAvg(participants=3, clusters=LABELS)),
        ("fine_tune_after", lambda: FedAvg(fine_tune_after=-1)),
        ("fine_tune_after", lambda: FedAvg(period=4, fine_tune_after=6)),
        ("sizes", lambda: FedAvg(sizes=torch.ones(N - 1))),
        ("sizes", lambda: FedAvg(sizes=torch.arange(N))),
        ("sizes", lambda: FedAvg(sizes=torch.full((N,), torch.nan))),
        ("clusters", lambda: LocalSGD(clusters=torch.zeros(N))),
        ("clusters", lambda: LocalSGD(clusters=torch.zeros(N + 1, dtype=torch.int64))),
        ("clusters", lambda: FedAvg(clusters=torch.tensor([0, 0, 2, 2, 0, 0]))),
        ("clusters", lambda: FedAvg(clusters=torch.tensor([0, -1, 0, 1, 0, 0]))),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        make().init(built(), built().start[None])
    assert caught.value.field == field


def test_float32_takes_the_same_steps():
    single, double = built().to(torch.float32), built()
    for rule in RULES.values():
        for t in (1, 2, 3):
            states = []
            for problem in (single, double):
                state = rule.init(problem, problem.start.expand(len(SEEDS), -1, -1))
                draw = rule.draw(problem, Randomness(seeds=torch.tensor(SEEDS)), t)
                states.append(rule.step(problem, state, draw, torch.tensor(0.1, dtype=problem.dtype))["models"])
            assert states[0].dtype == torch.float32
            np.testing.assert_allclose(states[0], states[1], rtol=1e-5, atol=1e-5)  # a dozen single roundings
    assert states[0].shape == (len(SEEDS), N, D)
