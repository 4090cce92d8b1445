"""A campaign's folder: results that are whole or absent, failures, a manifest, and a lock that dies with its owner."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from suffice.simulate.kernel_choice import here
from suffice.support.errors import InputError
from suffice.support.files import unfinished, write_whole

from .definition import Campaign, Cell, identity


@dataclass(frozen=True, kw_only=True)
class Folder:
    """`cells/` one JSON file per finished cell, `failed/` one per failed cell, `manifest.json`, `lock`."""

    path: Path

    @property
    def cells(self) -> Path:
        return self.path / "cells"

    @property
    def failed(self) -> Path:
        return self.path / "failed"

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the folder: a second campaign on it is refused. The system frees the lock of a killed process."""
        try:
            for part in (self.path, self.cells, self.failed):
                part.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(
                "out", str(self.path), f"{(error.strerror or 'no folder').lower()}; give another"
            ) from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    "out", str(self.path), "another campaign is running there; wait, or give --out"
                ) from None
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)  # a process forked meanwhile has a copy of the handle until it ends
            os.close(handle)

    def claim(self, campaign: Campaign) -> None:
        """Start or continue `campaign` here; a folder of another definition is refused.

        Deletes what a killed process left half-written of this campaign, and nothing else: a folder may be the user's.
        """
        manifest = self.manifest()
        if manifest and manifest["campaign"] != campaign.digest:
            raise InputError(
                "out", str(self.path), "it holds another campaign (its definition changed); give a new --out"
            )
        if manifest.get("kernel", here()) != here():
            remedy = f"its cells ran on kernel {manifest['kernel']}, this machine has {here()}; give a new --out"
            raise InputError("out", str(self.path), remedy)
        if not manifest:
            self._keep(
                {"campaign": campaign.digest, "name": campaign.name, "cells": len(campaign.cells), "kernel": here(),
                 "sessions": []}
            )  # fmt: skip
        names = {f"{identity(cell)}.json" for cell in campaign.cells}
        for left in (
            *unfinished(self.path, {"manifest.json"}),
            *unfinished(self.cells, names),
            *unfinished(self.failed, names),
        ):
            left.unlink(missing_ok=True)

    def manifest(self) -> dict[str, Any]:
        """What is known of the campaign in this folder; empty for a new one. `InputError` when it is damaged."""
        path = self.path / "manifest.json"
        if not path.exists():
            return {}
        manifest = _unsealed(path)
        if not manifest.keys() >= {"campaign", "name", "cells", "sessions"}:
            remedy = (
                "its manifest.json is damaged or of an earlier version; delete that file to go on with the cells there"
            )
            raise InputError("out", str(self.path), remedy)
        return manifest

    def begin_session(self, *, jobs: int | None, scheduler: str | None) -> int:
        """Note the start of a run with versions and machine; returns its place in the manifest."""
        manifest = self.manifest()
        names = ("suffice", "numpy", "scipy", "torch", "joblib")
        session = {
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
            "jobs": jobs,
            "scheduler": scheduler,
            "versions": {"python": platform.python_version()} | {name: version(name) for name in names},
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        }
        manifest["sessions"].append(session)
        self._keep(manifest)
        return len(manifest["sessions"]) - 1

    def end_session(self, place: int, **about: Any) -> None:
        """Add to the run at `place` what it did; a run that was killed has no such entries."""
        manifest = self.manifest()
        manifest["sessions"][place] |= about
        self._keep(manifest)

    def _keep(self, manifest: dict[str, Any]) -> None:
        self._write(self.path / "manifest.json", manifest, indent=1)

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """The stored result of a finished cell; None when there is none, or its file is damaged or another cell's."""
        return self._stored(self.cells, cell).get("result")

    def done(self, cell: Cell) -> bool:
        return self.result(cell) is not None

    def has_failed(self, cell: Cell) -> bool:
        return "error" in self._stored(self.failed, cell)

    def _stored(self, part: Path, cell: Cell) -> dict[str, Any]:
        stored = _unsealed(part / f"{identity(cell)}.json")
        return stored if identity(stored.get("cell", {})) == identity(cell) else {}

    def store(self, cell: Cell, result: dict[str, Any]) -> None:
        """Keep a result, and forget an earlier failure of the cell."""
        self._write(self.cells / f"{identity(cell)}.json", {"cell": cell, "result": result})
        (self.failed / f"{identity(cell)}.json").unlink(missing_ok=True)

    def fail(self, cell: Cell, error: str) -> None:
        """Record why a cell has no result."""
        self._write(self.failed / f"{identity(cell)}.json", {"cell": cell, "error": error})

    def _write(self, path: Path, value: dict[str, Any], *, indent: int | None = None) -> None:
        body = json.dumps(value, sort_keys=True, indent=indent)[:-1].rstrip().encode()
        try:
            write_whole(path, body + _seal(body))
        except OSError as error:
            remedy = f"{(error.strerror or 'cannot be written').lower()}; results so far are kept, run again to resume"
            raise InputError("out", str(self.path), remedy) from None


def _seal(body: bytes) -> bytes:
    """The end of a file: a checksum of all before it."""
    return b', "sha256": "%s"}\n' % hashlib.sha256(body).hexdigest().encode()


def _unsealed(path: Path) -> dict[str, Any]:
    """What a file holds; empty when there is none, or its checksum does not hold."""
    try:
        content = path.read_bytes() if path.is_file() else b""
        body = content[: -len(_seal(b""))]
        value = json.loads(content) if content == body + _seal(body) else {}
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    value.pop("sha256", None)
    return value
