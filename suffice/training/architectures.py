"""Modules by name: small ones for rows and images, and a user's own, which is imported.

The losses of networks are in `suffice.simulate.problems.neural`, their training in `train`.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from torch import nn

from suffice.support.errors import InputError


def module_of(model: Any, shape: tuple[int, ...], outputs: int) -> Any:
    """The module, or its factory, that `Neural.of` takes for rows of `shape`; `InputError` for an unknown name.

    `package.module:Factory` imports the module, the working folder first, which runs its code.
    """
    if not isinstance(model, str):
        return model
    if model in MODELS:
        made = MODELS[model]
        return lambda: made(shape, outputs)
    package, colon, name = model.partition(":")
    if not (package and colon and name):
        remedy = f"use {', '.join(MODELS)}, or package.module:Factory, called without arguments"
        raise InputError("model", model, remedy)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(import_module(package), name)
    except Exception as error:  # whatever a user's module raises
        raise InputError("model", model, f"cannot be imported: {type(error).__name__}: {error}") from None


def _mlp(shape: tuple[int, ...], outputs: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), 64), nn.ReLU(), nn.Linear(64, outputs))


def _cnn(shape: tuple[int, ...], outputs: int) -> nn.Module:
    channels, height, width, first = _image("cnn", shape, 4)
    return nn.Sequential(
        *first,
        *(nn.Conv2d(channels, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * (height // 4) * (width // 4), outputs)),
    )


def _lenet(shape: tuple[int, ...], outputs: int) -> nn.Module:
    """LeNet-5 (LeCun et al., 1998) with rectified units and pooling by maxima."""
    channels, height, width, first = _image("lenet", shape, 12)
    size = 16 * ((height // 2 - 4) // 2) * ((width // 2 - 4) // 2)
    return nn.Sequential(
        *first,
        *(nn.Conv2d(channels, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(size, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, outputs)),
    )


def _image(name: str, shape: tuple[int, ...], least: int) -> tuple[int, int, int, list[Any]]:
    """Channels, height, width, and what gives images without an axis of channels one."""
    if len(shape) not in (2, 3) or min(shape[-2:]) < least:
        remedy = f"it takes images of shape (height, width) or (channels, height, width), {least} pixels at least"
        raise InputError(f"rows for {name}", shape, f"{remedy}; use mlp for other rows")
    height, width = shape[-2:]
    return (shape[0], height, width, []) if len(shape) == 3 else (1, height, width, [nn.Unflatten(1, (1, height))])


MODELS: dict[str, Callable[[tuple[int, ...], int], nn.Module]] = {"mlp": _mlp, "cnn": _cnn, "lenet": _lenet}
