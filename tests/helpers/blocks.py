"""Code blocks of Markdown pages, to be run by tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of one language, in order."""
    return [text for name, text in _FENCE.findall(page.read_text(encoding="utf-8")) if name == language]


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """Each `$ command` of the console blocks, on one line and without its comment, with the lines shown below it."""
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = part.strip().replace("\\\n", "").splitlines()
            found.append((line.partition("  #")[0], shown))
    return found


def unlike(shown: list[str], printed: str) -> list[str]:
    """The lines of the first stretch of what is shown that is not printed there; a line `...` stands for any lines.

    Without it the whole output has to be shown. Blanks at the ends of lines do not count.
    """
    there = [line.rstrip() for line in printed.splitlines()]
    stretches: list[list[str]] = [[]]
    for line in map(str.rstrip, shown):
        if line == "...":
            stretches.append([])
        else:
            stretches[-1].append(line)
    at, last = 0, len(stretches) - 1
    for place, lines in enumerate(stretches):
        ends = range(at, len(there) - len(lines) + 1)
        ends = ends[:1] if place == 0 else ends  # the first stretch begins the output, and the last one ends it
        ends = [end for end in ends if place < last or end + len(lines) == len(there)]
        found = next((end for end in ends if there[end : end + len(lines)] == lines), None)
        if found is None:
            return lines or ["(the output goes on)"]
        at = found + len(lines)
    return []
