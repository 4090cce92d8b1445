"""Networks: the losses of any torch module on clients' rows. Minima and constants are unknown, so it is an `Oracle`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from suffice.bounds import labelled
from suffice.support.errors import InputError
from suffice.support.memory import MAX_MEMORY, Memory
from suffice.support.numbers import as_whole

from ..oracle import Measure, Oracle, short
from ..randomness import Randomness
from .flat_module import FlatModule, RowLoss
from .module_requirements import admitted
from .network_input import built, chosen_loss, divided, remarks, rows_of
from .rows import Rows

Parts = float | tuple[Sequence[Any], Sequence[Any]] | None
"""Rows beside those for training: a share of each client's, or arrays (X, y) like the first ones."""

_MODELS = 10
"""So many vectors of a client's parameters a run with momentum holds at once, measured on 300,000 and 1,000,000."""


@dataclass(frozen=True, kw_only=True)
class Neural(Oracle):
    """Clients with rows X_i (n_i, ...) and targets y_i (n_i, ...), and one module whose parameters are the features.

    R_i is the mean loss over client i's training rows; stochastic gradients average `batch` of them, drawn with
    replacement. Models are vectors (d,) of the module's trainable parameters; `module_of` makes modules of them.

    data        rows for training; `validation` for algorithms that judge models, `test` for metrics
    batch       rows that one stochastic gradient averages
    """

    __repr__ = short
    flat: FlatModule
    data: Rows
    start: Tensor
    names: tuple[str, ...]
    batch: int
    validation: Rows | None = None
    test: Rows | None = None
    remarks: tuple[str, ...] = ()
    measure: Measure = "loss"

    @classmethod
    def of(
        cls,
        module: nn.Module | Callable[[], nn.Module],
        X: Sequence[Any],
        y: Sequence[Any],
        *,
        loss: str | RowLoss | None = None,
        batch: int = 16,
        validation: Parts = None,
        test: Parts = None,
        seed: int = 0,
        names: Sequence[str] = (),
        max_memory: float = MAX_MEMORY,
    ) -> Neural:
        """Build from one (n_i, ...) array and one array of targets per client; whole numbers as targets are labels.

        module      a module, whose parameters are where all clients start, or a function that returns one, called with
                    torch seeded by `seed`. Its rows must not influence one another, nor may it draw random numbers or
                    keep anything: batch normalisation and dropout are refused; use group normalisation
        loss        "cross-entropy" (labels), "squared", or a function of outputs and targets with one loss per row,
                    as those of torch with reduction="none"; default by the targets
        validation  a share of each client's rows, or arrays (X, y): by them FedFomo, IFCA and the like judge models
        test        the same, for the test loss and accuracy that traces record
        seed        of the module's start and of the shares
        max_memory  bytes: rows twice, while they are joined, and ten models of each client, as a run with momentum has
        Raises `InputError`.
        """
        labels = labelled(names, len(X) if isinstance(X, Sequence) or hasattr(X, "__len__") else 0)
        network = built(module, as_whole("seed", seed, least=0))
        data = rows_of(X, y, labels, network)
        memory, size = Memory(max_memory), sum(each.numel() * each.element_size() for each in network.parameters())
        memory.take("rows of clients", 2 * sum(each.numel() * each.element_size() for each in (data.X, data.y)))
        memory.take(f"models of {len(labels)} clients", _MODELS * len(labels) * size)
        data, judged = divided("validation", validation, data, labels, network, seed=seed, number=0)
        data, tested = divided("test", test, data, labels, network, seed=seed, number=1)
        flat = FlatModule(module=network, loss=chosen_loss(loss, data))
        flat = admitted(flat, loss, labels, data, judged, tested)
        return cls(
            flat=flat,
            data=data,
            start=flat.start().expand(len(labels), -1).clone(),
            names=labels,
            batch=as_whole("batch", batch),
            remarks=remarks(data, labels, flat),
            validation=judged,
            test=tested,
        )

    @property
    def row_counts(self) -> tuple[int, ...]:
        return tuple(self.data.counts.tolist())

    @property
    def draw_size(self) -> int:
        """The rows of a batch, not as many vectors of parameters."""
        return self.clients * self.batch * self.data.X[0].numel()

    def drawn(self, randomness: Randomness, batch: int, **when: Any) -> Tensor:
        """Indices of the sampled rows of each client, (S, N, batch), with replacement."""
        return self.data.draw(randomness, **when, batch=batch)

    @property
    def selects(self) -> bool:
        return super().selects or not self.flat.side_by_side(self.clients * self.batch)

    # One model takes all its rows in one backward pass: sum_k w_k g_k(theta) = grad sum_k (w_k / m) sum_j loss_kj.

    def _gradients(self, theta: Tensor, index: Tensor, weights: Tensor) -> Tensor:
        """theta (..., d), index and weights (..., J)."""
        models, index, weights = (each.reshape(-1, each.shape[-1]) for each in (theta, index, weights.expand_as(index)))
        return self.flat.gradients(models, self.data.X, self.data.y, index, weights).view(theta.shape)

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        m = draw.shape[-1]
        if weights is None:
            return self._gradients(theta, draw, theta.new_full((), 1 / m))
        # the clients of positive weight first, as many as the model with most of them has; padded by one of its own
        used = weights != 0
        most = max(1, int(used.sum(-1).max())) if self.selects else used.shape[-1]
        chosen = used.to(torch.uint8).argsort(dim=-1, descending=True, stable=True)[..., :most]
        weights = weights.gather(-1, chosen)
        chosen = torch.where(weights != 0, chosen, chosen[..., :1])
        rows = draw.flatten(0, 1)[chosen + draw.shape[1] * torch.arange(len(draw), device=draw.device)[:, None, None]]
        return self._gradients(theta, rows.flatten(-2), (weights / m).repeat_interleave(m, -1))

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        index = draw[:, None].expand(-1, theta.shape[1], -1, -1)
        return self._gradients(theta, index, theta.new_full((), 1 / draw.shape[-1]))

    def gradient(self, theta: Tensor) -> Tensor:
        index, frequency = self._whole(self.data)
        return self._gradients(theta, index.expand(len(theta), -1, -1), frequency)

    # One client's rows at a time: N d numbers, not N^2 d.

    def gradient_gap(self, theta: Tensor) -> Tensor:
        index, frequency = self._whole(self.data)
        return self._gaps(theta, index.expand(len(theta), -1, -1), frequency)[0]

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        gap, own = self._gaps(theta, draw, theta.new_full(draw.shape[1:], 1 / draw.shape[-1]))
        return gap, (own**2).sum(-1)

    def _gaps(self, theta: Tensor, index: Tensor, frequency: Tensor) -> tuple[Tensor, Tensor]:
        """|g_k(theta_i) - g_i(theta_i)|^2 as [s, i, k] (S, N, N), beside everybody's own gradients, (S, N, d)."""
        gap, own = theta.new_zeros(*theta.shape[:2], self.clients), self._gradients(theta, index, frequency)
        for k in range(self.clients):
            rows = index[:, k : k + 1].expand(-1, theta.shape[1], -1)
            gap[..., k] = ((self._gradients(theta, rows, frequency[k]) - own) ** 2).sum(-1)
        gap.diagonal(dim1=-2, dim2=-1).zero_()
        return gap, own

    def _whole(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """Every row's index and frequency, (N, J) each."""
        index, frequency = rows.padded()
        return index.T.contiguous(), frequency.T.contiguous().to(self.dtype)

    def _means(self, rows: Rows, theta: Tensor, function: Callable[..., Tensor]) -> Tensor:
        """Each client's mean of `function` over its rows, (S, N) or (S, N, 2)."""
        index, frequency = self._whole(rows)
        of_rows = index.expand(len(theta), -1, -1).reshape(-1, index.shape[-1])
        found = self.flat.evaluate(function, theta.reshape(-1, theta.shape[-1]), rows.X, rows.y, of_rows)
        return torch.einsum("snj...,nj->sn...", found.unflatten(0, theta.shape[:2]), frequency)

    def value(self, theta: Tensor) -> Tensor:
        return self._means(self.data, theta, self.flat.row_losses)

    def held_out(self, theta: Tensor) -> Tensor:
        if self.validation is None:
            remedy = "this algorithm judges models on rows held out: give a share, Neural.of(validation=0.2), or arrays"
            raise InputError("validation", None, remedy)
        return self._means(self.validation, theta, self.flat.row_losses)

    def metrics(self, theta: Tensor) -> Mapping[str, Tensor]:
        if self.test is None:
            return {}
        if self.test.y.is_floating_point():
            return {"test loss": self._means(self.test, theta, self.flat.row_losses)}
        loss, hits = self._means(self.test, theta, self.flat.scores).unbind(-1)
        return {"test loss": loss, "test accuracy": hits}

    def module_of(self, model: Any) -> nn.Module:
        """The module with the parameters `model` (d,), for instance of `trace.models[seed, client]`."""
        flat = torch.as_tensor(model).to(self.start)
        if flat.shape != (self.features,):
            raise InputError("model", f"array of shape {tuple(flat.shape)}", f"give one model, ({self.features},)")
        return self.flat.module_with(flat)

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> Neural:
        return replace(super().to(dtype, device), flat=self.flat.to(dtype, device))
