"""Build paths.c on first use with the machine's own C compiler, and keep the result.

C through ctypes, because a C compiler is more often at hand than LLVM's Python (numba pins NumPy and Python versions
and cannot say "this register holds 8 seeds"), and torch's C++ extensions take a minute to build where this takes two
seconds. Nothing is built at installation, and where nothing can be built, the reference remains.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import torch

from bounds import write_whole

# No -ffast-math: it assumes that there is no NaN, and loading such a library flushes subnormals in the whole process.
_FLAGS = ("-O3", "-march=native", "-std=gnu11", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
# Tuned for some processors, GCC rounds the products in short sums before it adds them, but not in long ones, and the
# same sum must come out alike whatever lanes are; and it interleaves independent work only when told.
_OF_GCC = ("--param=avoid-fma-max-bits=0", "-fschedule-insns", "-fsched-pressure")
_REAL = {torch.float32: ("float", 32), torch.float64: ("double", 64)}


class Unavailable(Exception):
    """Why there is no compiled kernel on this machine, in one line."""


@cache
def library(dtype: torch.dtype) -> ctypes.CDLL:
    """The compiled kernel for one precision, built if it is not in the cache. `Unavailable` with the reason."""
    source = b"\0".join(path.read_bytes() for path in sources())
    compiler = _compiler()
    name, width = _REAL[dtype]
    # The predefined macros name the compiler's version and every instruction set that -march=native allows.
    machine = _call([compiler, "-march=native", "-dM", "-E", "-x", "c", os.devnull])
    flags = [*_FLAGS, *(() if b"__clang__" in machine else _OF_GCC), f"-DREAL={name}", f"-DREAL_BITS={width}"]
    key = hashlib.sha256(b"\0".join((source, machine, " ".join(flags).encode()))).hexdigest()[:20]
    path = _folder() / f"paths-{name}-{key}.so"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _build(compiler, flags, path)
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise Unavailable(f"{path}: {error.strerror or error}") from None
    loaded.arrange.restype = ctypes.c_int64
    loaded.drain.restype = loaded.multiply.restype = ctypes.c_double
    return loaded


def _compiler() -> str:
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        if found := shutil.which(name):
            return found
    raise Unavailable("no C compiler (cc, gcc, clang, or the variable CC)")


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "suffice"


def sources() -> list[Path]:
    """paths.c and the headers that it includes."""
    return sorted((*Path(__file__).parent.glob("*.h"), Path(__file__).with_name("paths.c")))


def _build(compiler: str, flags: list[str], path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "paths.so")
        _call([compiler, *flags, str(Path(__file__).with_name("paths.c")), "-o", str(built), "-lm"])
        write_whole(path, built.read_bytes())


def _call(command: list[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.decode(errors="replace").splitlines() if "error" in line] or ["failed"]
        raise Unavailable(f"{command[0]}: {lines[0].strip()}")
    return done.stdout
