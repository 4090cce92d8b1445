"""CIFAR-10 and CIFAR-100 from the folders of their binary versions, which are numbers alone.

The versions for Python and MATLAB are refused: pickles would run whatever code they hold.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from suffice.support.errors import InputError

from .memory import MAX_MEMORY, Memory, as_path

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
PARTS: dict[str, tuple[tuple[str, ...], int, int]] = {
    "train": (tuple(f"data_batch_{k}.bin" for k in range(1, 6)), 1, 10),
    "test": (("test_batch.bin",), 1, 10),
    "train of 100": (("train.bin",), 2, 100),
    "test of 100": (("test.bin",), 2, 100),
}
"""Files, bytes before the pixels of an image, of which the last is its class, and classes."""
BINARY = "give the folder of the binary version (cifar-10-binary.tar.gz or cifar-100-binary.tar.gz, unpacked)"


def cifar(path: str | Path, *, part: str = "train", max_memory: float = MAX_MEMORY) -> tuple[np.ndarray, np.ndarray]:
    """Read images (n, 3, 32, 32) in [0, 1], float32, and their classes (n,), of CIFAR-10 or CIFAR-100 (fine classes).

    `path` is the folder of the .bin files, or the one that holds it; `part` train or test. Images of more than
    `max_memory` bytes are refused before they are read. Raises `InputError`, also for the versions with pickles.

    Source: Krizhevsky (2009), https://www.cs.toronto.edu/~kriz/cifar.html, "binary version".
    """
    if part not in ("train", "test"):
        raise InputError("part", part, "use train or test")
    folder = as_path("path", path)
    folders = [folder, *(folder / name for name in ("cifar-10-batches-bin", "cifar-100-binary"))]
    for where in folders:
        for kind in (part, f"{part} of 100"):
            names, before, classes = PARTS[kind]
            files = [where / name for name in names]
            if any(file.is_file() for file in files):
                return _read(files, before, classes, Memory(max_memory))
    pickled = [
        where / name for where in (folder, *(folder.glob("cifar-*"))) for name in ("data_batch_1", "train", "meta")
    ]
    if any(file.is_file() for file in pickled):
        raise InputError("path", str(path), f"the version for Python holds pickles, which are not read; {BINARY}")
    raise InputError("path", str(path), f"no {part} images of CIFAR; {BINARY}")


def _read(files: list[Path], before: int, classes: int, memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    row, parts = before + PIXELS, []
    for file in files:
        if not file.is_file():
            raise InputError("path", file.name, "this file of the archive is missing")
        size = file.stat().st_size
        if size == 0 or size % row:
            raise InputError("path", file.name, f"its {size} bytes are no multiple of an image's {row}; is it cut off?")
        memory.take(f"{size // row} images", 6.0 * size)
        parts.append(np.fromfile(file, np.uint8).reshape(-1, row))
        if (worst := int(parts[-1][:, before - 1].max())) >= classes:
            remedy = f"give 0 to {classes - 1}: it is no file of CIFAR-{classes}"
            raise InputError(f"class in {file.name}", worst, remedy)
    rows = np.concatenate(parts)
    return (rows[:, before:] / np.float32(255)).reshape(-1, *SHAPE), rows[:, before - 1].astype(np.int64)
