"""A campaign's folder: results that are whole or absent, failures, a manifest, and a lock that dies with its owner."""

from __future__ import annotations

import fcntl
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bounds import InputError, write_whole

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
    def locked(self) -> Iterator[None]:
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
            for leftover in self.cells.glob(".*"):  # half-written files of a killed process
                leftover.unlink(missing_ok=True)
            yield
        finally:
            os.close(handle)

    def claim(self, campaign: Campaign) -> None:
        """Start or continue `campaign` here; a folder of another definition is refused."""
        manifest = self.manifest()
        if manifest and manifest["campaign"] != campaign.digest:
            raise InputError(
                "out", str(self.path), "it holds another campaign (its definition changed); give a new --out"
            )
        if not manifest:
            self.keep(
                {"campaign": campaign.digest, "name": campaign.name, "cells": len(campaign.cells), "sessions": []}
            )

    def manifest(self) -> dict[str, Any]:
        """What is known of the campaign in this folder; empty for a new one."""
        path = self.path / "manifest.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def keep(self, manifest: dict[str, Any]) -> None:
        write_whole(self.path / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())

    def add_session(self, session: dict[str, Any]) -> None:
        """Timing, versions and machine of one run."""
        manifest = self.manifest()
        names = ("suffice", "numpy", "scipy", "torch", "joblib")
        about = {
            "versions": {"python": platform.python_version()} | {name: version(name) for name in names},
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        }
        manifest["sessions"] = [*manifest["sessions"], session | about]
        self.keep(manifest)

    def done(self, cell: Cell) -> bool:
        return (self.cells / f"{identity(cell)}.json").exists()

    def has_failed(self, cell: Cell) -> bool:
        return (self.failed / f"{identity(cell)}.json").exists()

    def result(self, cell: Cell) -> dict[str, Any]:
        """The stored result of a finished cell."""
        return json.loads((self.cells / f"{identity(cell)}.json").read_text(encoding="utf-8"))["result"]

    def store(self, cell: Cell, result: dict[str, Any]) -> None:
        """Keep a result, and forget an earlier failure of the cell."""
        write_whole(self.cells / f"{identity(cell)}.json", _text({"cell": cell, "result": result}))
        (self.failed / f"{identity(cell)}.json").unlink(missing_ok=True)

    def fail(self, cell: Cell, error: str) -> None:
        write_whole(self.failed / f"{identity(cell)}.json", _text({"cell": cell, "error": error}))


def _text(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, sort_keys=True) + "\n").encode()
