"""APFL: mixtures of own and shared models, with a fixed and an adaptive mixture."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import (
    N,
    affine_error,
    assert_follows,
    assert_same_path,
    built,
    common,
    costs,
    equal_clients,
    randomness,
    simulated,
)

from suffice.bounds import InputError
from suffice.simulate import APFL, FedAvg, FixedWeights, Local, Quadratics, Stream, expected_excess, run

SIZES = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0, 2.0])
RULES = {
    "every step": APFL(mixture=0.3),
    "rounds": APFL(mixture=0.6, server=FedAvg(period=3, sizes=SIZES)),
    "sampled": APFL(mixture=0.6, server=FedAvg(period=2, participants=2)),
    "adaptive": APFL(mixture=0.4, adaptive=True),
    "adaptive rounds": APFL(mixture=0.4, adaptive=True, server=FedAvg(period=3)),
    "adaptive sampled": APFL(mixture=0.4, adaptive=True, server=FedAvg(period=2, participants=3)),
}


def apfl(rule: APFL, mixtures: list | None = None):
    fed = rule.server
    sizes = np.ones(N) if fed.sizes is None else fed.sizes.numpy()

    def path(seed, g, start):
        v, a, t = start.copy(), np.full(N, rule.mixture), 0
        w = np.tile(np.average(start, axis=0, weights=sizes), (N, 1))

        def output():
            if mixtures is not None:
                mixtures.append(a.copy())
            return a[:, None] * v + (1 - a)[:, None] * w

        yield output()
        while True:
            u = randomness(seed).uniform(iteration=t + 1, stream=Stream.COIN, clients=N, features=1)[0, :, 0]
            present = sorted(range(N), key=lambda i: u[i])[: fed.participants]
            for step in range(fed.period):
                t += 1
                for i in present:
                    mixed = g(i, a[i] * v[i] + (1 - a[i]) * w[i], t)
                    shared = g(i, w[i], t)
                    slope = mixed @ (v[i] - w[i])
                    v[i] = v[i] - 0.1 * a[i] * mixed
                    w[i] = w[i] - 0.1 * shared
                    if rule.adaptive and step == 0:
                        a[i] = min(max(a[i] - 0.1 * slope, 0), 1)
                if step == fed.period - 1:
                    w[:] = np.average(w[present], axis=0, weights=sizes[present])
                yield output()

    return path


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    mixtures: list[np.ndarray] = []
    assert_follows(RULES[name], apfl(RULES[name], mixtures))
    a = np.array(mixtures)
    if RULES[name].adaptive:
        assert (a == 0).any() or (a == 1).any()  # clipped somewhere
        assert ((a > 0) & (a < 1) & (a != 0.4)).any()
    else:
        assert (a == RULES[name].mixture).all()


@pytest.mark.parametrize("name", RULES)
def test_the_step_is_affine_exactly_when_the_mixture_is_fixed(name):
    rule = RULES[name]
    assert rule.linear is not rule.adaptive
    for t in (1, 2, 3):
        error = affine_error(rule, iteration=t)
        assert error > 1e-3 if rule.adaptive else error < 1e-13


@pytest.mark.parametrize("name", RULES)
def test_a_common_optimum_is_left_by_nobody(name):
    problem = common(built())
    path = simulated(RULES[name], problem, 8, 0.2)
    np.testing.assert_allclose(path, np.broadcast_to(problem.start.numpy(), path.shape), rtol=0, atol=1e-14)


def test_a_mixture_of_one_is_local_and_of_zero_is_fedavg():
    server = FedAvg(period=3, sizes=SIZES)
    assert_same_path(APFL(mixture=1.0, server=server), Local(), built())
    assert_same_path(APFL(mixture=0.0, server=server), server, built())
    assert_same_path(APFL(mixture=1), Local(), built(1))


def test_equal_clients_with_nothing_of_their_own_are_minibatch_sgd():
    minibatch = FixedWeights(alpha=torch.full((N, N), 1 / N, dtype=torch.float64))
    assert_same_path(APFL(mixture=0.0), minibatch, equal_clients())


def test_the_mixture_moves_once_per_round_and_towards_the_better_model():
    """Quiet clients at 0 and 4 (gradients x, x - 4): v is nearer to the own optimum than w is, so a rises."""
    problem = Quadratics.of(np.full((2, 1, 1), 0.5), [[0.0], [-4.0]], sigma2=0.0, start=[[0.5], [3.5]])
    rule = APFL(mixture=0.5, adaptive=True, server=FedAvg(period=3))
    state, a = rule.init(problem, problem.start[None]), []
    for t in range(1, 8):
        state = rule.step(problem, state, rule.draw(problem, randomness(0), t), torch.tensor(0.05, dtype=torch.float64))
        a.append(state["mixture"][0].numpy())
    assert np.array_equal(a[0], a[1])
    assert np.array_equal(a[0], a[2])
    assert (a[3] > a[2]).all()
    assert (a[2] > 0.5).all()
    # client 0: v = .5, w = 2, mixed gradient 1.25; a - eta <1.25, v - w> = .5 + .05 * 1.25 * 1.5
    np.testing.assert_allclose(a[0], 0.5 + 0.05 * 1.25 * 1.5, rtol=1e-14)


def test_costs_are_two_gradients_and_the_server_s_vectors():
    assert [costs(RULES["rounds"], t) for t in (1, 2, 3)] == [(2 * N, 0), (2 * N, 0), (2 * N, 2 * N)]
    assert [costs(RULES["adaptive sampled"], t) for t in (1, 2)] == [(6, 0), (6, 6)]


def test_exact_moments_are_those_of_simulated_paths():
    for rule in (RULES["rounds"], APFL(mixture=0.6, server=FedAvg(participants=5))):
        grid = [0, 1, 3, 4]
        exact = expected_excess(built(), rule, iterations=4, eta=0.1)[grid]
        trace = run(built(), rule, iterations=4, eta=0.1, seeds=4096, grid=grid)
        np.testing.assert_allclose(trace.mean()[0], exact[0], rtol=1e-12)
        # 18 numbers within 6 standard errors: false alarm below 1e-7
        assert np.abs((trace.mean() - exact)[1:] / trace.standard_error()[1:]).max() < 6
    with pytest.raises(ValueError, match=r"apfl.*not linear"):
        expected_excess(built(), RULES["adaptive"], iterations=2, eta=0.1)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("mixture", lambda: APFL(mixture=1.1)),
        ("mixture", lambda: APFL(mixture=-0.1)),
        ("mixture", lambda: APFL(mixture=float("nan"))),
        ("fine_tune_after", lambda: APFL(server=FedAvg(fine_tune_after=4))),
        ("sizes", lambda: APFL(server=FedAvg(sizes=torch.ones(2))).init(built(), built().start[None])),
    ],
)
def test_bad_input_is_named(field, make):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field
