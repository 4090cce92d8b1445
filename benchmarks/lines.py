"""How many lines the project has: machine, content and tests, defined by paths, and the lines of each room.

Content is what states and verifies results: theorems, claims, errata and steps of proofs. Machine is the rest of the
package in every language, the numeric engines in `verification/instances` included, and tests are `tests/`. A line is a
line of a file, blank or not.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from suffice.bounds.papers import OWN

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "suffice"
VERIFICATION = PACKAGE / "verification"
CONTENT = (PACKAGE / "bounds/theorems", *(VERIFICATION / part for part in ("claims", "errata", "identities")))
LANGUAGES = (".py", ".c", ".h", ".mjs", ".css", ".html", ".csv")
"""Tables that are typed by hand are code; those of `COMPUTED` are results."""
COMPUTED = PACKAGE / "figures/networks"
BESIDE = ("benchmarks", "docs", "examples")
"""What may not grow while the machine shrinks: its Python, and that of the gallery."""


def count(*folders: Path, languages: tuple[str, ...] = LANGUAGES) -> int:
    """The lines of all files of some languages below some folders."""
    files = (path for each in folders for path in each.rglob("*") if path.suffix in languages)
    files = (path for path in files if path.parent != COMPUTED and path.is_file())
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def machine() -> int:
    return count(PACKAGE) - count(*CONTENT)


def limit() -> int:
    """The number of lines of machine that `pyproject.toml` allows."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["suffice"]["machine"]


def statements() -> int:
    """The corrected statements of the library's own papers: theorems and definitions, without printed editions."""
    kept = [
        entry for paper in OWN.values() for part in ("THEOREMS", "DEFINITIONS") for entry in paper.part("records", part)
    ]
    return sum(entry.edition == "corrected" for entry in kept)


def shown() -> str:
    """Each total with its parts below it, then content per corrected statement."""
    rooms = sorted(path for path in PACKAGE.iterdir() if path.is_dir() and count(path))
    own = {room.name: count(room) - count(*(part for part in CONTENT if room in part.parents)) for room in rooms}
    content, stated = count(*CONTENT), statements()
    lines = {
        f"machine (limit {limit():,})": machine(),
        **{f"  {room}": length for room, length in own.items()},
        "content": content,
        **{f"  {part.relative_to(PACKAGE)}": count(part) for part in CONTENT},
        "tests": count(ROOT / "tests", languages=(".py",)),
        **{name: count(ROOT / name, languages=(".py",)) for name in BESIDE},
    }
    listed = [f"{name:<26}{length:>7,}" for name, length in lines.items()]
    return "\n".join([*listed, f"content per corrected statement ({stated}): {content / stated:.1f}"])
