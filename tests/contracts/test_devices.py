"""What a GPU asks, shown without one on tensors that have shapes and no values (`device="meta"`).

There every operation that would hand a number to the host, on which a GPU waits, raises, and an operation between
devices is seen. Operations are counted, as each is a launch; views are none.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_algorithms import EXAMPLES, D, N, network, told
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from suffice.bounds import Binary, Continuous
from suffice.simulate import (
    AllForOne,
    LeastSquares,
    Local,
    Logistic,
    Neural,
    Quadratics,
    Randomness,
    SampledSimilarity,
    StreamingLeastSquares,
)
from suffice.simulate.problem_batches import to_device

S = 5
PAGE = Path(__file__).parents[2] / "docs/howto/gpu.md"


class Operations(TorchDispatchMode):
    """Counts what is not a view, and refuses what meets a tensor of the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = function(*args, **(kwargs or {}))
        met = {each.device.type for each in tree_leaves((args, kwargs, found)) if isinstance(each, Tensor)}
        assert met <= {"meta"}, f"{function} meets {met}"
        if not function.is_view:
            self.counts[str(function)] += 1
        return found


@cache
def rows(features: int = D, clients: int = N) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(20 + 3 * i, features)) for i in range(clients)]
    return X, [x.sum(1) + rng.normal(size=len(x)) for x in X]


def problem_of(kind: str, features: int = D, clients: int = N) -> Any:
    rng, (X, y) = np.random.default_rng(4), rows(features, clients)
    optimum, labels = rng.normal(size=(clients, features)), [np.where(each > 0, 1.0, -1.0) for each in y]
    if kind == "quadratics":
        return Quadratics.of(np.tile(np.eye(features), (clients, 1, 1)), optimum, sigma2=1.0)
    if kind == "a stream":
        return StreamingLeastSquares.of(np.eye(features), optimum, label_noise=0.3)
    if kind == "least squares":
        return LeastSquares.of(X, y, batch=2, regularisation=0.1)
    if kind == "logistic":
        return Logistic.of(X, labels, batch=2, regularisation=0.1)
    return network() if features == D else Neural.of(nn.Linear(features, 1).double(), X, [t[:, None] for t in y])


KINDS = ("quadratics", "a stream", "least squares", "logistic", "a network")


def taken(problem: Any, algorithm: Any, iterations: int = 3) -> list[tuple[int, int]]:
    """Operations of `draw` and of `step` in iterations 2, 3, ...; what the first one keeps for them is not counted."""
    there = problem.to(torch.float64, "meta")
    state = {name: each.to("meta") for name, each in algorithm.init(problem, problem.start.expand(S, -1, -1)).items()}
    source, rule = Randomness(seeds=torch.arange(S, device="meta"), root=3), to_device(algorithm, None, "meta")
    eta, counted = torch.tensor(0.1, dtype=torch.float64, device="meta"), []
    for t in range(1, iterations + 1):
        with torch.no_grad(), Operations() as drawing:
            draw = rule.draw(there, source, t)
        with torch.no_grad(), Operations() as stepping:
            after = rule.step(there, state, draw, eta)
        assert {name: each.shape for name, each in after.items()} == {name: each.shape for name, each in state.items()}
        state = after
        counted.append((sum(drawing.counts.values()), sum(stepping.counts.values())))
    return counted[1:]


# Rules ask problems by the same few names: every rule meets one kind of problem, and two of them meet all kinds.
MET = [(name, build, KINDS[at % len(KINDS)]) for at, (name, build) in enumerate(EXAMPLES)]
MET += [
    (name, build, kind)
    for name, build in EXAMPLES
    if name in ("cobo released", "all-for-one sampled")
    for kind in KINDS
]


@pytest.mark.share(10)
@pytest.mark.parametrize(("name", "build", "kind"), MET, ids=[f"{name}, {kind}" for name, _, kind in MET])
def test_no_iteration_waits_for_the_device_or_meets_another_one(name, build, kind):
    problem = problem_of(kind)
    assert all(min(counts) > 0 for counts in taken(problem, told(build, problem)))


SAMPLED = AllForOne(criterion=Continuous(), similarity=SampledSimilarity(), sigma2=1.0)
RULES = {
    "Local": Local(),
    "All-for-one": AllForOne(criterion=Continuous(), sigma2=1.0),
    "All-for-one, sampled": SAMPLED,
}


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", KINDS[:4])
@pytest.mark.parametrize("sizes", [(40, 7), (3, 2)])
def test_all_for_one_takes_at_most_seventy_operations_whatever_the_sizes(kind, sizes):
    binary = AllForOne(criterion=Binary(threshold=0.4), similarity=SampledSimilarity(), sigma2=1.0)
    for rule in (RULES["All-for-one"], SAMPLED, binary):
        assert all(step <= 70 for _, step in taken(problem_of(kind, *sizes), rule, 2))


@pytest.mark.slow
def test_the_page_has_the_operations_that_are_counted():
    lines = dict(re.findall(r"^\| ([A-Z][^|]*?) \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    counted = {kind: {name: taken(problem_of(kind, 10), rule)[-1] for name, rule in RULES.items()} for kind in KINDS}
    for name in RULES:
        assert [int(cell) for cell in lines.pop(name).split("|")] == [counted[kind][name][1] for kind in KINDS]
    assert [int(cell) for cell in lines.pop("The draw of Local").split("|")] == [
        counted[kind]["Local"][0] for kind in KINDS
    ]
    assert not lines
