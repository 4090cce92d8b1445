"""Build general.c on first use with the machine's own C compiler, and keep the result.

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
from contextlib import suppress
from functools import cache
from pathlib import Path

import torch

from suffice.support.files import write_whole

# No -ffast-math: it assumes that there is no NaN, and loading such a library flushes subnormals in the whole process.
_FLAGS = ("-O3", "-march=native", "-std=gnu11", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
_FLAGS += ("-Werror=int-conversion", "-Werror=incompatible-pointer-types")  # C lets a pointer pass for a number
# Tuned for some processors, GCC rounds the products in short sums before it adds them, but not in long ones, and the
# same sum must come out alike whatever lanes are; and it interleaves independent work only when asked.
_OF_GCC = ("--param=avoid-fma-max-bits=0", "-fschedule-insns", "-fsched-pressure")
PATIENCE = 60.0
"""Seconds after which a compiler is given up: building takes about five."""
_given_up: set[str] = set()
"""The compilers that took longer in this process."""
_REAL = {torch.float32: ("float", 32), torch.float64: ("double", 64)}


class Unavailable(Exception):
    """There is no compiled kernel on this machine; the message says why in one line."""


def recipe(dtype: torch.dtype) -> tuple[str, list[str], str]:
    """Compiler, flags, and a hash of them, of the sources and of all that the machine's compiler can do."""
    source = b"\0".join(path.read_bytes() for path in sources())
    compiler = _compiler()
    name, width = _REAL[dtype]
    # The predefined macros name the compiler's version and every instruction set that -march=native allows.
    machine = call([compiler, "-march=native", "-dM", "-E", "-x", "c", os.devnull])
    flags = [*_FLAGS, *(() if b"__clang__" in machine else _OF_GCC), f"-DREAL={name}", f"-DREAL_BITS={width}"]
    return compiler, flags, hashlib.sha256(b"\0".join((source, machine, " ".join(flags).encode()))).hexdigest()[:20]


@cache
def identity(dtype: torch.dtype) -> str:
    """The kernel's name in traces: "c" and a hash of sources, compiler, flags and machine, which set the last bits."""
    return f"c {recipe(dtype)[2]}"


@cache
def library(dtype: torch.dtype, source: str = "general") -> ctypes.CDLL:
    """One compiled source for one precision, built if it is not in the cache. `Unavailable` with the reason."""
    compiler, flags, key = recipe(dtype)
    try:
        return _cached(compiler, flags, _folder(), source, f"{_REAL[dtype][0]}-{key}")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise Unavailable(f"{where}{error.strerror or error}") from None


def _cached(compiler: str, flags: list[str], folder: Path, source: str, key: str) -> ctypes.CDLL:
    """The library from `folder`; built where there is none that loads. Files are whole or absent."""
    path = folder / f"{source}-{key}.so"
    if path.exists():
        with suppress(OSError):
            return ctypes.CDLL(str(path))
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch, "built.so")
        call([compiler, *flags, str(Path(__file__).with_name(f"{source}.c")), "-o", str(built), "-lm"])
        return ctypes.CDLL(str(write_whole(path, built.read_bytes())))


def _compiler() -> str:
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        if (found := shutil.which(name)) and found not in _given_up:
            return found
    slow = f"; {', '.join(sorted(_given_up))} took over {PATIENCE:g} s" if _given_up else ""
    raise Unavailable(f"no C compiler (cc, gcc, clang, or the variable CC){slow}")


def _folder() -> Path:
    """The cache, made if absent. What is loaded from it runs: `Unavailable` where others could have written it."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # "consider the path invalid and ignore it", says the XDG specification
        base = Path(os.path.expanduser("~")) / ".cache"
    folder = base / "suffice"
    if not folder.is_absolute():
        raise Unavailable(f"the cache {folder} is relative; set HOME or XDG_CACHE_HOME to an absolute path")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    about = folder.stat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise Unavailable(f"others may write to {folder}; make it your own (chmod go-w) or set XDG_CACHE_HOME")
    return folder


def sources() -> list[Path]:
    """The C sources, and the headers that they include."""
    return sorted(path for path in Path(__file__).parent.iterdir() if path.suffix in (".c", ".h"))


def call(command: list[str]) -> bytes:
    """The output of a command. `Unavailable` when it fails or hangs."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    except OSError as error:
        raise Unavailable(f"{command[0]}: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        _given_up.add(command[0])
        raise Unavailable(f"{command[0]}: not done after {PATIENCE:g} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.decode(errors="replace").splitlines() if "error" in line] or ["failed"]
        raise Unavailable(f"{command[0]}: {lines[0].strip()}")
    return done.stdout
