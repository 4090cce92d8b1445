"""CoBo's learned weights: clusters found, and the same paths as the runner's."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.figures import figure
from suffice.figures.cobo_5 import CLUSTERS, SIZE, example

CLIENTS = CLUSTERS * SIZE


@pytest.fixture(scope="module")
def drawn():
    return figure("cobo-5", seeds=2, iterations=500, noises=(0.0,))


def test_everybody_starts_connected_and_the_clusters_are_found(drawn):
    accuracy = drawn.data["0 | constant | accuracy"]["value"]
    connected = SIZE - 1, CLIENTS - 1  # right pairs when all weights are 1
    np.testing.assert_allclose(accuracy[0], connected[0] / connected[1], rtol=1e-12)
    assert accuracy[-1] == 1


def test_sampling_with_one_over_t_hardly_moves(drawn):
    # the chances 1/t of 500 iterations sum to 7 updates a pair; 1/N gives 31
    assert drawn.data["0 | mixed | accuracy"]["value"][-1] < 0.5


def test_last_matrix_is_the_block_diagonal(drawn):
    cluster = np.repeat(np.arange(CLUSTERS), SIZE)
    for i in range(CLIENTS):
        for k in set(range(CLIENTS)) - {i}:
            last = drawn.data[f"0 | constant | w {i} {k}"]["value"][-1]
            assert (last > 0.5) == (cluster[i] == cluster[k])


def test_weights_are_those_of_the_runner():
    from suffice.figures.cobo_5 import WEIGHT_STEP, _weights
    from suffice.simulate import CoBo, run

    problem, grid = example(0.1), np.array([1, 20, 60])
    beta = float(problem.constants().beta.max())
    rule = CoBo(rho=np.sqrt(3) * beta / SIZE, weight_step=WEIGHT_STEP, sampling="constant")
    eta = 1 / (2 * rule.rho * CLIENTS)
    trace = run(problem, rule, iterations=60, eta=eta, seeds=1, grid=grid.tolist(), weights=range(1))
    # other block sizes differ by rounding
    np.testing.assert_allclose(_weights(0.1, "constant", 1, grid), trace.weights, rtol=0, atol=1e-9)


def test_refusals():
    with pytest.raises(InputError, match="iterations"):
        figure("cobo-5", iterations=10)
