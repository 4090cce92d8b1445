"""FedAMP: paths against a plain transcription, its limits, and what a round costs."""

from __future__ import annotations

import numpy as np
import pytest
from paths import N, affine_error, assert_follows, assert_same_path, built, costs

from suffice.bounds import InputError
from suffice.simulate import Local
from suffice.simulate.algorithms import FedAMP

SHARE, SIGMA, PULL = 0.7, 4.0, 0.8


def transcribed(period, eta):
    eta = np.broadcast_to(eta, N)

    def path(seed, g, start):
        x, u, t = start.copy(), start.copy(), 0
        while True:
            yield x
            if t % period == 0:
                for i in range(N):
                    u[i] = x[i]
                    for k in range(N):
                        xi = SHARE / (N - 1) * np.exp(-np.sum((x[i] - x[k]) ** 2) / SIGMA)
                        u[i] = u[i] + xi * (x[k] - x[i])
            t += 1
            x = np.stack([x[i] - eta[i] * (g(i, x[i], t) + PULL * (x[i] - u[i])) for i in range(N)])

    return path


@pytest.mark.parametrize("period", [1, 3])
@pytest.mark.parametrize("eta", [0.2, np.linspace(0.1, 0.3, N)], ids=["number", "per client"])
def test_paths_are_those_of_a_plain_transcription(period, eta):
    rule = FedAMP(share=SHARE, sigma=SIGMA, pull=PULL, period=period)
    assert_follows(rule, transcribed(period, eta), eta=eta)
    assert affine_error(rule, iteration=1) > 1e-3


def test_without_a_pull_or_a_share_everyone_is_alone():
    assert_same_path(FedAMP(pull=0.0), Local(), built())
    assert_same_path(FedAMP(share=0.0, pull=2.0), Local(), built())  # u_i = x_i when each step begins a round
    assert_same_path(FedAMP(pull=2.0), Local(), built(1))


def test_a_round_is_paid_for_where_it_begins():
    assert [costs(FedAMP(period=3), t) for t in (1, 2, 3, 4)] == [(N, 2 * N), (N, 0), (N, 0), (N, 2 * N)]


@pytest.mark.parametrize("given", [{"share": 1.5}, {"sigma": 0.0}, {"pull": -1.0}, {"period": 0}], ids=list)
def test_bad_options_are_named(given):
    with pytest.raises(InputError) as caught:
        FedAMP(**given)
    assert caught.value.field == next(iter(given))
