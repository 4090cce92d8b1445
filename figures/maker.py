"""What computes a figure: a function with a name, registered where it is written."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from suffice.bounds import InputError

from .figure import Content, Figure

EDITIONS = ("stated", "published")
OWN = "a figure of our own: no code was released for it"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Maker:
    """A figure's name, what it shows in one line, and the function that computes it; its module's `draw` paints.

    The function takes `edition` and `progress` if it needs them; what it takes besides are the figure's options.
    unpublished: why there is no published edition; empty where there is one.
    """

    name: str
    about: str
    compute: Callable[..., Content]
    unpublished: str

    def __call__(self, edition: str = EDITIONS[0], *, progress: Progress | None = None, **options: Any) -> Figure:
        """The figure; `InputError` for an unknown edition or option."""
        for option, value in options.items():
            if option not in self.options:
                taken = ", ".join(self.options)
                remedy = f"{self.name} takes {taken}" if taken else f"{self.name} takes no options; drop it"
                raise InputError(option, value, remedy)
        if edition not in EDITIONS:
            raise InputError("edition", edition, f"use {' or '.join(EDITIONS)}")
        if edition == "published" and self.unpublished:
            raise InputError("edition", edition, f"{self.unpublished}; use stated")
        began = time.perf_counter()
        given = {"edition": edition, "progress": progress or (lambda done, total: None)}
        taken = {name: value for name, value in given.items() if name in inspect.signature(self.compute).parameters}
        content = self.compute(**taken, **options)
        if progress is not None and "progress" not in taken:
            progress(1, 1)
        seconds = time.perf_counter() - began
        return self._moving(Figure(**vars(content), name=self.name, edition=edition, seconds=seconds, draw=self._draw))

    def again(self, folder: str | Path) -> Figure:
        """The figure saved in `folder`."""
        return self._moving(Figure.load(folder, self.name, self._draw))

    def _moving(self, figure: Figure) -> Figure:
        """With the frames that its module knows, if any."""
        module = self.compute.__globals__
        if "draw_frame" not in module:
            return figure
        return replace(figure, frames=module["frames"](figure), draw_frame=module["draw_frame"])

    @property
    def options(self) -> dict[str, str]:
        """What the figure takes besides its edition, with the types as annotated."""
        taken = inspect.signature(self.compute).parameters
        return {name: str(entry.annotation) for name, entry in taken.items() if name not in ("edition", "progress")}

    @property
    def _draw(self) -> Callable[[Figure, Any], None]:
        return self.compute.__globals__["draw"]


def maker(name: str, about: str, *, unpublished: str = OWN) -> Callable[[Callable[..., Content]], Maker]:
    """Makes the decorated function the figure `name`; its module is one of those listed in `suffice.figures`."""
    return lambda compute: Maker(name, about, compute, unpublished)
