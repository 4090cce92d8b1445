"""Admission of networks: whether a module and a loss do what networks ask of them, tried on a few rows.

What is asked: the gradient of a weighted sum of losses is the sum of the rows' own gradients, whichever rows are
together; nothing is drawn, and nothing is remembered from one call to the next. It is tried at models beside the
start, where a last layer may be zero and hide what comes before, by autograd on one copy of the module, as a plain loop
has it. In single precision rounding decides at a kink, so that gradients are compared at more models than one.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import vmap

from suffice.support.errors import InputError

from .flat_module import FlatModule
from .rows import Rows

_FEW = 4
"""Rows that are tried together and alone."""
_BESIDE = (0.5, 0.05, 0.005, 0.0)
"""How far beside the start, in units of one over the root of the inputs of a parameter's row; the first that gives
numbers is taken."""
_NORMS = "use nn.GroupNorm or nn.LayerNorm as norms"
_SPAN, _CHUNK = 1 << 22, 64
"""Whole numbers that differ by more are no indices; rows that are compared at once."""


def admitted(flat: FlatModule, given: Any, labels: Sequence[str], data: Rows, *others: Rows | None) -> FlatModule:
    """The module as it runs best; `InputError` for what it must not do.

    given  the loss as the user gave it, of which `flat.loss` has one number per row
    """
    parts = [part for part in (data, *others) if part is not None]
    tried = _Tried(replace(flat, vmaps=False), data)
    outputs = tried.outputs()
    if not data.y.is_floating_point() and outputs.ndim == data.y.ndim + 1:
        wanted = tuple(data.y.shape[1:])
        if tuple(outputs.shape[1:-1]) == wanted != tuple(outputs.shape[2:]):
            right = f"(rows, classes, {', '.join(map(str, wanted))})"
            tried.refuse(f"give outputs {right}, as outputs.transpose(1, -1), not {tuple(outputs.shape)}")
        _check_labels(outputs.shape[1], getattr(flat.loss, "ignore_index", None), labels, parts)
    tried.losses(outputs, given)
    tried.keeps_nothing()
    tried.rows_alone()
    for part in parts[1:]:  # values of theirs alone
        tried.called("module", tried.flat.outputs, tried.models[0], part.X[telling(part)])
    return replace(flat, vmaps=flat.side_by_side(1) and tried.vmaps(flat))


def telling(data: Rows) -> Tensor:
    """Places of a few different rows, and of rows that together hold every value of whole numbers."""
    places = {as_bytes(row): at for at, row in reversed(list(enumerate(data.X[: 20 * _FEW])))}
    chosen = set(sorted(places.values())[:_FEW])
    for part in (data.X,) if data.y.is_floating_point() else (data.X, data.y):
        low, blocks = part.min(), part.split(data.counts.tolist())
        if part.max() - low > _SPAN or not all(bool((block == block.round()).all()) for block in blocks):
            continue
        holder = np.full(int(part.max() - low) + 1, -1)
        for first, block in zip(data.first.tolist(), blocks):
            values = (block - low).long().reshape(len(block), -1)
            holder[values.numpy()] = first + np.arange(len(block))[:, None]
        chosen |= set(holder[holder >= 0].tolist())
    found = sorted(chosen)
    return torch.tensor(found if len(found) > 1 else found * 2)


class _Tried:
    """A module on rows that tell, at three models beside its start."""

    def __init__(self, flat: FlatModule, data: Rows) -> None:
        self.flat, self.worker = flat, flat.worker[0]
        at = telling(data)
        self.X, self.y = data.X[at], data.y[at]
        self.x, self.t = self.X[:_FEW], self.y[:_FEW]
        self.close = torch.finfo(flat.start().dtype).eps ** 0.5
        self.before, self.generators = _fixed(self.worker), _generators()

    def called(self, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's result on copies; what a user's module or loss raises becomes an `InputError` of one line."""
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a broadcast is refused below
            try:
                return function(*(each.clone() for each in arguments))
            except Exception as error:
                rows = f"rows {(len(arguments[-1]), *self.X.shape[1:])}, {self.y.dtype} targets"
                what = f"{what} {type(self.flat.module).__name__}" if what == "module" else what
                raise InputError(what, rows, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from None

    def refuse(self, why: str) -> NoReturn:
        raise InputError("module", type(self.flat.module).__name__, why)

    def outputs(self) -> Tensor:
        """The outputs at a model beside the start; refuses all but one tensor with finite numbers for each row."""
        start = self.flat.start()
        outputs = self.called("module", self.flat.outputs, start, self.X)
        if not isinstance(outputs, Tensor):
            self.refuse(f"its forward gives a {type(outputs).__name__}: return one tensor, (rows, ...)")
        if outputs.ndim == 0 or len(outputs) != len(self.X):
            self.refuse(f"give outputs (rows, ...), not {tuple(outputs.shape)} for {len(self.X)} rows")
        if not bool(torch.isfinite(outputs).all()):
            worst = outputs[~torch.isfinite(outputs)][0].item()
            self.refuse(f"its outputs at the start have {worst}: scale the rows, or look for roots and quotients at 0")
        for scale in _BESIDE:
            self.models, self.others = _beside(start, self.flat.shapes, scale)
            found = torch.stack([self.called("module", self.flat.outputs, model, self.X) for model in self.models])
            if bool(torch.isfinite(found).all()):
                break
        return self.called("module", self.flat.outputs, self.models[0], self.X)

    def losses(self, outputs: Tensor, given: Any) -> None:
        """Check that each row has one loss, whose mean is what the loss gives of all rows, if that is one number."""
        losses = self.called("loss", self.flat.loss, outputs, self.y)
        shape = tuple(losses.shape) if isinstance(losses, Tensor) else ()
        if shape != tuple(self.y.shape)[: len(shape)] or not shape:
            shapes = f"outputs {tuple(outputs.shape)}, targets {tuple(self.y.shape)}: loss of shape {shape}"
            remedy = 'give one loss per row, as reduction="none" does'
            if outputs.numel() == self.y.numel() and outputs.shape != self.y.shape:
                remedy = "give outputs and targets one shape, as module(x).squeeze(-1) or y[:, None] have"
            raise InputError("loss", shapes, remedy)
        whole = self.called("loss", given, outputs, self.y) if callable(given) else losses
        gap = (whole - losses.mean()).abs() if whole.ndim == 0 else whole.new_zeros(())
        if bool(gap > self.close * losses.abs().max()):
            remedy = (
                f"the mean of the rows' losses is {losses.mean().item():.6g}, as a sum, weights of classes and ignored "
                'rows are no mean of rows; give reduction="none", and their mean over a batch is trained on'
            )
            raise InputError(f"loss {type(given).__name__} of {len(self.y)} rows", whole.item(), remedy)

    def keeps_nothing(self) -> None:
        """Check that nothing is drawn, and nothing remembered from one call to the next."""
        model, kept, seen = self.models[0], self.models[0].clone(), []
        for _ in range(2):
            outputs = self.called("module", self.flat.outputs, model, self.x)
            losses = self.called("loss", self.flat.loss, outputs, self.t)
            seen.append((as_bytes(outputs), as_bytes(losses), _numbers(self.worker)))
        with torch.no_grad():
            self.flat.outputs(kept, self.x.clone())
        changed = [name for name, content in _fixed(self.worker).items() if content != self.before[name]]
        if changed:
            self.refuse(f"its forward changes {changed[0]}, which models would share: use nn.GroupNorm or nn.LayerNorm")
        if not torch.equal(model, kept):
            self.refuse("its forward changes its parameters: leave that to the steps, or change copies")
        if seen[0][2] != seen[1][2]:
            self.refuse("its forward changes its attributes, which models would share: leave that out")
        if seen[0] != seen[1] or self.generators != _generators():
            self.refuse("its forward draws random numbers that no seed of a run decides: remove them (dropout=0)")

    def rows_alone(self) -> None:
        """Check that outputs and gradients of the rows together are those of each row alone."""
        columns = (self.x, self.t, torch.arange(1.0, len(self.x) + 1).to(self.models))

        def answers(model: Tensor, *rows: Tensor) -> tuple[Tensor, Tensor]:
            outputs = self.called("module", self.flat.outputs, model, rows[0])
            return outputs, self.called("module", self.flat.gradient_alone, model, *rows)

        same = []
        for model in self.models:
            outputs, gradient = answers(model, *columns)
            try:
                alone = [answers(model, *row) for row in zip(*(column.split(1) for column in columns))]
            except InputError as error:
                self.refuse(f"it fails on a row alone ({error.remedy[:80]}); {_NORMS}")
            each, total = torch.cat([one for one, _ in alone]), torch.stack([one for _, one in alone]).sum(0)
            if each.shape != outputs.shape or not _near(each, outputs, self.close):
                break
            same.append(self._same_gradients(gradient[None], total[None]))
        if len(same) < len(self.models) or not any(same):
            self.refuse(f"the rows of a batch influence one another: layers need batch_first=True; {_NORMS}")

    def _same_gradients(self, found: Tensor, expected: Tensor) -> bool:
        """Whether gradients agree within rounding of each parameter's largest entry and of the largest of all."""
        least = 100 * self.close**2 * expected.abs().amax(1)
        parts = zip(found.split(self.flat.sizes, 1), expected.split(self.flat.sizes, 1))
        return all(_near(*both, self.close, least) for both in parts)

    def vmaps(self, flat: FlatModule) -> bool:
        """Whether torch runs models side by side fast and with the same gradients; it warns where it loops inside.

        All models are compared, on every value of whole numbers: torch pads the table of the first model alone.
        """
        chunks = zip(self.X.split(_CHUNK), self.y.split(_CHUNK))
        return all(any(self._vmapped(flat, models, x, y) for models in (self.models, self.others)) for x, y in chunks)

    def _vmapped(self, flat: FlatModule, models: Tensor, x: Tensor, y: Tensor) -> bool:
        weights = models.new_ones(len(x))
        columns = [each.expand(len(models), *each.shape).clone() for each in (x, y, weights)]
        try:
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("error")
                losses = vmap(flat.row_losses)(models, *columns[:2])
                found = flat.total_gradient(models, *columns)
        except Exception:  # whatever a user's module raises there; it has run by itself
            return False
        alone = torch.stack([self.flat.gradient_alone(model, x.clone(), y, weights) for model in models])
        of_rows = torch.stack([self.flat.row_losses(model, x.clone(), y) for model in models])
        return _near(losses, of_rows, self.close) and self._same_gradients(found, alone)


def _near(one: Tensor, other: Tensor, close: float, least: Tensor | float = 0.0) -> bool:
    """Whether both agree, model by model or row by row, relative to the largest; NaN must be NaN in both."""
    if not other.numel():
        return True
    one, other = one.reshape(len(one), -1), other.reshape(len(other), -1)
    same = (one == other) | (one.isnan() & other.isnan())
    gap = torch.where(same, 0, (one - other).abs()).nan_to_num(torch.inf).amax(1)
    return bool((gap <= close * other.nan_to_num(0, 0, 0).abs().amax(1) + least).all())


def _beside(start: Tensor, shapes: Sequence[torch.Size], scale: float) -> Tensor:
    """Twice three random models beside the start, (2, 3, d)."""
    noise = torch.randn(2, 3, len(start), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    widths = [max(1, math.prod(shape[1:] or shape)) for shape in shapes]
    size = torch.cat([torch.full((shape.numel(),), width**-0.5) for shape, width in zip(shapes, widths)])
    return (start + scale * size * noise).to(start)


def as_bytes(tensor: Tensor) -> bytes:
    return tensor.detach().cpu().flatten().contiguous().view(torch.uint8).numpy().tobytes()


def _fixed(module: nn.Module) -> dict[str, bytes]:
    """Buffers and frozen parameters by name; the other parameters are views of a model."""
    frozen = ((name, part) for name, part in module.named_parameters() if not part.requires_grad)
    return {name: as_bytes(part) for name, part in (*frozen, *module.named_buffers())}


def _numbers(module: nn.Module) -> list[Any]:
    """The attributes of all parts of the module that are numbers."""
    return [value for part in module.modules() for value in vars(part).values() if isinstance(value, (int, float))]


def _generators() -> list[Any]:
    numpy = [each.tolist() if isinstance(each, np.ndarray) else each for each in np.random.get_state()]  # noqa: NPY002
    return [torch.get_rng_state().tolist(), numpy, random.getstate()]


def _check_labels(classes: int, ignored: int | None, labels: Sequence[str], parts: Sequence[Rows]) -> None:
    for rows in parts:
        for name, block in zip(labels, rows.y.split(rows.counts.tolist())):
            wrong = block[((block < 0) | (block >= classes)) & (block != ignored if ignored is not None else True)]
            if len(wrong):
                remedy = f"the module has {classes} outputs: give labels 0 to {classes - 1}"
                raise InputError(f"label of client {name}", int(wrong[0]), remedy)
