"""How many lines the project has: machine, content and tests, defined by paths, and the lines of each room.

Content is what states and verifies results: the theorems and, of the verification, claims, errata, steps of proofs and
instances. Machine is the rest of the package, tests are `tests/`. A line is a line of a Python file, blank or not.
"""

from __future__ import annotations

from pathlib import Path

from suffice.bounds.papers import OWN

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "suffice"
VERIFICATION = PACKAGE / "verification"
CONTENT = (
    PACKAGE / "bounds/theorems",
    *(VERIFICATION / part for part in ("claims", "errata", "identities", "instances")),
)
ROOMS = ("support", "bounds", "simulate", "planning", "fitting", "verification", "figures", "cli")


def count(*folders: Path) -> int:
    """The lines of all Python files below some folders."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for each in folders for path in each.rglob("*.py"))


def statements() -> int:
    """The corrected statements of the library's own papers: theorems and definitions, without printed editions."""
    kept = [
        entry for paper in OWN.values() for part in ("THEOREMS", "DEFINITIONS") for entry in paper.part("records", part)
    ]
    return sum(entry.edition == "corrected" for entry in kept)


def shown() -> str:
    """Each total with its parts below it, then content per corrected statement."""
    content, package, stated = count(*CONTENT), count(PACKAGE), statements()
    rooms = {room: PACKAGE / room for room in ROOMS}
    own = {room: count(at) - count(*(part for part in CONTENT if at in part.parents)) for room, at in rooms.items()}
    lines = {
        "machine": package - content,
        **{f"  {room}": length for room, length in own.items()},
        "content": content,
        **{f"  {part.relative_to(PACKAGE)}": count(part) for part in CONTENT},
        "tests": count(ROOT / "tests"),
    }
    return "\n".join(
        [*(f"{name:<26}{length:>7,}" for name, length in lines.items()),
         f"content per corrected statement ({stated}): {content / stated:.1f}"]
    )  # fmt: skip
