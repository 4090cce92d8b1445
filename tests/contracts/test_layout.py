"""Where things are: tests are found by the names of modules, functions and the machine stay small, names at the top are
links."""

from __future__ import annotations

import ast
import os
import runpy

import pytest
from blocks import ROOT

LINKS = {"bounds": "bounds", "simulate": "simulate", "verify": "verification", "figures": "figures"}
"""Names that the project promises at its top, and the rooms of `suffice` that they link to."""
PACKAGE = ROOT / "suffice"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = [path for room in ROOMS for path in sorted((ROOT / "tests" / room).rglob("test_*.py"))]
LONGEST = 60
"""Lines of a function."""
LONG = {
    "simulate/runner.py:run": "each argument has a sentence",
    "verification/check.py:check": "each argument has a sentence",
}
"""Functions that are longer, with the reason."""
CROSS_CUTTING = 50
"""So many tests are of no single module; their docstrings say what they are about."""


def test_tests_are_found_by_the_names_of_modules():
    """tests/verification/claims/test_star.py is about a module or package called star below verification/claims/."""
    unfound = []
    for test in TESTS:
        name, folder = test.stem.removeprefix("test_"), PACKAGE / test.parent.relative_to(ROOT / "tests")
        if not {name, f"{name}.py"} & {path.name for path in (folder, *folder.rglob("*"))}:
            unfound.append(test)
    assert len(unfound) <= CROSS_CUTTING, "name a test after its module, or take one of the others away"
    assert all(ast.get_docstring(ast.parse(test.read_text(encoding="utf-8"))) for test in unfound)


def test_no_function_is_long():
    """Its signature and its docstring count."""
    long = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST:
                    long[f"{path.relative_to(PACKAGE)}:{node.name}"] = lines
    assert set(long) == set(LONG), long


def test_the_machine_does_not_grow():
    """Beyond the number in pyproject.toml a feature enters when another leaves."""
    lines = runpy.run_path(str(ROOT / "benchmarks" / "lines.py"))  # a checkout's folder is not on the path of tests
    assert 40_000 < lines["machine"]() <= lines["limit"]()


@pytest.mark.parametrize(("name", "room"), LINKS.items())
def test_the_promised_names_at_the_top_link_to_the_rooms(name, room):
    link = ROOT / name
    if link.is_file():  # git without symbolic links writes the target into a file, which hurts nothing
        assert link.read_text(encoding="utf-8") == f"suffice/{room}"
    else:
        assert link.is_symlink()
        assert os.readlink(link) == f"suffice/{room}"
        assert link.resolve() == PACKAGE / room


def test_nothing_is_a_link_inside_the_package():
    assert [path for path in PACKAGE.rglob("*") if path.is_symlink()] == []
