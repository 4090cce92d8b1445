"""Four hospitals' patients as a problem, what learns from them side by side, and what is measured on their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import (
    Algorithm,
    FedAvg,
    Local,
    Logistic,
    Randomness,
    ReleasedSimilarity,
    SampledSimilarity,
    Stream,
    iterate,
)
from suffice.simulate.data.heart_disease import CENTRES, HeartDisease
from suffice.simulate.data.table import Table

from .regression import all_for_one
from .setting import Competitors

DECADE = 5
"""The step is divided by ten after every so many epochs."""
WEIGHT_DECAY = {"stated": 5e-4, "published": 0.0}
WEIGHT_SAMPLES = 16
AHEAD = 64
"""The patients of so many iterations are drawn at once, since one iteration has few."""
MEASURED = ("test_log10_loss", "train_log10_loss", "test_accuracy", "train_accuracy")
"""Plain means over hospitals, as the released code takes them."""
BESIDE = ("test_log10_loss_weighted", "test_accuracy_weighted", "test_accuracy_spread")
"""Means weighted by numbers of patients, as the paper says, and the standard deviation over hospitals."""


def with_intercept(four: HeartDisease, hospitals: Sequence[str] = CENTRES) -> HeartDisease:
    """The data of the hospitals named, with a last column of ones."""

    def extended(table: Table) -> Table:
        return replace(table, X=np.column_stack((table.X, np.ones(len(table.X)))), columns=(*table.columns, "1"))

    kept = [CENTRES.index(name) for name in hospitals]
    train, test = (tuple(extended(part[at]) for at in kept) for part in (four.train, four.test))
    return HeartDisease(train=train, test=test)


def epoch_length(four: HeartDisease) -> int:
    """Iterations of a mean local epoch at batch 1."""
    return round(sum(len(one.y) for one in four.train) / len(four.train))


@dataclass(frozen=True, kw_only=True)
class Patients(Logistic):
    """Logistic regression that draws the patients of some iterations at once."""

    _draws: dict[Any, tuple[int, Tensor]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def training(cls, four: HeartDisease, edition: str) -> Patients:
        """Regression on training data; without weight decay one hospital has no minimiser: use gradients alone."""
        X, y = [one.X for one in four.train], [one.y for one in four.train]
        return replace(cls.of(X, y, regularisation=WEIGHT_DECAY["stated"]), regularisation=WEIGHT_DECAY[edition])

    def drawn(self, randomness: Randomness, batch: int, **when: Any) -> Tensor:
        iteration, kind = when["iteration"], (when["stream"], batch)
        first = iteration // AHEAD * AHEAD
        if self._draws.get(kind, (-1,))[0] != first:
            every = torch.arange(first, first + AHEAD)[:, None, None, None]
            self._draws[kind] = first, super().drawn(randomness, batch, **when | {"iteration": every})
        return self._draws[kind][1][iteration - first]  # of (AHEAD, S, N, batch)


def block(
    edition: str, four: HeartDisease, step: float, epochs: int, competitors: Competitors, seeds: Sequence[int]
) -> dict[str, np.ndarray]:
    """Each algorithm's `MEASURED` and `BESIDE` after every epoch, (epochs + 1, S, 7)."""
    problem, length, some = Patients.training(four, edition), epoch_length(four), torch.as_tensor(list(seeds))
    d = problem.features
    uniform = Randomness(seeds=some).uniform(iteration=0, stream=Stream.START, clients=1, features=d)
    # a linear layer's default: its 13 weights and its bias uniform in +-1 / sqrt(13), the same for all clients
    start = ((2 * uniform - 1) / np.sqrt(d - 1)).expand(-1, problem.clients, -1)
    steps = [torch.tensor(step * 0.1 ** (epoch // DECADE), dtype=torch.float64) for epoch in range(epochs)]
    how: dict[str, Any] = {"seeds": some, "iterations": epochs * length, "starts": start}
    found = {}
    for name, rule in _contenders(edition, four, length, competitors).items():
        path = iterate(problem, rule, **how, eta=lambda t: steps[(t - 1) // length])
        kept = [measure(four, state["models"]) for t, _, _, state in path if t % length == 0]
        found[name] = torch.stack(kept).numpy()
    return found


def _sizes(part: Sequence[Table]) -> Tensor:
    return torch.tensor([float(len(one.y)) for one in part], dtype=torch.float64)


def _contenders(edition: str, four: HeartDisease, length: int, competitors: Competitors) -> dict[str, Algorithm]:
    ratio = ReleasedSimilarity() if edition == "published" else SampledSimilarity(samples=WEIGHT_SAMPLES)
    server = FedAvg(sizes=_sizes(four.train))
    chosen: dict[str, Algorithm] = {
        f"All-for-one {criterion}": replace(all_for_one(ratio, criterion), refresh=length)
        for criterion in ("binary", "continuous")
    } | {"Local": Local(), "FedAvg": server}
    return chosen | (competitors.rules(server=server) if edition == "stated" else {})


def measure(four: HeartDisease, models: Tensor) -> Tensor:
    """`MEASURED` and `BESIDE` at models (S, N, d), (S, 7)."""
    found = []
    for part in (four.test, four.train):
        losses, correct = [], []
        for i, one in enumerate(part):
            margin, labels = models[:, i] @ torch.from_numpy(one.X).T, torch.from_numpy(one.y)
            losses.append((torch.logaddexp(torch.zeros_like(margin), margin) - labels * margin).mean(-1))
            correct.append(((margin > 0) == (labels > 0)).double().mean(-1))
        found.append((torch.log10(torch.stack(losses, -1)), 100 * torch.stack(correct, -1)))  # (S, N) each
    plain = [each.mean(-1) for of_both in zip(*found) for each in of_both]
    patients = _sizes(four.test)
    weighted = [(each * patients / patients.sum()).sum(-1) for each in found[0]]
    return torch.stack([*plain, *weighted, found[0][1].std(-1, correction=0)], dim=-1)
