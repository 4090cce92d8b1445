"""Write the pages that records, errata and kept verdicts give: `python docs/generate.py [NAME ...] [--out DIR]`.

NAME is proofs, theorems, statements, routes, errata, notation, quantities, published, networks, pictures, modules,
typeset or verdicts; without one, all of these. `exact-values`, what the page with every bound knows, takes half a
minute and is written when it is named.
Pages are written below DIR, by default this checkout.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pages import errata, theorems, typeset

from suffice.bounds import THEOREMS
from suffice.explorer import exact_values
from suffice.support.files import write_whole
from suffice.verification.all_certificates import proof_of

ROOT = Path(__file__).resolve().parents[1]


def _proofs() -> str:
    """What of each corrected statement is proved, by its key."""
    return json.dumps({record.key: proof_of(record) for record in THEOREMS if record.guarantee}, indent=1) + "\n"


def _page(name: str) -> Mapping[str, str]:
    return {f"docs/{name}.md": importlib.import_module(f"pages.{name}").text()}


_PAGES = "statements", "routes", "notation", "quantities", "published", "networks", "pictures", "modules", "verdicts"
PAGES: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "proofs": lambda: {"suffice/bounds/proofs.json": _proofs()},
    "theorems": lambda: {f"docs/theorems/{name}": text for name, text in theorems.pages().items()},
    "errata": lambda: (
        {f"docs/{name}": text for name, text in errata.pages().items()} | {"suffice/bounds/errata.json": errata.rows()}
    ),
    "typeset": lambda: {"suffice/explorer/typeset.json": typeset.rows()},
} | {name: partial(_page, name) for name in _PAGES}
"""What makes a group of pages: each path with its text."""
NAMED = {"exact-values": lambda: {"suffice/explorer/exact_values.json": exact_values.text()}}
"""What is made when it is named alone."""


def stale(name: str) -> list[str]:
    """Pages of a group that are not on disk as they would be written now."""
    return [path for path, text in PAGES[name]().items() if (ROOT / path).read_text(encoding="utf-8") != text]


def main() -> None:
    """Write the pages that the command line asks for."""
    parser = argparse.ArgumentParser(description="Write the generated pages.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*PAGES, *NAMED]))
    parser.add_argument("--out", type=Path, default=ROOT, help="the folder to write below")
    asked, known = parser.parse_args(), {**PAGES, **NAMED}
    for name in asked.names or PAGES:
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
        for path, text in known[name]().items():
            (asked.out / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(asked.out / path, text.encode())


if __name__ == "__main__":
    main()
