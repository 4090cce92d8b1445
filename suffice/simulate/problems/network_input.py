"""Inputs of networks are checked here: modules, rows of any shape, losses."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from suffice.support.errors import InputError
from suffice.support.numbers import as_number

from ..randomness import Stream, single
from .flat_module import FlatModule, RowLoss
from .rows import Rows

_LARGE = 10
"""Rows whose root mean square is beyond it are remarked on."""


def built(module: Any, seed: int) -> nn.Module:
    """A copy of the module, or what the function returns with torch seeded, in training mode; `InputError` else."""
    if not isinstance(module, nn.Module):
        if not callable(module):
            raise InputError("module", module, "give a torch module, or a function that returns one")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            try:
                module = module()
            except TypeError as error:
                raise InputError("module", module, f"call it without arguments: {error}") from None
        if not isinstance(module, nn.Module):
            raise InputError("module", module, "the function must return a torch module")
    if any(getattr(part, "max_norm", None) is not None for part in module.modules()):
        raise InputError("module", type(module).__name__, "its forward changes its parameters: leave max_norm out")
    if any(isinstance(part, torch.jit.ScriptModule) for part in module.modules()):
        raise InputError("module", type(module).__name__, "give the module itself, not its script")
    if any(nn.parameter.is_lazy(part) for part in module.parameters()):
        raise InputError("module", type(module).__name__, "its sizes are unknown: call it once on a row before")
    if not any(part.requires_grad for part in module.parameters()):
        raise InputError("module", type(module).__name__, "it has no parameters to train")
    kinds = {part.dtype for part in module.parameters()}
    if len(kinds) > 1 or not next(iter(kinds)).is_floating_point:
        raise InputError("module", sorted(map(str, kinds)), "give parameters of one floating-point type")
    try:
        return copy.deepcopy(module).cpu().train()
    except RuntimeError:
        remedy = (
            "it keeps a tensor computed from parameters, as nn.utils.weight_norm does: compute it in forward, or use "
            "nn.utils.parametrizations.weight_norm"
        )
        raise InputError("module", type(module).__name__, remedy) from None


def rows_of(X: Any, y: Any, labels: Sequence[str], network: nn.Module, field: str = "") -> Rows:
    """One array (n_i, ...) and one of targets per client, checked; whole numbers as targets stay whole."""
    if not isinstance(X, (Sequence, np.ndarray, Tensor)) or not isinstance(y, (Sequence, np.ndarray, Tensor)):
        raise InputError(f"{field}X", X, "give one array per client, in a list, and as many of targets")
    if len(X) == 0 or len(X) != len(labels) or len(X) != len(y):
        raise InputError(f"{field}clients", len(X), f"give one X and one y per client, {len(labels) or 1} of each")
    kind = next(network.parameters()).dtype
    tokens = takes_tokens(network, _tensor(f"{field}X of client {labels[0]}", X[0], kind, whole=True))
    blocks = [_tensor(f"{field}X of client {name}", rows, kind, whole=tokens) for name, rows in zip(labels, X)]
    targets = [_tensor(f"{field}y of client {name}", target, kind, whole=True) for name, target in zip(labels, y)]
    for name, block, target in zip(labels, blocks, targets):
        if len(block) == 0 or block.shape[1:] != blocks[0].shape[1:]:
            remedy = f"give (n, {', '.join(map(str, blocks[0].shape[1:]))}) for all, at least one row"
            raise InputError(f"{field}X of client {name}", f"array of shape {tuple(block.shape)}", remedy)
        if len(target) != len(block) or target.shape[1:] != targets[0].shape[1:] or target.dtype != targets[0].dtype:
            remedy = f"give targets of one kind and shape, one for each of the {len(block)} rows"
            raise InputError(f"{field}y of client {name}", f"{target.dtype} of shape {tuple(target.shape)}", remedy)
    counts = torch.tensor([len(block) for block in blocks])
    return Rows(X=torch.cat(blocks), y=torch.cat(targets), counts=counts)


def _tensor(field: str, value: Any, kind: torch.dtype, *, whole: bool) -> Tensor:
    try:
        tensor = value.detach().cpu() if isinstance(value, Tensor) else torch.from_numpy(np.array(value))
    except (TypeError, ValueError):
        raise InputError(field, value, "give real numbers (every row of the same length)") from None
    if tensor.is_complex() or tensor.ndim == 0:
        raise InputError(field, value, "give an array of real numbers, rows first")
    if whole and not tensor.is_floating_point():
        return tensor.to(torch.int64)
    tensor = tensor.to(kind)
    if not bool(torch.isfinite(tensor).all()):
        raise InputError(field, tensor[~torch.isfinite(tensor)][0].item(), "replace it by a finite number")
    return tensor


def divided(
    name: str, wanted: Any, data: Rows, labels: Sequence[str], network: nn.Module, *, seed: int, number: int
) -> tuple[Rows, Rows | None]:
    """Rows left for training, and those for `name`: given, or a share of each client's drawn by the seed."""
    if wanted is None:
        return data, None
    if isinstance(wanted, tuple):
        if len(wanted) != 2:
            raise InputError(name, f"{len(wanted)} parts", "give (X, y), one array per client in each, or a share")
        return data, rows_of(*wanted, labels, network, field=f"{name} ")
    # two numbers to count by: which client, and which of the shares
    out = torch.cat([
        held_out(label, count, name, wanted, seed=seed, number=2 * client + number)
        for client, (label, count) in enumerate(zip(labels, data.counts.tolist()))
    ])  # fmt: skip
    return data.kept(~out), data.kept(out)


def held_out(client: str, rows: int, name: str, share: Any, *, seed: int, number: int) -> Tensor:
    """A mask (rows,) of the client's rows that are a `share` for `name`, drawn without replacement; or `InputError`."""
    if not 0 < as_number(name, share) < 1:
        raise InputError(name, share, "give a share of each client's rows in (0, 1), or arrays of their own")
    held = max(1, round(share * rows))
    if held >= rows:
        remedy = f"too few to hold out {name} = {share:g}: merge it with another client, or leave it out"
        raise InputError(f"rows of client {client}", rows, remedy)
    order = single(seed).permutation(rows, iteration=number, stream=Stream.SPLIT)[0]
    return order.argsort() < held


def chosen_loss(loss: Any, data: Rows) -> RowLoss:
    """One loss per row from a word, a function or a module of torch."""
    labelled = not data.y.is_floating_point()
    if loss is None:
        loss = "cross-entropy" if labelled else "squared"
    if isinstance(loss, str) and loss in _LOSSES:
        if (loss == "cross-entropy") != labelled:
            raise InputError("loss", loss, "cross-entropy takes whole numbers as targets, squared takes others")
        return _LOSSES[loss]
    if isinstance(loss, nn.Module) and hasattr(loss, "reduction"):
        loss = copy.deepcopy(loss)
        setattr(loss, "reduction", "none")  # noqa: B010  # torch declares it on the losses that have it
        return loss
    if not callable(loss):
        raise InputError("loss", loss, f"use {', '.join(_LOSSES)}, or a function with one loss per row")
    if getattr(loss, "__module__", "") == "torch.nn.functional" and "reduction" in signature(loss).parameters:
        return lambda outputs, y, given=loss: given(outputs, y, reduction="none")
    return loss


def squared(outputs: Tensor, y: Tensor) -> Tensor:
    return mse_loss(outputs.reshape(y.shape) if outputs.numel() == y.numel() else outputs, y, reduction="none")


_LOSSES: dict[str, RowLoss] = {"cross-entropy": partial(cross_entropy, reduction="none"), "squared": squared}


def remarks(data: Rows, labels: Sequence[str], flat: FlatModule) -> tuple[str, ...]:
    """Remarks on what is unusual about clients' rows, and on what may be meant in another way."""
    found = []
    for name, block in zip(labels, data.y.split(data.counts.tolist())):
        if len(block) == 1:
            found.append(f"client {name} has one row for training")
        elif not block.is_floating_point() and bool((block == block[0]).all()):
            found.append(f"client {name} has rows of one class alone, {block.flatten()[0].item()}")
    if not takes_tokens(flat.module, data.X) and data.X.norm() > _LARGE * data.X.numel() ** 0.5:
        most = data.X.abs().max().item()
        found.append(f"rows have values up to {most:g}: networks learn from numbers near 1, such as X / {most:g}")
    shape = tuple(flat.outputs(flat.start(), data.X[:1].clone()).shape[1:])
    if data.y.ndim > 1 and not data.y.is_floating_point() and len(shape) == data.y.ndim and shape[0] == shape[-1]:
        found.append(f"outputs of a row have shape {shape}: the classes are the first axis, as torch has them")
    return tuple(found)


def takes_tokens(network: nn.Module, rows: Tensor) -> bool:
    """Whether whole numbers stay whole: where the module has embeddings, or runs on no floating-point numbers."""
    if any(isinstance(part, (nn.Embedding, nn.EmbeddingBag)) for part in network.modules()):
        return True
    for kind in (next(network.parameters()).dtype, torch.int64) if not rows.is_floating_point() else ():
        with suppress(Exception), torch.no_grad(), torch.random.fork_rng(devices=[]):  # whatever it raises
            copy.deepcopy(network)(rows[:2].to(kind))
            return kind == torch.int64
    return False
