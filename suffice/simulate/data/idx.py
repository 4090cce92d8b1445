"""IDX files, the format of MNIST: arrays of bytes behind a short header, compressed or not."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from suffice.support.errors import InputError

from .memory import Memory, opened


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
