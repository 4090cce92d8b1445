"""docs/pictures.md: every figure with its picture, command and data."""

from __future__ import annotations

from pathlib import Path

from suffice.figures import makers

_INTRODUCTION = """# Gallery of figures

Every figure in the stated edition stands above the command that draws it. The command writes the picture as PDF and
PNG, and the data behind every curve as CSV; small CSV files are linked here. [Figures](figures.md) says what each shows
and what was compared with print.
"""
_KEPT = Path(__file__).parents[1] / "pictures"


def text() -> str:
    """The whole page."""
    lines = [_INTRODUCTION]
    for name, maker in makers().items():
        data = f" · [data](pictures/{name}.csv)" if (_KEPT / f"{name}.csv").is_file() else ""
        about = maker.about[0].upper() + maker.about[1:]
        lines += [f"## {about}", "", f"### {name}", "", f"![{about}](pictures/{name}.svg)", ""]
        lines += [f"`suffice figure {name}`{data}", ""]
    return "\n".join(lines).rstrip() + "\n"
