"""Pictures of results: `suffice.figures` stands above the rooms whose results it draws, and is found by name when one
of them is asked for a picture.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Protocol


class Picture(Protocol):
    """The result of `plot`, a `suffice.figures.Figure`: a notebook shows it."""

    title: str

    def write(self, path: str | Path, *, field: str = "plot") -> list[Path]: ...

    def save(self, folder: str | Path) -> list[Path]: ...

    def picture(self, kind: str = "png") -> bytes: ...


def draw(name: str, *arguments: Any, path: str | Path | None = None) -> Picture:
    """The picture that `suffice.figures.NAME` makes with its function `NAME_figure`; written to `path` if given."""
    picture = getattr(import_module(f"suffice.figures.{name}"), f"{name}_figure")(*arguments)
    if path is not None:
        picture.write(path)
    return picture
