"""A torch module as a function of one vector of parameters: losses and gradients of many such vectors, on many rows.

Small models run side by side (`vmap`), large ones one after the other: side by side every operation is called once for
all models, but a convolution whose filters differ between models becomes a slow grouped one. The choice depends on
sizes alone, so that a path never depends on the machine's mood.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

RowLoss = Callable[[Tensor, Tensor], Tensor]
"""A function of outputs (rows, ...) and targets (rows, ...): a loss per row, or per target where a row has several."""

_INPUTS = 1 << 20
"""Numbers in the rows of one call: what a module keeps for its gradient is a multiple of them."""
_SIDE_BY_SIDE, _CONVOLUTIONS = 1 << 21, 1 << 18
"""Largest (parameters of a model) x (its rows in one call) at which models run side by side; with convolutions the two
ways meet at a network of 4,000 parameters on 80 rows, without them at ten times as many and more."""


@dataclass(frozen=True, kw_only=True)
class FlatModule:
    """`module` with its trainable parameters in one vector (d,), and a loss of each row.

    vmaps   whether torch can run the module side by side with itself
    """

    module: nn.Module
    loss: RowLoss
    vmaps: bool = True

    @cached_property
    def shapes(self) -> list[torch.Size]:
        return [part.shape for part in self.module.parameters() if part.requires_grad]

    @cached_property
    def sizes(self) -> list[int]:
        return [shape.numel() for shape in self.shapes]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Every place of each trainable parameter, once: torch itself leaves a module with two names damaged."""
        number = {part: at for at, part in enumerate(p for p in self.module.parameters() if p.requires_grad)}
        return {
            f"{path}.{name}".lstrip("."): number[part]
            for path, owner in self.module.named_modules()
            for name, part in owner.named_parameters(recurse=False, remove_duplicate=False)
            if part in number
        }

    def start(self) -> Tensor:
        """The module's own parameters, (d,)."""
        return torch.cat([part.detach().flatten() for part in self.module.parameters() if part.requires_grad])

    def outputs(self, flat: Tensor, x: Tensor) -> Tensor:
        """The outputs of the model `flat` (d,) on rows x (rows, ...)."""
        if not self.vmaps:
            with torch.no_grad():
                return self._loaded(flat)(x)
        parts = [part.view(shape) for shape, part in zip(self.shapes, flat.split(self.sizes))]
        given = {name: parts[number] for name, number in self._places.items()}
        return functional_call(self.worker[0], given, (x,), tie_weights=False)

    def row_losses(self, flat: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """One loss a row, the mean over the targets of a row that has several, (rows,)."""
        return _of_rows(self.loss(self.outputs(flat, x), y))

    def scores(self, flat: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """(rows, 2): the loss, and 1 where the largest output is that of the label."""
        outputs = self.outputs(flat, x)
        loss, hit = self.loss(outputs, y), (outputs.argmax(1) == y).to(outputs)
        return torch.stack((_of_rows(loss), _of_rows(hit)), dim=-1)

    def module_with(self, flat: Tensor) -> nn.Module:
        """A copy of the module whose parameters are `flat` (d,)."""
        return copy.deepcopy(self._loaded(flat))

    def to(self, dtype: torch.dtype, device: Any) -> FlatModule:
        loss = copy.deepcopy(self.loss).to(device, dtype) if isinstance(self.loss, nn.Module) else self.loss
        return replace(self, module=copy.deepcopy(self.module).to(device, dtype), loss=loss)

    def side_by_side(self, rows: int) -> bool:
        limit = _CONVOLUTIONS if any(len(shape) > 2 for shape in self.shapes) else _SIDE_BY_SIDE
        return self.vmaps and rows * sum(self.sizes) <= limit

    def gradients(self, models: Tensor, X: Tensor, y: Tensor, index: Tensor, weights: Tensor) -> Tensor:
        """sum_j weights[p, j] grad loss(models[p]; row index[p, j]) (P, d), one backward pass per model.

        models (P, d), index (P, J) rows of X and y, weights (P, J); rows of weight 0 are left out of large models.
        """
        if not self.side_by_side(index.shape[1]):
            return torch.stack([self._one(*each, X, y) for each in zip(models, index, weights)])
        found = torch.zeros_like(models)
        for p, j in _parts(index, X):
            rows = index[p, j]
            found[p] += self.total_gradient(models[p], X[rows], y[rows], weights[p, j])
        return found

    def _one(self, model: Tensor, rows: Tensor, weights: Tensor, X: Tensor, y: Tensor) -> Tensor:
        rows, weights = rows[weights != 0], weights[weights != 0]
        total = torch.zeros_like(model)
        for _, j in _parts(rows[None], X):
            total += self.gradient_alone(model, X[rows[j]], y[rows[j]], weights[j])
        return total

    @cached_property
    def worker(self) -> tuple[nn.Module, list[nn.Parameter]]:
        """A module of its own, and its trainable parameters."""
        worker = copy.deepcopy(self.module)
        return worker, [part for part in worker.parameters() if part.requires_grad]

    def _loaded(self, model: Tensor) -> nn.Module:
        """The worker, whose parameters are views of `model` until the next call."""
        worker, parameters = self.worker
        for parameter, part, shape in zip(parameters, model.split(self.sizes), self.shapes):
            parameter.data = part.view(shape)
        return worker

    def gradient_alone(self, model: Tensor, x: Tensor, y: Tensor, weights: Tensor) -> Tensor:
        """The gradient of the weighted sum of losses at one model (d,); `functional_call` would cost a tenth more."""
        with torch.enable_grad():
            loss = _of_rows(self.loss(self._loaded(model)(x), y))
            parts = torch.autograd.grad(loss, self.worker[1], weights, materialize_grads=True)
        return torch.cat([(part.to_dense() if part.is_sparse else part).flatten() for part in parts])

    def total_gradient(self, models: Tensor, x: Tensor, y: Tensor, weights: Tensor) -> Tensor:
        """The gradients of the weighted sums of losses at several models (P, d), side by side.

        The totals of different models share no parameter, so that one pass back from their sum gives all gradients:
        vmap runs the module forwards alone.
        """
        with torch.enable_grad():
            leaf = models.detach().requires_grad_()
            losses = vmap(self.row_losses)(leaf, x, y)
            return torch.autograd.grad((weights * losses).sum(), leaf)[0]

    @torch.no_grad()
    def evaluate(
        self, function: Callable[[Tensor, Tensor, Tensor], Tensor], models: Tensor, X: Tensor, y: Tensor, index: Tensor
    ) -> Tensor:
        """`row_losses`, `scores` or `outputs` of models (P, d) on rows index (P, J), as (P, J, ...)."""
        apply = vmap(function) if self.side_by_side(index.shape[1]) else _one_by_one(function)
        parts = [(p.start, apply(models[p], X[index[p, j]], y[index[p, j]])) for p, j in _parts(index, X)]
        by_models = itertools.groupby(parts, key=lambda each: each[0])
        return torch.cat([torch.cat([values for _, values in group], dim=1) for _, group in by_models])


def _of_rows(values: Tensor) -> Tensor:
    return values if values.ndim == 1 else values.flatten(1).mean(1)


def _one_by_one(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda *columns: torch.stack([function(*each) for each in zip(*columns)])


def _parts(index: Tensor, X: Tensor) -> Iterator[tuple[slice, slice]]:
    """Slices of models and of rows index (P, J) of X, `_INPUTS` numbers each: all rows of some models, or some rows of
    one."""
    (models, rows), numbers = index.shape, max(1, math.prod(X.shape[1:]))
    j = max(1, min(rows, _INPUTS // numbers))
    p = max(1, _INPUTS // (numbers * j)) if j == rows else 1
    for first in range(0, models, p):
        for row in range(0, rows, j):
            yield slice(first, first + p), slice(row, row + j)
