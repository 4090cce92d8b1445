"""Small pictures for the README: `python docs/small_pictures.py FOLDER docs/pictures`.

FOLDER holds what `suffice figure NAME --out FOLDER` wrote. Each PNG is reduced to a palette; nothing is computed anew.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

from suffice.support.errors import InputError
from suffice.support.files import check_regular, write_whole

NAMES = ("adaptive-1", "adaptive-2b-regimes", "who-helps-whom")
LARGEST = 150_000
"""Bytes."""
WIDTH = 1360
"""Pixels at most: 200 per inch of a picture two columns wide."""
COLOURS = 256


def reduced(path: Path) -> bytes:
    """The picture as a PNG below `LARGEST` bytes; `InputError` if it is absent or cannot be made so small."""
    from PIL import Image

    try:
        check_regular(path, "folder")
        with Image.open(path) as image:
            picture = image.convert("RGB")
    except FileNotFoundError:
        raise InputError("folder", str(path), "no such picture; draw the figure into it first") from None
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    # The median cut, Pillow's default, merges colours that few pixels have, such as the losses in a plane of gains.
    palette = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    palette.save(out, format="png", optimize=True)
    if len(out.getvalue()) >= LARGEST:
        raise InputError(path.name, f"{len(out.getvalue())} bytes", f"give a picture that fits {LARGEST}")
    return out.getvalue()


def write_pictures(drawn: str | Path, into: str | Path) -> list[Path]:
    """The README's pictures of the figures in `drawn`, written into the folder `into`."""
    Path(into).mkdir(parents=True, exist_ok=True)
    return [write_whole(Path(into) / f"{name}.png", reduced(Path(drawn) / f"{name}.png")) for name in NAMES]


def main(arguments: Sequence[str]) -> int:
    """Write the pictures; 2 with one line on stderr for bad input."""
    try:
        if len(arguments) != 2:
            usage = "python docs/small_pictures.py FOLDER docs/pictures"
            raise InputError("arguments", " ".join(arguments), usage)
        write_pictures(*arguments)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
