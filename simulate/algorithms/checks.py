"""Checks of what users hand to an algorithm: numbers, counts, cluster labels, sizes."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor

from bounds import InputError


def check_number(field: str, value: Any, *, largest: float = math.inf) -> None:
    """Raise `InputError` unless `value` is a finite number in [0, largest]."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= min(largest, 1e60):
        remedy = f"give a number in [0, {largest:g}]" if largest < math.inf else "give a number >= 0"
        raise InputError(field, value, remedy)


def check_count(field: str, value: Any, *, least: int = 1) -> None:
    """Raise `InputError` unless `value` is a whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(field, value, f"give a whole number, at least {least}")


def check_clusters(clusters: Tensor | None, clients: int) -> None:
    """Raise `InputError` unless None or labels 0..G-1 (N,), each of them used."""
    if clusters is None:
        return
    if not isinstance(clusters, Tensor) or clusters.shape != (clients,) or clusters.dtype != torch.int64:
        raise InputError("clusters", clusters, f"give a tensor of {clients} whole numbers, one label per client")
    labels = clusters.unique().tolist()
    if labels != list(range(len(labels))):
        raise InputError("clusters", clusters.tolist(), "number the clusters 0, 1, ... and leave none empty")


def check_sizes(sizes: Tensor | None, clients: int) -> None:
    """Raise `InputError` unless None or positive finite numbers (N,)."""
    if sizes is None:
        return
    if not isinstance(sizes, Tensor) or sizes.shape != (clients,):
        raise InputError("sizes", sizes, f"give a tensor of {clients} sizes, one per client")
    if not bool(((sizes > 0) & torch.isfinite(sizes)).all()):
        raise InputError("sizes", sizes.tolist(), "give positive sizes")
