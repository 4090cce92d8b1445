"""The kernel's cache: what was built here is loaded or built again, and no compiler is waited for."""

from __future__ import annotations

import importlib
import os
import shutil
import time
from pathlib import Path

import pytest
import torch

from suffice.simulate.kernels import Unavailable, library

module = importlib.import_module("suffice.simulate.kernels.library")  # the package has a function of that name
build = library.__wrapped__  # without the memory of this process
REAL = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(REAL is None, reason="no C compiler on this machine")
TINY = "long arrange(void) { return 7; }"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """The folder of the cache, not made yet, with a compiler that builds another source in milliseconds."""
    (tmp_path / "tiny.c").write_text(TINY)
    compiler(tmp_path, f"""
        case "$*" in *-E*) exec {REAL} -dM -E -x c /dev/null;; esac
        echo built >> {tmp_path}/log
        while [ "$1" != -o ]; do shift; done
        exec {REAL} -shared -fPIC {tmp_path}/tiny.c -o "$2"
    """)  # fmt: skip
    monkeypatch.setenv("CC", str(tmp_path / "compiler"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_given_up", set())
    return tmp_path / "cache" / "suffice"


def compiler(folder: Path, script: str) -> None:
    (folder / "compiler").write_text(f"#!/bin/sh\n{script}")
    (folder / "compiler").chmod(0o755)


def builds(cache: Path) -> int:
    return len((cache.parents[1] / "log").read_text().split())


def test_a_library_is_built_once_and_kept_for_its_owner(cache):
    assert build(torch.float64).arrange() == 7
    assert build(torch.float64).arrange() == 7
    assert builds(cache) == 1
    assert cache.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"no library"])
def test_a_library_that_cannot_be_loaded_is_built_again(cache, content):
    made = *module.recipe(torch.float64)[:2], module._folder(), "general", "key"
    (cache / "general-key.so").write_bytes(content)
    assert module._cached(*made).arrange() == 7
    assert builds(cache) == 1
    assert len((cache / "general-key.so").read_bytes()) > 1000


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_cache_that_others_own_or_may_write_to_is_not_used(cache, mode, monkeypatch):
    build(torch.float64)
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: cache.stat().st_uid + 1)
        with pytest.raises(Unavailable, match="others may write to"):
            build(torch.float64)
    cache.chmod(mode)
    with pytest.raises(Unavailable, match=r"^others may write to .*suffice; make it your own \(chmod go-w\)"):
        build(torch.float64)
    cache.chmod(0o755)
    assert build(torch.float64).arrange() == 7


def test_a_relative_cache_is_ignored(cache, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    build(torch.float64)
    assert len(list((tmp_path / "home" / ".cache" / "suffice").iterdir())) == 1
    monkeypatch.setenv("HOME", "home")
    with pytest.raises(Unavailable, match=r"the cache home/\.cache/suffice is relative"):
        build(torch.float64)
    assert list((tmp_path / "work").iterdir()) == []


def test_a_compiler_that_hangs_is_given_up(cache, tmp_path, monkeypatch):
    compiler(tmp_path, "exec sleep 60")
    monkeypatch.setattr(module, "PATIENCE", 0.5)
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"compiler: not done after 0.5 s$"):
        build(torch.float64)
    assert time.monotonic() - began < 10
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"no C compiler .*compiler took over 0.5 s$"):  # at once, in every later run
        build(torch.float64)


def test_a_compiler_that_is_none_is_named_in_one_line(cache, tmp_path):
    (tmp_path / "compiler").write_bytes(b"\x7fELF")
    with pytest.raises(Unavailable, match=r"compiler: Exec format error$"):
        build(torch.float64)
    compiler(tmp_path, 'case "$*" in *-E*) exit;; esac; while [ "$1" != -o ]; do shift; done; : > "$2"')
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"\.so: file too short$"):
            build(torch.float64)
