"""A figure is its data first: named curves with units, a setup, and a way to draw them.

Each figure of a paper is computed and drawn in the module of its name.
"""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.files import check_regular, make_folder, write_whole
from suffice.support.frames import to_frame
from suffice.support.text import csv_text, unguarded

from .style import style

Curve = Mapping[str, np.ndarray]

SEPARATOR = " | "
KINDS = (".pdf", ".png", ".svg")
TEXT = "text"
"""Key columns have this in the place of a unit."""


def joined(*keys: Any) -> str:
    """The name of the curve of some keys, numbers in few digits."""
    return SEPARATOR.join(f"{key:g}" if isinstance(key, float) else str(key) for key in keys)


def check_folder(folder: str | Path, name: str, edition: str) -> None:
    """Raises `InputError` where `folder` holds the other edition of the figure, which `save` would overwrite."""
    path, there = Path(folder) / f"{name}.json", edition
    with suppress(OSError, ValueError, TypeError, KeyError):  # nothing there, or nothing of ours
        check_regular(path, "out")
        there = json.loads(path.read_bytes())["edition"]
    if there != edition:
        both = f"holds {name} as {there}, and files of both editions have the same names"
        raise InputError("out", str(folder), f"{both}; give {edition} another folder")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The data of a figure, its edition, the seconds that computing took where this was timed, and how it is drawn.

    `data` maps a curve's name to its columns (equal lengths); `units` gives each column's unit for the CSV header. With
    several `keys` a curve's name has one part for each, joined by `SEPARATOR`; they are the CSV's first columns.
    `draw(figure, matplotlib figure)` uses only the data and the setup, so that a saved figure can be redrawn. Its maker
    gives a figure its name, edition, seconds and `draw`.
    """

    title: str
    data: Mapping[str, Curve]
    units: Mapping[str, str]
    setup: Mapping[str, Any]
    keys: tuple[str, ...] = ("curve",)
    name: str = ""
    edition: str = "stated"
    seconds: float | None = None
    draw: Callable[[Figure, Any], None] | None = None

    def __getitem__(self, keys: tuple[Any, ...]) -> Curve:
        """The curve of several keys."""
        return self.data[joined(*keys)]

    def save(self, folder: str | Path) -> list[Path]:
        """Write NAME.pdf, .png, .csv and .json into `folder` (made if absent), each whole and then renamed.

        Raises `InputError` where the folder holds the figure's other edition, whose files have the same names.
        """
        folder = Path(folder)
        if folder.suffix.lower() in KINDS:
            raise InputError("folder", str(folder), "save makes a folder of files; use write for one file")
        check_folder(folder, self.name, self.edition)
        folder.mkdir(parents=True, exist_ok=True)
        pictures = dict(zip(("pdf", "png"), self._pictures("pdf", "png")))
        files = pictures | {"csv": csv_text(self._rows()).encode(), "json": self._json().encode()}
        return [write_whole(folder / f"{self.name}.{kind}", files[kind]) for kind in ("pdf", "png", "csv", "json")]

    def write(self, path: str | Path) -> list[Path]:
        """The drawing as one .pdf, .png or .svg file, or `save` into a folder; either is made. Raises `InputError`."""
        path = Path(path)
        kind = path.suffix.lower()
        if not kind or path.is_dir():
            return self.save(make_folder(path, "plot"))
        if kind not in KINDS:
            raise InputError("plot", str(path), "name a .pdf, .png or .svg file, or a folder")
        make_folder(path.parent, "plot")
        return [write_whole(path, self.picture(kind[1:]))]

    def to_frame(self) -> Any:
        """The data behind its curves, as pandas' or polars' data frame, else a mapping of columns."""
        header, *rows = self._rows()
        return to_frame(dict(zip(header, row)) for row in rows)

    def picture(self, kind: str = "png") -> bytes:
        """The drawing alone, as "pdf", "png" or "svg"."""
        return self._pictures(kind)[0]

    def canvas(self) -> Any:
        """The drawing as a Matplotlib figure."""
        from matplotlib.figure import Figure as Canvas
        from matplotlib.ticker import NullLocator

        canvas = Canvas()
        assert self.draw is not None
        self.draw(self, canvas)
        for axis in (one for axes in canvas.axes for one in (axes.xaxis, axes.yaxis)):
            low, high = axis.get_view_interval()
            if axis.get_scale() == "log" and high > 100 * low:
                axis.set_minor_locator(NullLocator())  # powers of ten suffice; minor ticks take half of the time
        return canvas

    def __repr__(self) -> str:
        return f"Figure({self.name}, {self.edition}: {self.title}; {len(self.data)} curves)"

    def _repr_png_(self) -> bytes:
        """The picture that a notebook shows."""
        return self.picture("png")

    def _pictures(self, *kinds: str) -> list[bytes]:
        from matplotlib import rcParams
        from matplotlib.backend_bases import get_registered_canvas_class

        written = []
        with style():
            canvas = self.canvas()
            for kind in kinds:
                buffer, canvas.dpi = io.BytesIO(), rcParams["savefig.dpi"]
                # savefig would draw all twice, the first time for the layout; no date: the same data give the same file
                undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
                getattr(get_registered_canvas_class(kind)(canvas), f"print_{kind}")(buffer, metadata=undated)
                written.append(buffer.getvalue())
                canvas.set_layout_engine("none")  # what is placed stays there: placing costs as much as drawing
        return written

    @classmethod
    def load(cls, folder: str | Path, name: str, draw: Callable[[Figure, Any], None]) -> Figure:
        """The figure that `save` wrote as NAME.csv and NAME.json, to be drawn again; or `InputError`."""
        folder = Path(folder)
        try:
            for ending in ("csv", "json"):
                check_regular(folder / f"{name}.{ending}", "folder")
            with open(folder / f"{name}.csv", encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            about = json.loads((folder / f"{name}.json").read_text())
            units = {column: unit for column, unit in about["columns"].items() if unit != TEXT}
            keys = tuple(header[: len(header) - len(units)])
            if header[len(keys) :] != list(units):
                raise ValueError("columns")
            curves: dict[str, list[list[float]]] = {}
            for row in rows:
                curve = curves.setdefault(SEPARATOR.join(map(unguarded, row[: len(keys)])), [])
                curve.append([float(text) for text in row[len(keys) :]])
            data = {name: dict(zip(units, np.array(curve).T, strict=True)) for name, curve in curves.items()}
            known = {what: about[what] for what in ("name", "edition", "title", "setup")}
            return cls(data=data, units=units, keys=keys, seconds=about["wall_seconds"], draw=draw, **known)
        except FileNotFoundError as error:
            raise InputError("reuse", str(error.filename), "no such file; draw the figure once without it") from None
        except (ValueError, TypeError, KeyError, csv.Error):
            damaged = "its .csv or .json is damaged; draw the figure anew"
            raise InputError("reuse", str(folder / name), damaged) from None

    def _rows(self) -> list[list[Any]]:
        rows: list[list[Any]] = [[*self.keys, *self.units]]
        for name, curve in self.data.items():
            parts = name.split(SEPARATOR) if len(self.keys) > 1 else [name]
            rows += [[*parts, *map(float, row)] for row in zip(*(curve[column] for column in self.units))]
        return rows

    def _json(self) -> str:
        packages = ("suffice", "numpy", "scipy", "torch", "matplotlib")
        about = {
            "name": self.name,
            "edition": self.edition,
            "title": self.title,
            "columns": dict.fromkeys(self.keys, TEXT) | dict(self.units),
            "setup": dict(self.setup),
            "versions": {"python": platform.python_version()} | {name: version(name) for name in packages},
            "wall_seconds": self.seconds and round(self.seconds, 3),
        }
        return json.dumps(about, indent=2) + "\n"
