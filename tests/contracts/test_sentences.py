"""Quantitative sentences of the papers that have no number of their own: what docs/statements.md says of each."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from suffice.bounds import PAPERS
from suffice.bounds.statement import Statement
from suffice.simulate import Quadratics, Randomness
from suffice.simulate.algorithms import CoBo
from suffice.simulate.data.mnist import mnist


def says(paper: str, place: str) -> Statement:
    """The row of the list; a place of its own."""
    (known,) = (entry for entry in PAPERS if entry.key == paper)
    (found,) = (each for each in known.part("records", "STATEMENTS") if each.place == place)
    return found


def test_gossip_needs_few_messages_and_as_many_vectors_as_without_it():
    """Two random agents tell each other all means that they know, until everybody knows all."""
    rng, agents = np.random.default_rng(0), 128
    calls, vectors, known = 0, 0, np.eye(agents, dtype=bool)
    while not known.all():
        i, j = rng.choice(agents, 2, replace=False)
        vectors += int((known[i] ^ known[j]).sum())
        known[i] = known[j] = known[i] | known[j]
        calls += 1
    assert 1 < calls / (agents * math.log(agents)) < 2
    assert vectors == agents * (agents - 1)
    reason = says("sample-optimal", "Section 6, below the estimate").reason
    assert "1.5 N ln N" in reason
    assert "N (N - 1) vectors" in reason


def test_the_effective_dimension_of_mnist():
    folder = Path(os.environ.get("SUFFICE_DATA", "../shared/data")) / "mnist_test"
    if not folder.is_dir():
        pytest.skip("MNIST's test images are not there: set SUFFICE_DATA to the folder above them")
    X = mnist(folder, part="test").X
    assert X.shape == (10_000, 784)
    found = []
    for matrix in (X.T @ X / len(X), np.cov(X.T)):
        spectrum = np.linalg.eigvalsh(matrix)
        assert_allclose(np.linalg.norm(matrix, 2) / spectrum[-1], 1, rtol=1e-9)  # as printed
        found.append(spectrum.sum() / spectrum[-1])
    assert [round(each, 2) for each in found] == [2.25, 9.95]
    assert "2.25" in (reason := says("sample-optimal", "below Assumption 4").reason)
    assert "9.95" in reason


def test_cobo_computes_two_further_gradients_for_each_other_client():
    n = 12
    problem = Quadratics.of(np.repeat(np.eye(2)[None], n, 0), np.zeros((n, 2)), sigma2=1.0, start=np.zeros((n, 2)))
    rule = CoBo(rho=1.0, weight_step=0.1)
    draws = Randomness(seeds=torch.arange(4000), root=0)
    calls = np.asarray(rule.oracle_calls(problem, rule.draw(problem, draws, 1)), dtype=float)
    error = 5 * calls.std() / math.sqrt(len(calls))
    assert abs(calls.mean() - (n + 2 * (n - 1))) < error < 1
