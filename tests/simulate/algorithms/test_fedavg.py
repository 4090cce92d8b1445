"""Local SGD and FedAvg: rules by loops, sampling, sizes, clusters, fine-tuning."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import CLUSTERS, SIZES, N, assert_follows, built, groups, rounds

from suffice.simulate import FedAvg, LocalSGD, Randomness

LABELS = torch.tensor(CLUSTERS)
RULES = {
    "local-sgd": LocalSGD(period=3),
    "local-sgd-oracle": LocalSGD(period=2, clusters=LABELS),
    "all": FedAvg(period=3, sizes=SIZES),
    "sampled": FedAvg(period=3, participants=2, sizes=SIZES),
    "sampled-clusters": FedAvg(period=2, participants=1, sizes=SIZES, clusters=LABELS),
    "tuned": FedAvg(period=2, participants=3, fine_tune_after=6),
}


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


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    rule = RULES[name]
    got = assert_follows(rule, local_sgd(rule) if isinstance(rule, LocalSGD) else rounds(rule))
    assert np.ptp(got[rule.period][:, [0, 4]], axis=1).max() < 1e-12  # clients 0 and 4 share a cluster
    assert np.ptp(got[13], axis=1).max() > 0.1  # after an odd number of iterations they differ


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
