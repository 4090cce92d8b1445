"""Files, folders and modules that the pages name are there."""

from __future__ import annotations

import importlib
import importlib.util
import re

import pytest
from blocks import ROOT

GENERATED = ("docs/theorems", "docs/gallery", "docs/errata", "docs/notation.md", "docs/quantities.md")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not page.relative_to(ROOT).as_posix().startswith(GENERATED)]
TOP = r"(?:suffice|tests|docs|benchmarks|examples|\.ci|\.github)"
PATH = re.compile(rf"(?<![\w/.-]){TOP}/[\w./<>*-]*")
SCRIPT = re.compile(r"`(\w+\.(?:py|c|h))`")
RUN = re.compile(r"python -m ([a-z_.]+)")
MEMBERS = re.compile(r"automodule:: ([\w.]+)\n +:members: ([\w, ]+)")
MODULE = re.compile(r"(?<![\w./-])(?:suffice|bounds|simulate|verify|verification|figures)(?:\.[A-Za-z_]\w*)+(?![\w/])")


FILES = {path.name for top in ("suffice", "docs") for path in (ROOT / top).rglob("*")} | {
    "train.py"
}  # that --out writes


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^```(?!\{).*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def there(path: str) -> bool:
    """Whether a path of the repository exists; <paper> and * stand for anything."""
    pattern = re.sub(r"<\w+>", "*", path.rstrip("."))
    return any(ROOT.glob(pattern.rstrip("/")))


def loads(dotted: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    if not dotted.startswith("suffice."):
        return False  # nothing else is imported
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        home, _, name = dotted.rpartition(".")
        return hasattr(importlib.import_module(home), name)
    return True


def runs(dotted: str) -> bool:
    """Whether `python -m` finds a module: in the checkout, whose folder need not be importable here, or installed."""
    home = ROOT / dotted.replace(".", "/")
    return (
        home.with_suffix(".py").exists()
        or (home / "__main__.py").exists()
        or bool(importlib.util.find_spec(dotted.partition(".")[0]))
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_folders_and_modules_that_a_page_names_are_there(page):
    text = prose(page)
    assert [path for path in PATH.findall(text) if not there(path)] == []
    assert [name for name in SCRIPT.findall(text) if name not in FILES] == []
    assert [name for name in MODULE.findall(text) if not name.endswith((".py", ".md")) and not loads(name)] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "Makefile"], ids=lambda page: page.name)
def test_modules_that_are_run_are_there(page):
    named = set(RUN.findall(page.read_text(encoding="utf-8"))) - {"pytest", "sphinx", "pip"}
    assert [name for name in named if not runs(name)] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "api").glob("*.md")), ids=lambda page: page.name)
def test_names_that_the_reference_lists_are_there(page):
    found = MEMBERS.findall(page.read_text(encoding="utf-8"))
    listed = [f"{module}.{name}" for module, names in found for name in names.split(", ")]
    assert [name for name in listed if not loads(name)] == []
