"""Arguments that users hand to an algorithm are checked once, when a run begins."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.memory import MAX_MEMORY
from suffice.support.numbers import as_number, real_array

from ..oracle import Oracle


def per_client(field: str, value: Any, problem: Oracle) -> Tensor:
    """One number or (N,) numbers as a tensor (N,) beside the problem's; `InputError` unless real and finite."""
    return _finite(field, value, problem, (problem.clients,))


def pairwise(field: str, value: Any, problem: Oracle) -> Tensor:
    """One number or (N, N) numbers >= 0, row i for client i, as a tensor (N, N)."""
    result = _finite(field, value, problem, (problem.clients, problem.clients))
    if bool((result < 0).any()):
        raise InputError(field, result.min().item(), "give weights >= 0")
    return result


def models_of(field: str, value: Any, problem: Oracle) -> Tensor:
    """One vector per client, (N, d)."""
    return _finite(field, value, problem, (problem.clients, problem.features), scalar=False)


def probability(field: str, value: Any) -> None:
    """Raise `InputError` unless 0 < value <= 1: what is not a probability may be a share."""
    if not 0 < as_number(field, value) <= 1:
        raise InputError(field, value, "give a number in (0, 1]")


def positive(field: str, value: Any) -> None:
    """Raise `InputError` unless value > 0."""
    if as_number(field, value) <= 0:
        raise InputError(field, value, "give a positive number")


def damping(field: str, value: Any) -> None:
    """Raise `InputError` unless 0 <= value < 1: the weight of a momentum."""
    if not 0 <= as_number(field, value) < 1:
        raise InputError(field, value, "give a number in [0, 1)")


def check_pairs(problem: Oracle, seeds: int) -> None:
    """Refuse a rule that keeps a gradient of every client at a model of every client where they fill the memory.

    S N^2 d numbers, as many for the models they are taken at, and as many in between.
    """
    size = 3.0 * seeds * problem.clients**2 * problem.features * problem.dtype.itemsize
    if size > MAX_MEMORY:
        remedy = f"a problem may take {MAX_MEMORY / 1e9:g} GB for them; give fewer clients or a smaller model"
        raise InputError("memory for the gradients of all pairs of clients", f"{size / 1e9:.3g} GB", remedy)


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


def _finite(field: str, value: Any, problem: Oracle, shape: tuple[int, ...], *, scalar: bool = True) -> Tensor:
    real = isinstance(value, Tensor) and not value.is_complex()
    tensor = (value if real else torch.from_numpy(real_array(field, value))).to(problem.start)
    if tensor.shape != shape and not (scalar and tensor.ndim == 0):
        remedy = f"give shape {shape}" + (" or one number" if scalar else "")
        raise InputError(field, f"array of shape {tuple(tensor.shape)}", remedy)
    if not bool(torch.isfinite(tensor).all()):
        raise InputError(field, tensor[~torch.isfinite(tensor)].flatten()[0].item(), "give finite numbers")
    return tensor.expand(shape)
