"""Many problems or algorithms of one kind and shape as one whose tensors carry a leading axis; copies of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from suffice.support.errors import InputError

Part = TypeVar("Part")

# A frozen dataclass checks itself when it is built; its checks ask for one instance's shapes and for numbers that a
# batched call does not know. What is copied here has been checked before, or was built from a batch checked as a whole.


def over_tensors(function: Callable[[Tensor], Tensor], part: Part, *, real: bool = True) -> Part:
    """A copy of a dataclass with `function` of its tensors, `real` ones alone, and of those of its dataclasses; nothing
    is checked."""
    if isinstance(part, Tensor):
        return cast(Part, function(part)) if part.is_floating_point() or not real else part
    if not is_dataclass(part):
        return part
    return _copied(part, lambda name: over_tensors(function, getattr(part, name), real=real))


def to_device(part: Part, dtype: torch.dtype | None, device: Any) -> Part:
    """A copy of a dataclass with all tensors on a device, and the real ones in one precision; nothing is checked."""

    def to(part: Tensor) -> Tensor:
        return part.to(device, dtype if dtype and part.is_floating_point() else part.dtype)

    return over_tensors(to, part, real=False)


def stack(parts: Sequence[Part]) -> Part:
    """The batch of `parts`; floats that differ become tensors. All else, labels too, has to be the same (`InputError`).

    A problem's batch can be built at once, by `split`, or by its plain constructor from tensors that have the axis.
    """
    given: list[Any] = list(parts)
    first = given[0]
    if isinstance(first, Tensor) and first.is_floating_point():
        return cast(Part, torch.stack(given))
    if isinstance(first, float) and any(part != first for part in given):
        return cast(Part, torch.tensor(given, dtype=torch.float64))
    if is_dataclass(first):
        return _copied(first, lambda name: stack([getattr(part, name) for part in given]))
    if not all(torch.equal(part, first) if isinstance(first, Tensor) else part == first for part in given):
        raise InputError("batch", first, "instances of one batch differ in numbers alone")
    return cast(Part, first)


def split(part: Part, count: int) -> Part:
    """A problem of B N clients, checked as a whole, as the batch of `count` = B problems of N clients each."""
    if isinstance(part, Tensor):
        return cast(Part, part.unflatten(0, (count, -1)))
    if isinstance(part, tuple):
        return cast(Part, part[: len(part) // count])
    if not is_dataclass(part):
        return part
    return _copied(part, lambda name: split(getattr(part, name), count))


def tensors(part: Any) -> list[Tensor]:
    """All real tensors of a dataclass, in order."""
    found: list[Tensor] = []
    over_tensors(lambda each: found.append(each) or each, part)
    return found


def with_tensors(part: Part, given: Sequence[Tensor]) -> Part:
    """The same dataclass with others."""
    rest = iter(given)
    return over_tensors(lambda _: next(rest), part)


def instances(batch: Part, count: int) -> list[Part]:
    """Every one of a batch of `count`."""
    columns = [each.unbind(0) for each in tensors(batch)]
    return [with_tensors(batch, [column[at] for column in columns]) for at in range(count)]


def _copied(part: Any, value: Callable[[str], Any]) -> Any:
    copy = object.__new__(type(part))
    vars(copy).update({name: value(name) for name in part.__dataclass_fields__})
    return copy
