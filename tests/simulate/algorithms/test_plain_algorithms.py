"""Every algorithm of the catalogue follows the path of its plain transcription, seed by seed, draw by draw."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from paths import SIZES, assert_follows, clients, problem_of
from plain_algorithms import OPTIONS, RULES

from suffice.simulate.catalogue import algorithm

SAMPLED = [*sorted(name for name, options in OPTIONS.items() if "participants" in options), "ditto", "apfl"]


def of_servers(rule, **more):
    """The same algorithm with another server, whether it is one or has one."""
    return replace(rule, server=replace(rule.server, **more)) if hasattr(rule, "server") else replace(rule, **more)


CASES = [
    *((name, 0, False, {}) for name in RULES),
    *((name, 2, False, {}) for name in SAMPLED),
    *((name, 3, True, {}) for name in SAMPLED),
    ("apfl", 3, True, {"adaptive": True}),
    ("cobo", 0, False, {"simplex": True}),
]


@pytest.mark.parametrize(("name", "participants", "weighted", "more"), CASES)
def test_paths_are_those_of_the_plain_transcription(name, participants, weighted, more):
    at = clients()
    problem = problem_of(at)
    rule = replace(algorithm(name, problem, eta=at.eta, **OPTIONS.get(name, {})), **more)
    if participants:
        rule = of_servers(rule, participants=participants)
    if weighted:
        rule, at = of_servers(rule, sizes=SIZES), replace(at, sizes=SIZES.numpy()[:, None])
    last = assert_follows(rule, partial(RULES[name], **more), at)
    alone = assert_follows(algorithm("local", problem, eta=at.eta), RULES["local"], at)
    assert name == "local" or np.abs(last - alone).max() > 0.01
