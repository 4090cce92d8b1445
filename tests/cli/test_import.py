"""`import suffice`: light, complete, and the same whatever stands beside it."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT

import suffice


@pytest.fixture
def strangers(tmp_path):
    """A folder whose modules have names of ours: nothing of them may be imported where one works."""
    for name in ("bounds", "figures"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('a stranger')")
    for name in ("simulate", "verify", "verification"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('a stranger')")
    return tmp_path


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60)


PACKAGES = ("bounds", "figures", "fitting", "planning", "simulate", "training", "verification")
"""Rooms that extensions build on."""
HEAVY = ("matplotlib", "numpy", "rich", "scipy", "sklearn", "sympy", "torch")
"""What takes a tenth of a second or more to import; torch, which takes longest, more than a second."""
EVERY_MODULE = f"""
import importlib, pkgutil, sys, types
import suffice

print([name for name in {HEAVY} if name in sys.modules])
suffice.check
print([name for name in sys.modules if "suffice.cli" in name])
first = {{name: getattr(suffice, name) for name in suffice.__all__}}
for module in pkgutil.walk_packages(suffice.__path__, "suffice."):
    try:
        if module.name != "suffice.__main__":
            importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        assert error.name in ("dask", "distributed"), error
print([name for name, found in first.items() if getattr(suffice, name) is not found])
print(sorted(name for name, found in first.items() if isinstance(found, types.ModuleType)))
print(suffice.verification.__name__)
"""


def test_importing_is_light_and_public_names_stay_the_same_objects_once_every_module_is_imported(strangers):
    """Nothing heavy is loaded at first, and the command line not by a check. A submodule becomes an attribute of its
    package when it is imported: it must not take a public name."""
    done = python("-c", EVERY_MODULE, cwd=strangers)
    assert done.stdout.splitlines() == [
        *["[]"] * 3,
        str(sorted(["algorithms", "families", "problems", "testing", *PACKAGES])),
        "suffice.verification",
    ], done.stderr  # fmt: skip
    assert set(suffice.__all__) <= set(dir(suffice))


DIABETES = (str(ROOT / "examples" / "diabetes_by_age.csv"), "--client", "age_group", "--target", "progression")
CONSTANTS = str(ROOT / "examples" / "constants.toml")
MAY_IMPORT = {
    "list of commands": (("--help",), ()),
    "list of theorems": (("theorem",), ("numpy", "rich")),
    "formula": (("theorem", "adaptive/lemma-2"), ("numpy", "rich", "sympy")),
    "value of a bound": (("theorem", "adaptive/lemma-2", "b=1", "c=0", "mu=1", "eps=1"), ("numpy", "rich")),
    "list of errata": (("errata",), ("numpy", "rich")),
    "plan of constants": (("plan", CONSTANTS), ("numpy", "rich", "scipy")),
    "fit": (("fit", *DIABETES), ("numpy", "rich", "scipy")),
    "predict": (("predict", "fit.json", DIABETES[0]), ("numpy", "rich")),
}
"""Commands that are short where they import no more than this; all others may import anything."""


@pytest.mark.share(2)
@pytest.mark.parametrize(("words", "allowed"), MAY_IMPORT.values(), ids=MAY_IMPORT)
def test_a_short_command_imports_nothing_long_whatever_stands_beside_it(words, allowed, strangers):
    if words[0] == "predict":
        suffice.fit(DIABETES[0], client="age_group", target="progression").save(strangers / "fit.json")
    script = (
        f"import runpy, sys; sys.argv[1:] = {words!r}\n"
        "try:\n    runpy.run_module('suffice', run_name='__main__', alter_sys=True)\n"
        f"finally:\n    print(*[name for name in {HEAVY} if name in sys.modules])"
    )
    done = python("-c", script, cwd=strangers)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()[-1].split()) <= set(allowed)


# The examples run inside this process, which has torch loaded; that a fresh one can import is tested above.


@pytest.mark.usefixtures("brief")
def test_the_example_of_an_own_bound_refutes_the_wrong_one_and_not_the_right_one(capsys):
    runpy.run_path(str(ROOT / "examples" / "own_bound.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert out.startswith("wrong: violated on ")
    assert "\nright: holds on " in out
    assert len((ROOT / "examples" / "own_bound.py").read_text().splitlines()) < 30
