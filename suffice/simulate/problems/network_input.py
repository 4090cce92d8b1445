"""What users hand to `Neural.of`, checked: modules, rows of any shape, losses."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
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

_REFUSED: tuple[tuple[type[nn.Module], str], ...] = (
    (nn.modules.batchnorm._BatchNorm, "the rows of a batch influence one another; use nn.GroupNorm"),
    (nn.modules.dropout._DropoutNd, "it draws random numbers that no seed of a run decides; remove it"),
)


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
    for name, part in module.named_modules():
        for kind, why in _REFUSED:
            if isinstance(part, kind) and getattr(part, "p", 1):
                raise InputError(f"module {name}".strip(), type(part).__name__, why)
        if getattr(part, "track_running_stats", False):
            raise InputError(f"module {name}".strip(), type(part).__name__, "its buffers change; use nn.GroupNorm")
    if not any(part.requires_grad for part in module.parameters()):
        raise InputError("module", type(module).__name__, "it has no parameters to train")
    kinds = {part.dtype for part in module.parameters()}
    if len(kinds) > 1 or not next(iter(kinds)).is_floating_point:
        raise InputError("module", sorted(map(str, kinds)), "give parameters of one floating-point type")
    return copy.deepcopy(module).cpu().train()


def rows_of(X: Any, y: Any, labels: Sequence[str], network: nn.Module, field: str = "") -> Rows:
    """One array (n_i, ...) and one of targets per client, checked; whole numbers as targets stay whole."""
    if not isinstance(X, (Sequence, np.ndarray, Tensor)) or not isinstance(y, (Sequence, np.ndarray, Tensor)):
        raise InputError(f"{field}X", X, "give one array per client, in a list, and as many of targets")
    if len(X) == 0 or len(X) != len(labels) or len(X) != len(y):
        raise InputError(f"{field}clients", len(X), f"give one X and one y per client, {len(labels) or 1} of each")
    kind = next(network.parameters()).dtype
    tokens = any(isinstance(part, (nn.Embedding, nn.EmbeddingBag)) for part in network.modules())
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
    return Rows(X=torch.cat(blocks), y=torch.cat(targets), first=counts.cumsum(0) - counts, counts=counts)


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
    share = as_number(name, wanted)
    if not 0 < share < 1:
        raise InputError(name, wanted, "give a share of the rows in (0, 1), or arrays (X, y)")
    kept = torch.ones(len(data.X), dtype=torch.bool)
    for client, (first, count) in enumerate(zip(data.first.tolist(), data.counts.tolist())):
        held = max(1, round(share * count))
        if held >= count:
            raise InputError(f"rows of client {labels[client]}", count, f"too few to hold out {name} = {share:g}")
        # two numbers to count by: which client, and which of the shares
        order = single(seed).permutation(count, iteration=2 * client + number, stream=Stream.SPLIT)[0]
        kept[first + order[:held]] = False
    return data.kept(kept), data.kept(~kept)


def chosen_loss(loss: Any, data: Rows) -> RowLoss:
    """One loss per row from a word, a function or a module of torch."""
    labelled = not data.y.is_floating_point()
    if loss is None:
        loss = "cross-entropy" if labelled else "squared"
    if isinstance(loss, str):
        if loss not in _LOSSES:
            raise InputError("loss", loss, f"use {', '.join(_LOSSES)}, or a function with one loss per row")
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


def _cross_entropy(outputs: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(outputs, y, reduction="none")


def _squared(outputs: Tensor, y: Tensor) -> Tensor:
    return mse_loss(outputs.reshape(y.shape) if outputs.numel() == y.numel() else outputs, y, reduction="none")


def is_squared(loss: RowLoss) -> bool:
    return loss is _squared


_LOSSES: dict[str, RowLoss] = {"cross-entropy": _cross_entropy, "squared": _squared}


def checked(flat: FlatModule, labels: Sequence[str], data: Rows, *others: Rows | None) -> FlatModule:
    """The module after its first calls on some rows, as it runs best; `InputError` for what it must not do."""
    name, x, y = type(flat.module).__name__, data.X[:3], data.y[:3]
    start, buffers = flat.start(), [buffer.clone() for buffer in flat.module.buffers()]

    def called(what: str, function: Callable[[], Tensor]) -> Tensor:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a broadcast is refused below
            try:
                return function()
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                reason = str(error).splitlines()[0][:120]
                raise InputError(what, f"rows of shape {tuple(x.shape[1:])}, {y.dtype} targets", reason) from None

    state = torch.get_rng_state()
    outputs = called(f"module {name}", lambda: flat.outputs(start, x))
    if not torch.equal(state, torch.get_rng_state()) or not torch.equal(outputs, flat.outputs(start, x)):
        raise InputError("module", name, "its forward draws random numbers that no seed of a run decides; remove them")
    if any(not torch.equal(before, after) for before, after in zip(buffers, flat.module.buffers())):
        raise InputError("module", name, "its forward changes its buffers, which models would share; remove that")
    if outputs.ndim == 0 or len(outputs) != len(x):
        raise InputError("module", name, f"give outputs (rows, ...), not {tuple(outputs.shape)} for {len(x)} rows")
    alone = called(f"module {name}", lambda: flat.outputs(start, x[:1]))
    scale = outputs.abs().max().clamp_min(1)
    if alone.shape[1:] != outputs.shape[1:] or bool((alone[0] - outputs[0]).abs().max() > 1e-3 * scale):
        raise InputError("module", name, "the rows of a batch influence one another; use nn.GroupNorm, for example")
    if not y.is_floating_point() and outputs.ndim == y.ndim + 1:
        _check_labels(outputs.shape[1], labels, *filter(None, (data, *others)))
    losses = called("loss", lambda: flat.loss(outputs, y))
    if losses.shape != y.shape[: losses.ndim] or losses.ndim == 0:
        shapes = f"outputs {tuple(outputs.shape)}, targets {tuple(y.shape)}: loss of shape {tuple(losses.shape)}"
        raise InputError("loss", shapes, 'give one loss per row, as reduction="none" does')
    return replace(flat, vmaps=_vmaps(flat, start, x, y))


def _check_labels(classes: int, labels: Sequence[str], *parts: Rows) -> None:
    for rows in parts:
        for name, block in zip(labels, rows.y.split(rows.counts.tolist())):
            for worst in (int(block.min()), int(block.max())):
                if not 0 <= worst < classes:
                    remedy = f"the module has {classes} outputs: give labels 0 to {classes - 1}"
                    raise InputError(f"label of client {name}", worst, remedy)


def _vmaps(flat: FlatModule, start: Tensor, x: Tensor, y: Tensor) -> bool:
    """Whether torch runs the module side by side with itself, and fast: it warns where it loops inside.

    A module that keeps its parameters in a second place, as recurrent ones do, gives other gradients there.
    """
    both = [torch.stack((each, each)) for each in (start, x, y, start.new_ones(len(x)))]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = flat.total_gradient(*both)
    except (RuntimeError, ValueError, NotImplementedError, Warning):
        return False
    alone = flat.gradient_alone(start, x, y, start.new_ones(len(x)))
    return bool((found - alone).abs().max() <= 1e-3 * alone.abs().max())


def remarks(data: Rows, labels: Sequence[str]) -> tuple[str, ...]:
    """What is unusual about clients' rows."""
    found = []
    for name, block in zip(labels, data.y.split(data.counts.tolist())):
        if len(block) == 1:
            found.append(f"client {name} has one row for training")
        elif not block.is_floating_point() and bool((block == block[0]).all()):
            found.append(f"client {name} has rows of one class alone, {block.flatten()[0].item()}")
    return tuple(found)
