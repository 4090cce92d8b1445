"""Printing: lines that fit a terminal, JSON that is valid JSON."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import typer


def wrapped(text: str) -> str:
    """Lines that fit a terminal, folded at spaces alone, so that keys stay whole; as it is for a file or a pipe."""
    if not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size().columns

    def fold(line: str) -> str:
        indent = re.match(r"(\w+ {2,}| *)", line)
        hanging = " " * (indent.end() if indent else 0)
        return textwrap.fill(line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(fold, text.splitlines()))


def echo(line: str, *, err: bool = False) -> None:
    """One line, control characters escaped."""
    from suffice.support.text import printable

    typer.echo(printable(line), err=err)


def run_next(why: str, *words: object) -> None:
    """A command that may be run as it stands here; without words the one that was typed, with more options."""
    echo(f"Next: {shlex.join(['suffice', *map(str, words)])}  # {why}")


def replaced(words: Iterable[str], options: Mapping[str, object]) -> list[str]:
    """The words with these options at the end, and without the values that they had before."""
    kept = [word for before, word in pairwise(["", *words]) if not {before, word.partition("=")[0]} & options.keys()]
    return [*kept, *(str(word) for pair in options.items() for word in pair)]


def print_json(value: Any) -> None:
    """One JSON document; what is infinite or not a number becomes null."""
    from suffice.support.numbers import plain

    text = json.dumps(plain(value), indent=2)
    typer.echo(text.replace("\x7f", r"\u007f"))  # the only control character that json lets through


def listing(lines: Mapping[str, str]) -> None:
    """Names with what they are, aligned, one a line."""
    width = max(map(len, lines))
    room = max(shutil.get_terminal_size().columns, 80) - width - 2
    for name, about in lines.items():
        first, *rest = textwrap.wrap(about, room, break_long_words=False, break_on_hyphens=False) or [""]
        typer.echo("\n".join([f"{name:{width}s}  {first}", *(" " * (width + 2) + line for line in rest)]))
