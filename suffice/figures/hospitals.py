"""Four hospitals' patients as a problem, what learns from them side by side, and what is measured on their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
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
from suffice.simulate.data.table import Table
from suffice.simulate.problems.heart_disease import CENTRES, HeartDisease

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
    """Those named, with a last column of ones."""

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
        """Without weight decay one hospital has no minimiser: of that problem, use gradients alone."""
        X, y = [one.X for one in four.train], [one.y for one in four.train]
        decayed = Logistic.of(X, y, regularisation=WEIGHT_DECAY["stated"])
        parts: dict[str, Any] = {entry.name: getattr(decayed, entry.name) for entry in fields(decayed)}
        parts["regularisation"] = WEIGHT_DECAY[edition]
        return cls(**parts)

    def draw(
        self,
        randomness: Randomness,
        iteration: int | Tensor,
        *,
        stream: Stream = Stream.NOISE,
        batch: int | None = None,
    ) -> Tensor:
        first, kind = int(iteration) // AHEAD * AHEAD, (stream, batch or self.batch)
        if self._draws.get(kind, (-1,))[0] != first:
            every = torch.arange(first, first + AHEAD)[:, None, None, None]
            self._draws[kind] = first, super().draw(randomness, every, stream=stream, batch=batch)
        return self._draws[kind][1][int(iteration) - first]  # of (AHEAD, S, N, batch)


def block(
    edition: str, four: HeartDisease, step: float, epochs: int, competitors: Competitors, seeds: Sequence[int]
) -> dict[str, np.ndarray]:
    """Each algorithm's `MEASURED` and `BESIDE` after every epoch, (epochs + 1, S, 7)."""
    problem, length = Patients.training(four, edition), epoch_length(four)
    d = problem.features
    uniform = Randomness(seeds=torch.as_tensor(list(seeds))).uniform(
        iteration=0, stream=Stream.START, clients=1, features=d
    )
    # a linear layer's default: its 13 weights and its bias uniform in +-1 / sqrt(13), the same for all clients
    start = ((2 * uniform - 1) / np.sqrt(d - 1)).expand(-1, problem.clients, -1)
    tables = padded(four)
    steps = [torch.tensor(step * 0.1 ** (epoch // DECADE), dtype=torch.float64) for epoch in range(epochs)]
    found = {}
    for name, rule in _contenders(edition, four, length, competitors).items():
        path = iterate(
            problem, rule, seeds=torch.as_tensor(list(seeds)), iterations=epochs * length,
            eta=lambda t: steps[(t - 1) // length], starts=start,
        )  # fmt: skip
        kept = [measure(tables, state["models"]) for t, _, _, state in path if t % length == 0]
        found[name] = torch.stack(kept).numpy()
    return found


def _contenders(edition: str, four: HeartDisease, length: int, competitors: Competitors) -> dict[str, Algorithm]:
    chosen: dict[str, Any] = {}
    ratio = ReleasedSimilarity() if edition == "published" else SampledSimilarity(samples=WEIGHT_SAMPLES)
    for criterion in ("binary", "continuous"):
        chosen[f"All-for-one {criterion}"] = replace(all_for_one(ratio, criterion), refresh=length)
    server = FedAvg(sizes=torch.tensor([float(len(one.y)) for one in four.train], dtype=torch.float64))
    chosen |= {"Local": Local(), "FedAvg": server}
    if edition == "stated":
        chosen |= competitors.rules(server=server)
    return chosen


Tables = list[tuple[Tensor, Tensor, Tensor]]


def padded(four: HeartDisease) -> Tables:
    """Test and training tables: rows (N, n, d), labels (N, n) and their weights 1/n_i (N, n), 0 for padding."""
    tables: Tables = []
    for part in (four.test, four.train):
        most = max(len(one.y) for one in part)
        rows, labels, weights = (np.zeros((len(part), most, *rest)) for rest in (part[0].X.shape[1:], (), ()))
        for i, one in enumerate(part):
            n = len(one.y)
            rows[i, :n], labels[i, :n], weights[i, :n] = one.X, one.y, 1 / n
        tables.append((torch.from_numpy(rows), torch.from_numpy(labels), torch.from_numpy(weights)))
    return tables


def measure(tables: Tables, models: Tensor) -> Tensor:
    """`MEASURED` and `BESIDE` at models (S, N, d), (S, 7)."""
    losses, accuracies, weighted = [], [], []
    for rows, labels, weights in tables:
        margin = torch.einsum("ind,sid->sin", rows, models)
        loss = (torch.logaddexp(torch.zeros_like(margin), margin) - labels * margin) * weights
        correct = ((margin > 0) == (labels > 0)) * weights
        patients = (weights > 0).double().sum(-1)
        share = patients / patients.sum()
        logarithm, accuracy = torch.log10(loss.sum(-1)), 100 * correct.sum(-1)  # (S, N)
        losses.append(logarithm.mean(-1))
        accuracies.append(accuracy.mean(-1))
        weighted.append(((logarithm * share).sum(-1), (accuracy * share).sum(-1), accuracy.std(-1, correction=0)))
    return torch.stack([*losses, *accuracies, *weighted[0]], dim=-1)
