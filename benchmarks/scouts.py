"""Test accuracy with the collaborators that scouts find, beside nobody's, everybody's and told ones.

    python -m benchmarks.scouts FOLDER [SEEDS [SPLIT ...]]

Each split and seed is one file of FOLDER, so that a run that was stopped goes on. Digits of scikit-learn, 10 clients x
60 rows, a network 64-64-10, 400 iterations of batch 16 at step size .2; a seed decides rows, start and batches.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import suffice as sf
from suffice.simulate import FedAvg, FixedWeights, Local
from suffice.simulate.data.client_partition import Split, parts_of
from suffice.support.files import write_whole

ROWS, T, ETA, BATCH = 60, 400, 0.2, 16
FIRST_SEED = 100
"""Seeds below were looked at when the rule was made."""
MANY = {"rows": [10, 30, 60, 100, 300] * 2, "rows1000": [1000, 10, 30, 10, 60, 100, 10, 30, 10, 60], "fifty": [18] * 50}
"""Rows of each client, where they are not 60 for ten."""
SPLITS = ("permuted", "outlier", "rotated", "labels", "iid", "dirichlet", "near", "rows", "shuffled")
SPLITS += ("near10", "sizes", "noise", "rows1000", "fifty", "regression", "cnn")
NUMBERS = ("one law", "two laws", "mixtures", "hierarchy")
"""Splits with targets of numbers, and noise of .05 to 3 deviations in the first two."""
SPLITS += NUMBERS


def module() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def convolutions() -> nn.Module:
    first = (nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*first, nn.Flatten(), nn.Linear(128, 10))


def regressor() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))


MODULES = {"cnn": convolutions} | dict.fromkeys(("regression", *NUMBERS), regressor)


def clients(split: str, seed: int) -> tuple[Any, list[int]]:
    """Rows for training and for tests (X, y, X, y) of each client, and the clusters that are told.

    permuted  the second half numbers the digits in another way; near: two digits change places there; near10: each of
              these changes with probability one half, a tenth of the labels; outlier: the last client alone
    noise     permuted, and a fifth of the labels for training are drawn anew; cnn: permuted, another network
    sizes     four clusters of 1, 2, 3 and 4 clients, each with its own numbering
    rotated   the second half's images are turned by 90 degrees
    labels    Definition S1; dirichlet: concentration .1; iid: as they come
    rows      from 10 to 300 rows of the permuted split; rows1000: from 10 to 1,000; fifty: 50 clients with 18 rows
    shuffled  the last client's labels are in random order
    regression  two networks 8-16-1 with noise of a fifth of their variance, one for each half
    one law   one network 8-16-1, noise of .05 to 3 deviations; two laws: two in turn; mixtures: from one to the other;
    hierarchy  one for all, half of another for each half, a quarter of a third for every other client
    """
    if split == "regression" or split in NUMBERS:
        return _regression(split, seed)
    digits, rng = load_digits(), np.random.default_rng(seed)
    images, labels = digits.data / 16, digits.target
    order = rng.permutation(len(images))
    many = MANY.get(split, [ROWS] * 10)
    n = len(many)
    half = sum(many) if split in MANY else len(order) // 2
    train, test = order[:half], order[half:]
    told = [0] * n
    if split in ("labels", "dirichlet"):
        kind = Split(kind=split, clients=n, concentration=0.1)
        # the same shares of each class for training and for tests
        own = [parts_of(labels[part], kind, seed) for part in (train, test)]
        parts = [(train[a][:ROWS], test[b]) for a, b in zip(*own)]
        told = [k % 2 for k in range(n)] if split == "labels" else told
    else:
        ends = np.cumsum(many)
        parts = [(train[end - m : end], test) for m, end in zip(many, ends)]
    renamed = [np.arange(10), *(rng.permutation(10) for _ in range(3))]
    near, pair = np.arange(10), rng.choice(10, 2, replace=False)
    near[pair] = pair[::-1]
    found: tuple[list[Any], ...] = ([], [], [], [])
    for k, each in enumerate(parts):
        if split in ("permuted", "rotated", "near", "near10", "noise", "cnn", *MANY):
            told[k] = int(k >= n // 2)
        if split in ("outlier", "shuffled"):
            told[k] = int(k == n - 1)
        if split == "sizes":
            told[k] = (0, 1, 1, 2, 2, 2, 3, 3, 3, 3)[k]
        for place, rows in enumerate(each):
            X, y = images[rows], labels[rows]
            if split in ("permuted", "noise", "cnn", "outlier", "sizes", *MANY):
                y = renamed[told[k]][y]
            if split in ("near", "near10") and told[k]:
                y = np.where(rng.random(len(y)) < 0.5, near[y], y) if split == "near10" else near[y]
            if split == "noise" and place == 0:
                y = np.where(rng.random(len(y)) < 0.2, rng.integers(10, size=len(y)), y)
            if split == "shuffled" and told[k] and place == 0:
                y = rng.permutation(y)
            if split == "rotated" and told[k]:
                X = np.rot90(X.reshape(-1, 8, 8), axes=(1, 2)).reshape(-1, 64)
            found[2 * place].append(X)
            found[2 * place + 1].append(y)
    return found, told


def _regression(split: str, seed: int) -> tuple[Any, list[int]]:
    rng, told = np.random.default_rng(seed), [0] * 5 + [1] * 5
    if split in NUMBERS:
        told = [k % 2 if split == "two laws" else 0 for k in range(10)]
    first, second = rng.normal(size=(4, 8, 16)), rng.normal(size=(4, 16))
    noise = np.geomspace(0.05, 3, 10) if split in NUMBERS[:2] else np.full(10, 0.2**0.5)
    found: tuple[list[Any], ...] = ([], [], [], [])
    for k, of in enumerate(told):
        shares = np.eye(4)[of]
        if split == "mixtures":
            shares = np.array([1 - k / 9, k / 9, 0, 0])
        if split == "hierarchy":
            shares = np.array([1, 0.5 * (k < 5), 0.5 * (k >= 5), 0.25 * (k % 2)])
        for place, rows in enumerate((ROWS, 500)):
            X = rng.normal(size=(rows, 8))
            y = np.einsum("mrh,mh,m->r", np.maximum(X @ first / 8**0.5, 0), second, shares) / 4
            found[2 * place].append(X)
            # tests of the first two are without noise, which would hide what models miss
            wrong = noise[k] * y.std() * rng.normal(size=rows)
            found[2 * place + 1].append(y if place and split in NUMBERS[:2] else y + wrong)
    return found, told


def cell(split: str, seed: int) -> dict[str, Any]:
    """Accuracies, or shares of the variance explained, in percent, mean of the clients (without the last one, where its
    labels are shuffled)."""
    (X, y, X_test, y_test), told = clients(split, seed)
    made, eta = MODULES.get(split, module), 0.05 if MODULES.get(split) is regressor else ETA
    problem = sf.Neural.of(made, X, y, batch=BATCH, test=(X_test, y_test), seed=seed)
    options: dict[str, Any] = {"iterations": T, "eta": eta, "seeds": range(seed, seed + 1), "grid": [T]}
    began = time.process_time()
    found = sf.collaborators(problem, eta=eta, seed=seed)
    seconds = [time.process_time() - began]
    rules = {
        "alone": Local(),
        "everyone": FedAvg(),
        "everyone, then alone": FedAvg(fine_tune_after=T // 2),
        "told": FedAvg(fine_tune_after=T // 2) if split == "dirichlet" else FixedWeights.clusters(told),
        "scouts": found.algorithm(),
        "scouts, a quarter together": found.algorithm(together=T // 4),
    }
    counted = slice(0, len(told) - 1) if split == "shuffled" else slice(None)
    result: dict[str, Any] = {}
    for name, rule in rules.items():
        began = time.process_time()
        metrics = sf.run(problem, rule, **options).metrics
        seconds.append(time.process_time() - began)
        if made is regressor:
            score = 1 - metrics["test loss"][0, -1] / np.array([part.var() for part in y_test])
        else:
            score = metrics["test accuracy"][0, -1]
        result[name] = 100 * float(score[counted].mean())
    apart = np.not_equal.outer(told, told)
    result["weight outside"] = float((found.weights * apart).sum(1)[counted].mean())
    result["stopped"] = found.iterations
    result["share of the time"] = seconds[0] / seconds[5]
    return result


def table(folder: Path) -> str:
    """Mean +- standard error over the seeds that are done, a row for each split, in Markdown."""
    lines: list[str] = []
    for split in SPLITS:
        cells = [json.loads(path.read_text()) for path in sorted(folder.glob(f"{split}-*.json"))]
        if not cells:
            continue
        if not lines:
            lines = [f"| split | seeds | {' | '.join(cells[0])} |", "|---" * (len(cells[0]) + 2) + "|"]
        shown = []
        for name in cells[0]:
            values = np.array([one[name] for one in cells])
            error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
            digits = 1 if values.mean() > 3 else 3
            shown.append(f"{values.mean():.{digits}f} +- {error:.{digits}f}")
        lines.append(f"| {split} | {len(cells)} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        for split in sys.argv[3:] or SPLITS:
            path = folder / f"{split}-{seed}.json"
            if not path.exists():
                write_whole(path, json.dumps(cell(split, seed)).encode())
    print(table(folder))


if __name__ == "__main__":
    main()
