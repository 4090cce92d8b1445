"""Heavy ball and Nesterov's method: the printed recursions, and the rates that they are known for."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, assert_follows, assert_same_path, built, costs

from suffice.bounds import InputError
from suffice.simulate import Local, Quadratics, expected_excess
from suffice.simulate.algorithms import Momentum


def momentum(q: float, *, ahead: bool):
    def path(seed, g, start):
        x, before, t = start.copy(), start.copy(), 0
        yield x
        while True:
            t += 1
            y = x + q * (x - before)
            at = y if ahead else x
            x, before = np.array([y[i] - 0.1 * g(i, at[i], t) for i in range(N)]), x
            yield x

    return path


@pytest.mark.parametrize("ahead", [False, True])
def test_paths_are_those_of_a_plain_transcription(ahead):
    rule = Momentum.nesterov(weight=0.7) if ahead else Momentum(weight=0.7)
    assert_follows(rule, momentum(0.7, ahead=ahead))


def test_without_weight_it_is_every_client_alone():
    assert_same_path(Momentum(weight=0.0), Local(), built())
    assert_same_path(Momentum.nesterov(weight=0.0), Local(), built())


def test_both_have_their_textbook_rates_on_a_quadratic():
    """kappa = 100: sqrt(q) = (10 - 1)/(10 + 1) at eta = 4/(sqrt mu + sqrt beta)^2, and 1 - 1/10 at eta = 1/beta."""
    problem = Quadratics.of([np.diag([0.5, 50.0])], [[0.0, 0.0]], sigma2=0.0, start=[1.0, 1.0])
    q = (9 / 11) ** 2
    for rule, eta, rate in (
        (Momentum(weight=q), 4 / 11**2, 9 / 11), (Momentum.nesterov(weight=9 / 11), 0.01, 0.9),
    ):  # fmt: skip
        # e_T = O(T^2 rate^(2 T)): the rate from T to 2 T tends to it
        excess = expected_excess(problem, rule, iterations=120, eta=eta)[:, 0]
        seen = (excess[120] / excess[60]) ** (1 / 120)
        assert rate - 0.02 < seen < rate + 0.02
        assert expected_excess(problem, Local(), iterations=120, eta=0.01)[120, 0] > 100 * excess[120]


def test_nothing_is_sent_and_bad_input_is_named():
    assert costs(Momentum(), 3) == (N, 0)
    with pytest.raises(InputError, match=r"^weight = 1"):
        Momentum(weight=1.0)
