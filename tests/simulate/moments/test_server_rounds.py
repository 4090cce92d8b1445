"""Moments of a server's model against the probed moment map of the algorithms themselves."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.simulate.algorithms import AllForAll, FedAvg, FedProx
from suffice.simulate.moments.gradient_moments import moments_at
from suffice.simulate.moments.server_rounds import ServerRounds, fastest_step, first_round

RTOL = 1e-11  # tens of steps


def quadratics(seed=0, clients=4):
    rng = np.random.default_rng(seed)
    A = np.stack([np.diag(rng.uniform(0.2, 1, 2)) + 0.1 for _ in range(clients)])
    return sf.Quadratics.of(A, rng.normal(size=(clients, 2)), sigma2=1.0, start=3 * rng.normal(size=2))


def table(seed=1):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(12, 2)) for _ in range(3)]
    return sf.from_arrays(X, [x @ [1.0, 2.0] + rng.normal(size=12) for x in X])


def curves(rounds, eta, count):
    z = moments_at(rounds.moments.start.mean(0))
    (M,) = rounds.matrices(np.array([eta]))
    found = [rounds.losses @ z]
    for _ in range(count):
        z = M @ z
        found.append(rounds.losses @ z)
    return np.array(found)


@pytest.mark.parametrize(("make", "eta"), [(quadratics, 0.2), (table, 0.05)])
@pytest.mark.parametrize(("steps", "absent", "pull"), [(1, 0, 0.0), (3, 2, 0.0), (2, 0, 0.5), (3, 1, 0.7)])
def test_rounds_are_those_of_the_algorithm(make, eta, steps, absent, pull):
    problem = make()
    present = problem.clients - absent
    rounds = ServerRounds(moments=problem.gradient_moments(), steps=steps, participants=present, pull=pull)
    how = {"period": steps, "participants": present}
    algorithm = FedProx(pull=pull, **how) if pull else FedAvg(**how)
    wanted = sf.expected_excess(problem, algorithm, iterations=4 * steps, eta=eta)[::steps]
    np.testing.assert_allclose(curves(rounds, eta, 4), wanted, rtol=RTOL)


def test_servers_of_disjoint_clients_are_all_for_all():
    problem, eta = quadratics(), 0.15
    moments = problem.gradient_moments()
    wanted = sf.expected_excess(problem, AllForAll.clusters([0, 1, 1, 1]), iterations=30, eta=eta)
    servers = [ServerRounds(moments=moments.only(part), participants=len(part)) for part in ([0], [1, 2, 3])]
    found = first_round(servers, np.array([eta]), wanted[20].mean() * (1 + 1e-9), 30)
    assert found.rounds == int(np.argmax(wanted.mean(1) <= wanted[20].mean() * (1 + 1e-9)))
    np.testing.assert_allclose(found.excess, wanted[found.rounds], rtol=RTOL)


def test_no_step_is_faster_than_the_best_one_by_more_than_a_round():
    problem = table()
    rounds = ServerRounds(moments=problem.gradient_moments(), steps=4, participants=3)
    epsilon = 0.2 * float(rounds.moments.excess.mean())
    best = fastest_step([rounds], 1.0, epsilon, 500)
    dense = [first_round([rounds], np.array([eta]), epsilon, 500).rounds for eta in np.geomspace(1e-3, 2, 300)]
    assert best.rounds is not None
    assert best.rounds <= min(one for one in dense if one is not None) + 1


def test_where_none_arrives_the_least_mean_is_told():
    problem = quadratics()
    rounds = ServerRounds(moments=problem.gradient_moments(), participants=4)
    found = fastest_step([rounds], 1.0, 1e-3, 300)  # one model for four different optima
    assert found.rounds is None
    assert 1e-3 < found.least < float(rounds.moments.excess.mean())
