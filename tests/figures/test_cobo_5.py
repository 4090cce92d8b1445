"""CoBo's learned weights: clusters found, and the same paths as the runner's."""

from __future__ import annotations

import re

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.figures import figure
from suffice.figures.cobo_5 import WEIGHT_STEP, _message, example, learned

CLUSTERS, SIZE = 4, 4
CLIENTS = CLUSTERS * SIZE


@pytest.fixture(scope="module")
def drawn():
    return figure("cobo-5", seeds=2, iterations=500, noises=(0.0,))


def test_everybody_starts_connected_and_the_clusters_are_found(drawn):
    accuracy = drawn.data["0 | constant | all | all"]["right"]
    connected = SIZE - 1, CLIENTS - 1  # right pairs when all weights are 1
    np.testing.assert_allclose(accuracy[0], connected[0] / connected[1], rtol=1e-12)
    assert accuracy[-1] == 1


def test_sampling_with_one_over_t_hardly_moves(drawn):
    # the chances 1/t of 500 iterations sum to 7 updates a pair; 1/N gives 31
    assert drawn.data["0 | mixed | all | all"]["right"][-1] < 0.5


def test_the_headline_says_how_both_samplings_end(drawn):
    """In tenths of a percent, rounded down: neither is said of the other."""
    message = _message(drawn)
    for sampling in ("constant", "mixed"):
        share = 100 * drawn.data[f"0 | {sampling} | all | all"]["right"][-1]
        (shown,) = re.findall(rf"{sampling}(?: sampling)?: ([0-9.]+) %", message)
        assert float(shown) <= share < float(shown) + 0.1


@pytest.mark.parametrize(("noise", "sampling"), [(0.0, "mixed"), (0.1, "constant")])
def test_weights_are_those_of_the_runner(noise, sampling):
    from suffice.simulate import CoBo, generators, run

    problem, grid = example(CLIENTS, CLUSTERS, 10, 2.0), np.array([1, 20, 60])
    ours = learned(problem, SIZE, (0.0, noise), (0, 1), grid, lambda done, total: None)
    beta, start = float(problem.constants().beta.max()), problem.start[0].numpy()
    rule = CoBo(rho=np.sqrt(3) * beta / SIZE, weight_step=WEIGHT_STEP, sampling=sampling, horizon=60)
    noisy = generators.cobo_example(CLUSTERS, SIZE, 10, distance=2.0, sigma2=noise**2, start=start)
    eta = 1 / (2 * rule.rho * CLIENTS)
    trace = run(noisy, rule, iterations=60, eta=eta, seeds=2, grid=grid.tolist(), weights=range(2))
    # products of models of size 8 are rounded in another order
    theirs = np.asarray(trace.weights)
    np.testing.assert_allclose(ours[1, ("constant", "mixed").index(sampling)], theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("options", [{"iterations": 0}, {"clients": 7}, {"noises": (1.0, 1.0)}, {"noises": (-1.0,)}])
def test_refusals(options):
    with pytest.raises(InputError, match=next(iter(options))):
        figure("cobo-5", **options)
