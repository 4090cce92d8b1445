"""What would fill the memory is refused before it does: in one line, in 2 GiB, and the line names the way out."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fuzzing import bounded

import suffice as sf

ZEROS = bytes(1 << 24)
LIMIT = "raise it by max_memory (--max-memory)"


def header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def archive(path: Path, kind: int = zipfile.ZIP_DEFLATED, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", kind) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)


def idx(*shape: int) -> bytes:
    return bytes((0, 0, 8, len(shape))) + b"".join(size.to_bytes(4, "big") for size in shape)


def images(folder: Path, content: bytes) -> Path:
    (folder / "train-images-idx3-ubyte.gz").write_bytes(content)
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(2) + bytes(2)))
    return folder


def skewed(folder: Path) -> Path:
    """Three thousand clients, of which one has almost all rows."""
    rows = [f"{row % 3000 if row < 6000 else 0},{row % 7},{row % 11},{row % 2}\n" for row in range(60_000)]
    (folder / "t.csv").write_text("client,a,b,target\n" + "".join(rows))
    return folder / "t.csv"


def made(folder: Path, name: str) -> Path:
    """A file or a folder that would fill the memory."""
    path = folder / name
    match name:
        case "bzip2.npz":
            archive(path, zipfile.ZIP_BZIP2, X=header((2**24,)) + ZEROS * 8, y=header((0,)))
        case "declared.npz":
            archive(path, X=header((10**9, 20)), y=header((10**9,)))
        case "texts.npz":
            archive(path, X=header((2, 2)) + bytes(32), y=header((2,)) + bytes(16), client=header((2,), "<U499999999"))
        case "long.npz":
            archive(path, X=header((2**28, 1), "<i1") + ZEROS * 16, y=header((2,)) + bytes(16))
        case "idx-longer":
            path.mkdir()
            images(path, gzip.compress(idx(2, 2, 2)) + b"".join([gzip.compress(ZEROS)] * 400))
        case "wide.svm":
            path.write_text("1 1:1\n-1 24000000:1\n" * 6)
        case "square.svm":  # a small table whose matrices are not
            path.write_text("1 1:1 2:3\n-1 20000:1\n1 5:2\n-1 4:1\n" * 2)
        case "line.csv":
            path.write_bytes(b"client,target,x\n" + b"1," * (1 << 24))
        case "skewed":
            path.mkdir()
            return skewed(path)
        case "lists.toml":
            path.write_text("[constants]\nmu = [" + "[]," * 6 * 10**6 + "]\n")
        case "streams.toml":
            np.savez(folder / "streams.npz", H=np.eye(600), theta_star=np.ones((4000, 600)))
            path.write_text('[problem]\nkind = "least-squares"\nfile = "streams.npz"\n[target]\nepsilon = 1.0\n')
        case _:  # something without an end
            (os.mkfifo(path) if name.startswith("pipe") else path.symlink_to("/dev/zero"))
    return path


OPTIONS = {
    "wide.svm": {"split": "iid:2"},
    "square.svm": {"split": "iid:2", "regularisation": 0.1, "standardise": "none"},
    "endless": {"split": "iid:2"},
    "idx-longer": {"split": "iid:2"},
    "skewed": {"loss": "logistic", "regularisation": 0.1},
}
REFUSED = {
    "bzip2.npz": "not packed as NumPy does",
    "declared.npz": "not an .npz file of plain number arrays",
    "texts.npz": "not an .npz file of plain number arrays",
    "long.npz": LIMIT,
    "idx-longer": "does not hold the [2, 2, 2] numbers",
    "wide.svm": LIMIT,
    "square.svm": LIMIT,
    "line.csv": "a line of over 16777216 characters",
    "skewed": LIMIT,
    "lists.toml": "no file of this kind is so large",
    "streams.toml": LIMIT,
    "endless.csv": "not a regular file",
    "endless.npz": "not a regular file",
    "endless": "not a regular file",
    "pipe.csv": "not a regular file",
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_would_fill_the_memory_is_refused_in_one_line(tmp_path, name):
    read: Callable[..., object] = sf.read_setup if name.endswith(".toml") else sf.read
    path = made(tmp_path, name)
    with pytest.raises(sf.InputError) as caught, bounded():
        read(path, **OPTIONS.get(name, {}))
    assert REFUSED[name] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_limit_can_be_lowered(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("client,x,target\n" + "".join(f"{row % 2},{row},{row * row % 7}\n" for row in range(20)))
    assert sf.read(path, max_memory=8 * 20).clients == 2
    with pytest.raises(sf.InputError, match="memory for 20 rows of 1 columns"):
        sf.read(path, max_memory=8 * 20 - 1)
    assert sf.read(path, max_memory=8 * 20, drop=["client"], split="iid:2").clients == 2


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), "1e9", None, 1e70])
def test_a_limit_is_a_positive_number(limit):
    with pytest.raises(sf.InputError, match="max_memory"):
        sf.read("sklearn:wine", split="iid:2", max_memory=limit)


@pytest.mark.slow
def test_a_long_csv_of_twenty_columns_is_read_and_planned_for(tmp_path):
    """SUFFICE_CSV_ROWS (200,000) rows of three digits. The whole process takes at most six times the table."""
    rows, rng, columns = int(float(os.environ.get("SUFFICE_CSV_ROWS", "200_000"))), np.random.default_rng(0), 21
    with open(tmp_path / "t.csv", "wb") as stream:
        stream.write(b"client," + b",".join(b"x%d" % j for j in range(20)) + b",target\n")
        for count in [100_000] * (rows // 100_000) + [rows % 100_000]:
            lines = np.full((count, 2 + 5 * columns), ord(","), np.uint8)  # such as a,1.23,4.56
            lines[:, 0] = rng.integers(ord("a"), ord("e"), count)
            numbers = lines[:, 2:].reshape(count, columns, 5)
            numbers[..., 1] = ord(".")
            numbers[..., [0, 2, 3]] = rng.integers(ord("0"), ord("9") + 1, (count, columns, 3))
            lines[:, -1] = ord("\n")
            stream.write(lines.tobytes())
    code = """
import pathlib, sys, time
import suffice as sf
problem = sf.read(sys.argv[1])
# of this process: ru_maxrss is passed on by the one that started it
peak = pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
print(sum(problem.row_counts), len(sf.plan(problem, 0.1)), int(peak) << 10)
print(f"{time.process_time():.0f} s of the processor", file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t.csv")], capture_output=True, text=True, check=True
    )
    print(done.stdout, done.stderr)
    read, clients, peak = map(int, done.stdout.split())
    assert (read, clients) == (rows, 4)
    assert peak < 6 * 8 * rows * 22 + 2**29
