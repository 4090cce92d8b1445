"""What users hand to an algorithm, checked once when a run begins."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bounds import InputError

from ..problem import Problem


def per_client(field: str, value: Any, problem: Problem) -> Tensor:
    """One number or (N,) numbers as a tensor (N,) beside the problem's; `InputError` unless real and finite."""
    return _finite(field, value, problem, (problem.clients,))


def pairwise(field: str, value: Any, problem: Problem) -> Tensor:
    """One number or (N, N) numbers >= 0, row i for client i, as a tensor (N, N)."""
    result = _finite(field, value, problem, (problem.clients, problem.clients))
    if bool((result < 0).any()):
        raise InputError(field, result.min().item(), "give weights >= 0")
    return result


def models_of(field: str, value: Any, problem: Problem) -> Tensor:
    """One vector per client, (N, d)."""
    return _finite(field, value, problem, (problem.clients, problem.features), scalar=False)


def probability(field: str, value: Any) -> None:
    """Raise `InputError` unless 0 < value <= 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        raise InputError(field, value, "give a probability in (0, 1]")


def _finite(field: str, value: Any, problem: Problem, shape: tuple[int, ...], *, scalar: bool = True) -> Tensor:
    try:
        tensor = torch.as_tensor(value).to(problem.start)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(field, value, f"give numbers of shape {shape}") from None
    if tensor.shape != shape and not (scalar and tensor.ndim == 0):
        remedy = f"give shape {shape}" + (" or one number" if scalar else "")
        raise InputError(field, f"array of shape {tuple(tensor.shape)}", remedy)
    if not bool(torch.isfinite(tensor).all()):
        raise InputError(field, tensor[~torch.isfinite(tensor)].flatten()[0].item(), "give finite numbers")
    return tensor.expand(shape)
