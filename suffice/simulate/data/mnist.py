"""MNIST's images and digits in IDX files, from the folders that torchvision makes or from single ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from .memory import MAX_MEMORY, Memory, as_path, opened
from .table import Table

PARTS = {"train": "train", "test": "t10k"}
"""How files of each part begin."""


def mnist(path: str | Path, *, part: str = "train", max_memory: float = MAX_MEMORY) -> Table:
    """Read MNIST's images (n, 784), pixels in [0, 1], and digits from IDX files, compressed or not.

    `path` is torchvision's root, its folder MNIST/raw, or a file of images; `part` train or test (t10k). Tables of
    more than `max_memory` bytes are refused before they are read. Raises `InputError`.
    """
    images = _images(as_path("path", path), as_choice("part", part, [*PARTS]))
    if images is None:
        remedy = f"no {part} images: give the folder of train-images-idx3-ubyte, or the file"
        raise InputError("path", str(path), remedy)
    labels = _sibling(images.parent, images.name.replace("images-idx3", "labels-idx1").removesuffix(".gz"))
    if labels is None:
        raise InputError("path", str(images), "its file of labels is missing")
    memory = Memory(max_memory)
    X, y = read_idx(images, 3, memory), read_idx(labels, 1, memory)
    if len(X) != len(y):
        raise InputError(f"labels in {labels.name}", len(y), f"{images.name} has {len(X)} images")
    X = X.reshape(len(X), -1)
    return Table(name="", X=X / 255.0, y=y.astype(float), columns=tuple(f"pixel{j}" for j in range(X.shape[1])))


def mnist_part(path: Path) -> str | None:
    """The part that a folder has, "train" before "test"; None: it is not MNIST's."""
    return next((part for part in PARTS if _images(path, part) is not None), None)


def _images(path: Path, part: str) -> Path | None:
    if path.is_file():
        return path if path.name.removesuffix(".gz").endswith("images-idx3-ubyte") else None
    found = (_sibling(path / folder, f"{PARTS[part]}-images-idx3-ubyte") for folder in ("", "raw", "MNIST/raw"))
    return next((file for file in found if file is not None), None)


def _sibling(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


def read_idx(path: Path, axes: int, memory: Memory) -> np.ndarray:
    """An IDX array of bytes: two zeros, the type 8, the number of axes, big-endian sizes, then the numbers.

    What is counted is the array of float64 that is made of it. Raises `InputError`.
    """
    begin = 4 + 4 * axes
    with opened(path) as stream:
        head = stream.read(begin)
        if head[:4] != bytes((0, 0, 8, axes)) or len(head) < begin:
            raise InputError("path", str(path), f"not an IDX file of bytes with {axes} axes")
        shape = np.frombuffer(head[4:], dtype=">u4").tolist()
        memory.take(f"the {' x '.join(map(str, shape))} numbers of {path.name}", 8 * math.prod(shape))
        content = stream.read(math.prod(shape) + 1)
    if len(content) != math.prod(shape) or 0 in shape:
        raise InputError("path", str(path), f"does not hold the {shape} numbers that its header says")
    return np.frombuffer(content, np.uint8).reshape(shape)
