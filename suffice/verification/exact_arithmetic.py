"""Torch's operations in exact arithmetic beside their floats: each real tensor has a shadow of whole numbers.

An algorithm's step is a function of tensors, and is run as it is. Sums, products, quotients and whole powers are
computed again from the shadows; what only moves numbers is found by calling it with the places of its arguments'
entries instead of their values. What else an operation gives is known as its float, and is counted in `rounded`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

BITS = 1024
"""Shadows are multiples of 2^-BITS: floats above 1e-290 are, and products and quotients are rounded down to one."""
_NUDGED = 45
_FIRST = 2**40 + 1
"""The first place of an entry: no entry is such a number."""
NUDGE = 2.0**-_NUDGED
"""The share by which a number known as its float alone is moved to see what depends on it: 2^8 times its rounding."""


def whole(number: Any) -> int:
    """A number as a multiple of 2^-BITS."""
    return int(Fraction(number) * 2**BITS) if np.isfinite(number) else 0


def _read(tensor: Tensor) -> np.ndarray:
    """The floats of a tensor as multiples of 2^-BITS."""
    return np.array([whole(each) for each in tensor.flatten().tolist()], dtype=object).reshape(tensor.shape)


def times(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    found = one @ other
    return found >> BITS if found.dtype == object else found


def _over(one: Any, other: Any) -> Any:
    return one * 2**BITS // np.where(other == 0, 1, np.array(other, dtype=object))


def _power(base: Any, exponent: Any) -> Any:
    assert exponent == int(exponent)
    result = base * 0 + 2**BITS
    for _ in range(abs(int(exponent))):
        result = (result * base) >> BITS
    return result if exponent >= 0 else _over(np.full_like(result, 2**BITS), result)


def _sum(one: np.ndarray, axes: Sequence[int] | None = None, keepdim: bool = False) -> np.ndarray:
    return np.array(one.sum(axis=tuple(axes) if axes else None, keepdims=keepdim), dtype=object)


def _mean(one: np.ndarray, axes: Sequence[int] | None = None, keepdim: bool = False) -> np.ndarray:
    total = _sum(one, axes, keepdim)
    return total // (one.size // max(total.size, 1))


_NUMBERS: Mapping[str, Callable[..., Any]] = {
    "add": lambda one, other: one + other,
    "sub": lambda one, other: one - other,
    "mul": lambda one, other: (one * other) >> BITS,
    "div": _over,
    "reciprocal": lambda one: _over(2**BITS, one),
    "neg": lambda one: -one,
    "abs": np.abs,
    "maximum": np.maximum,
    **dict.fromkeys(("mm", "bmm", "mv", "dot"), times),
}
"""Operations by torch's name, all of whose arguments are numbers; `alpha` multiplies the second one."""
_OTHERS: Mapping[str, Callable[..., Any]] = {
    "pow": _power,
    "sum": _sum,
    "mean": _mean,
    "amax": lambda one, axes=(), keepdim=False: one.max(axis=tuple(axes) or None, keepdims=keepdim),
}
"""Operations by torch's name of which only the first argument is a tensor."""


class ExactTensors(TorchDispatchMode):
    """Within this mode `shadow(tensor)` has the multiples of 2^-BITS that a real tensor stands for, its floats if made
    outside. With a `seed`, what is known as its float is moved by NUDGE at random."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.rounded = 0
        self._rng = np.random.default_rng(seed) if seed else None
        self._memory: dict[int, tuple[Any, np.ndarray]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False, as True would import torch's compiler, which takes seconds."""
        return False

    def shadow(self, tensor: Tensor) -> np.ndarray:
        """The shadow of a tensor, which shares memory as the tensor does, so that views need nothing."""
        if not tensor.numel() or not tensor.is_floating_point():
            return _read(tensor)
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._memory:
            flat = tensor.detach().as_strided((storage.nbytes() // tensor.element_size(),), (1,), 0)
            self._memory[storage.data_ptr()] = storage, _read(flat)
        known = self._memory[storage.data_ptr()][1][tensor.storage_offset() :]
        strides = [8 * each for each in tensor.stride()]
        return np.lib.stride_tricks.as_strided(known, tuple(tensor.shape), strides)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        returned = func._schema.returns
        alias = returned[0].alias_info if returned else None
        given = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        real = [each for each in given if each.is_floating_point()]
        if (alias is not None and not alias.is_write) or not real:
            return func(*args, **kwargs)
        name = func._overloadpacket.__name__.removesuffix("_")
        exact = self._computed(name, args, kwargs)
        before = [(self.shadow(each).copy(), each.clone()) for each in real] if exact is None else []
        found = func(*args, **kwargs)
        for out in found if isinstance(found, tuple | list) else [found]:
            if isinstance(out, Tensor) and out.is_floating_point():
                moved = self._moved(func, args, kwargs, before, out) if exact is None else exact
                if alias is None:
                    self._memory[out.untyped_storage().data_ptr()] = (
                        out.untyped_storage(),
                        np.zeros(out.untyped_storage().nbytes() // out.element_size(), dtype=object),
                    )
                self.shadow(out)[...] = moved
        return found

    def _computed(self, name: str, args: Any, kwargs: Any) -> Any:
        def number(each: Any) -> Any:
            return self.shadow(each) if isinstance(each, Tensor) else whole(each)

        if name == "rsub":
            name, args = "sub", (args[1], args[0])
        if name in _NUMBERS and set(kwargs) <= {"alpha"}:
            one, *other = map(number, args)
            return _NUMBERS[name](
                one, *((each * whole(a) >> BITS for each in other) if (a := kwargs.get("alpha")) else other)
            )
        if name in _OTHERS and (name != "pow" or (isinstance(args[1], int | float) and float(args[1]).is_integer())):
            return _OTHERS[name](number(args[0]), *args[1:])
        return None

    def _moved(
        self, func: Any, args: Any, kwargs: Any, before: Sequence[tuple[np.ndarray, Tensor]], out: Tensor
    ) -> Any:
        """Return the exact result if the operation only moves numbers or ignores them, else its floats."""
        sizes = np.cumsum([0, *(known.size for known, _ in before)])
        places = iter([
            torch.arange(_FIRST + low, _FIRST + low + known.size, dtype=torch.float64).reshape(known.shape)
            for low, (known, _) in zip(sizes, before)
        ])  # fmt: skip
        swapped = tree_map(
            lambda each: next(places) if isinstance(each, Tensor) and each.is_floating_point() else each, (args, kwargs)
        )
        try:
            at = func(*swapped[0], **swapped[1])
        except (RuntimeError, IndexError):
            at = None
        if isinstance(at, Tensor) and at.shape == out.shape:
            if torch.equal(at.to(out), out):  # the same whatever it is given
                return _read(out)
            index = at.long() - _FIRST
            if bool(((at == at.round()) & (index >= 0) & (index < int(sizes[-1]))).all()):
                floats = torch.cat([each.to(out).flatten() for _, each in before])
                if torch.equal(floats[index], out):
                    return np.concatenate([known.ravel() for known, _ in before])[index.numpy()]
        self.rounded += 1
        known = _read(out)
        if self._rng is not None:
            moves = np.array(self._rng.choice([-1, 1], known.shape), dtype=object)
            known = known + moves * (known >> _NUDGED)
        return known
