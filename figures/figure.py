"""A figure is its data first: named curves with units, a setup, and a way to draw them."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bounds import write_whole

from .style import style

Curve = Mapping[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """`data` maps a curve's name to its columns (equal lengths); `units` gives each column's unit for the CSV header.

    `draw(figure, matplotlib figure)` paints from the data alone.
    """

    name: str
    edition: str
    title: str
    data: Mapping[str, Curve]
    units: Mapping[str, str]
    setup: Mapping[str, Any]
    seconds: float
    draw: Callable[[Figure, Any], None]

    def save(self, folder: str | Path) -> list[Path]:
        """Write NAME.pdf, .png, .csv and .json into `folder` (made if absent), each whole and then renamed."""
        from matplotlib.figure import Figure as Canvas

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with style():
            canvas = Canvas()
            self.draw(self, canvas)
            files = {"csv": self._csv().encode(), "json": self._json().encode()}
            for kind in ("pdf", "png"):
                buffer = io.BytesIO()
                # no creation date: the same data give the same file
                canvas.savefig(buffer, format=kind, metadata={"CreationDate": None} if kind == "pdf" else {})
                files[kind] = buffer.getvalue()
        return [write_whole(folder / f"{self.name}.{kind}", files[kind]) for kind in ("pdf", "png", "csv", "json")]

    def _csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        columns = list(self.units)
        writer.writerow(["curve", *(f"{column} [{self.units[column]}]" for column in columns)])
        for name, curve in self.data.items():
            for row in zip(*(curve[column] for column in columns)):
                writer.writerow([name, *(repr(float(value)) for value in row)])
        return out.getvalue()

    def _json(self) -> str:
        packages = ("suffice", "numpy", "scipy", "torch", "matplotlib")
        about = {
            "name": self.name,
            "edition": self.edition,
            "title": self.title,
            "setup": dict(self.setup),
            "versions": {"python": platform.python_version()} | {name: version(name) for name in packages},
            "wall_seconds": round(self.seconds, 3),
        }
        return json.dumps(about, indent=2) + "\n"
