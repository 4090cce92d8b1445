"""The documentation's pictures: `python docs/small_pictures.py FOLDER docs/pictures`.

FOLDER holds what `suffice figure all --out FOLDER` wrote. Each figure is drawn again from its data as an SVG whose
numbers have two decimals; the data themselves come along where they are small. Nothing is computed anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from suffice.figures import makers, redraw
from suffice.support.errors import InputError
from suffice.support.files import write_whole

LARGEST, LARGEST_DATA = 450_000, 50_000
"""Bytes of a picture, and of a CSV that comes along."""
_KEPT = re.compile(rb"(<image.*?/>|scale\([^)]*\))", flags=re.DOTALL)
"""What is encoded, and the sizes of letters, stay as they are."""
_DECIMALS = re.compile(rb"(\.\d\d)\d+")


def reduced(svg: bytes) -> bytes:
    """The same picture: hundredths of a point are not seen."""
    parts = _KEPT.split(svg)
    parts[::2] = [_DECIMALS.sub(rb"\1", part) for part in parts[::2]]
    return b"".join(parts)


def write_pictures(drawn: str | Path, into: str | Path, names: Sequence[str] = ()) -> list[Path]:
    """The pictures of the figures in `drawn`, all unless named, written into the folder `into` (made if absent)."""
    Path(into).mkdir(parents=True, exist_ok=True)
    written = []
    for name in names or makers():
        svg, data = reduced(redraw(name, drawn).picture("svg")), (Path(drawn) / f"{name}.csv").read_bytes()
        if len(svg) >= LARGEST:
            raise InputError(name, f"{len(svg)} bytes", f"give a picture that fits {LARGEST}")
        written.append(write_whole(Path(into) / f"{name}.svg", svg))
        if len(data) < LARGEST_DATA:
            written.append(write_whole(Path(into) / f"{name}.csv", data))
    return written


if __name__ == "__main__":
    try:
        write_pictures(*sys.argv[1:3])
    except InputError as error:
        sys.exit(str(error))
