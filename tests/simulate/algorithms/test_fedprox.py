"""FedProx: FedAvg with a pull towards the model that the server sent."""

from __future__ import annotations

import pytest
import torch
from paths import CLUSTERS, SIZES, assert_follows, rounds

from suffice.simulate.algorithms import FedProx

RULES = {
    "rounds": FedProx(pull=0.7, period=3, sizes=SIZES),
    "sampled": FedProx(pull=1.5, period=2, participants=2),
    "clusters": FedProx(pull=1.5, period=2, clusters=torch.tensor(CLUSTERS)),
    "tuned": FedProx(pull=0.7, period=3, fine_tune_after=6),
}


@pytest.mark.parametrize("name", RULES)
def test_paths_are_those_of_a_plain_transcription(name):
    assert_follows(RULES[name], rounds(RULES[name], RULES[name].pull))
