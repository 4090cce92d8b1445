"""FedAvg: who takes part in a round."""

from __future__ import annotations

import numpy as np
import torch
from paths import CLUSTERS, built

from suffice.simulate import FedAvg, Randomness

LABELS = torch.tensor(CLUSTERS)


def test_sampling_is_uniform_constant_within_a_round_and_fresh_in_the_next():
    problem, many = built(), Randomness(seeds=torch.arange(8000))
    rule = FedAvg(period=3, participants=2, clusters=LABELS)
    masks = [rule.draw(problem, many, t).extra["participants"] for t in range(1, 7)]
    assert torch.equal(masks[0], masks[1])
    assert torch.equal(masks[0], masks[2])
    assert torch.equal(masks[3], masks[5])
    agree = (masks[2] == masks[3]).all(-1).double().mean()  # clusters of 4 and 2: one in six, and always
    assert abs(float(agree) - 1 / 6) < 6 * (5 / 36 / 8000) ** 0.5
    for members in ([0, 2, 4, 5], [1, 3]):
        assert (masks[0][:, members].sum(-1) == 2).all()
    pairs = (masks[0].double().T @ masks[0].double() / 8000).numpy()
    inside = [0, 2, 4, 5]
    spread = 6 * (1 / 4 / 8000) ** 0.5
    assert np.abs(np.diag(pairs)[inside] - 1 / 2).max() < spread
    assert np.abs(pairs[np.ix_(inside, inside)][~np.eye(4, dtype=bool)] - 1 / 6).max() < spread
    assert np.abs(pairs[np.ix_(inside, [1, 3])] - 1 / 2).max() < spread  # clusters are drawn independently
