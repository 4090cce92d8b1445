"""A campaign's folder: results that are whole or absent, failures, a manifest, and a lock that dies with its owner."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bounds import InputError, write_whole

from .definition import Campaign, Cell, identity

_HALF_WRITTEN = re.compile(r"\.[a-z0-9_]{8}\.json")
"""Names under which `write_whole` writes before it renames."""


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
            self._sweep()
            yield
        finally:
            os.close(handle)

    def _sweep(self) -> None:
        """Delete the half-written files of a killed process, and nothing else.

        The folder itself may be the user's own, with files such as .eslintrc.json: there a name of letters alone stays.
        """
        for part in (self.path, self.cells, self.failed):
            for leftover in part.glob(".*.json"):
                own = part != self.path or not leftover.stem[1:].isalpha()
                if own and _HALF_WRITTEN.fullmatch(leftover.name):
                    leftover.unlink(missing_ok=True)

    def claim(self, campaign: Campaign) -> None:
        """Start or continue `campaign` here; a folder of another definition is refused."""
        manifest = self.manifest()
        if manifest and manifest["campaign"] != campaign.digest:
            raise InputError(
                "out", str(self.path), "it holds another campaign (its definition changed); give a new --out"
            )
        if not manifest:
            self._keep(
                {"campaign": campaign.digest, "name": campaign.name, "cells": len(campaign.cells), "sessions": []}
            )

    def manifest(self) -> dict[str, Any]:
        """What is known of the campaign in this folder; empty for a new one. `InputError` when it is damaged."""
        path = self.path / "manifest.json"
        if not path.exists():
            return {}
        try:
            manifest = json.loads(path.read_bytes())
            return {name: manifest[name] for name in ("campaign", "name", "cells", "sessions")}
        except (ValueError, TypeError, KeyError):
            remedy = "its manifest.json is damaged; delete that file to go on with the cells there"
            raise InputError("out", str(self.path), remedy) from None

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
        self._write(self.path / "manifest.json", json.dumps(manifest, indent=1) + "\n")

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """The stored result of a finished cell; None when there is none, or when its file is damaged."""
        try:
            return json.loads((self.cells / f"{identity(cell)}.json").read_bytes())["result"]
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def done(self, cell: Cell) -> bool:
        return self.result(cell) is not None

    def has_failed(self, cell: Cell) -> bool:
        return (self.failed / f"{identity(cell)}.json").exists()

    def store(self, cell: Cell, result: dict[str, Any]) -> None:
        """Keep a result, and forget an earlier failure of the cell."""
        self._write(self.cells / f"{identity(cell)}.json", _text({"cell": cell, "result": result}))
        (self.failed / f"{identity(cell)}.json").unlink(missing_ok=True)

    def fail(self, cell: Cell, error: str) -> None:
        """Record why a cell has no result."""
        self._write(self.failed / f"{identity(cell)}.json", _text({"cell": cell, "error": error}))

    def _write(self, path: Path, text: str) -> None:
        try:
            write_whole(path, text.encode())
        except OSError as error:
            remedy = f"{(error.strerror or 'cannot be written').lower()}; results so far are kept, run again to resume"
            raise InputError("out", str(self.path), remedy) from None


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True) + "\n"
