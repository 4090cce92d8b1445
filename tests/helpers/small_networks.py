"""Networks of three clients that tests share: rows, images, labels and modules."""

from __future__ import annotations

import numpy as np
from torch import nn

import suffice as sf

RNG = np.random.default_rng(410)
COUNTS = (9, 6, 12)
N = len(COUNTS)
X = [RNG.normal(size=(n, 5)) for n in COUNTS]
LABELS = [RNG.integers(0, 3, n) for n in COUNTS]
IMAGES = [RNG.normal(size=(n, 1, 6, 6)) for n in COUNTS]


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3)).double()


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.GroupNorm(1, 2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3)
    ).double()  # fmt: skip


def network(module=mlp, rows=X, targets=LABELS, **more) -> sf.Neural:
    return sf.Neural.of(module, rows, targets, **{"batch": 4, **more})
