"""`import suffice`: light, complete, and the same whatever stands beside it."""

from __future__ import annotations

import ast
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


PACKAGES = ("bounds", "figures", "fitting", "planning", "simulate", "verification")
"""Rooms that extensions build on."""
EVERY_MODULE = """
import importlib, pkgutil, types
import suffice

first = {name: getattr(suffice, name) for name in suffice.__all__}
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


def test_public_names_stay_the_same_objects_once_every_module_is_imported(strangers):
    """A submodule becomes an attribute of its package when it is imported: it must not take a public name."""
    done = python("-c", EVERY_MODULE, cwd=strangers)
    assert done.stdout.splitlines() == [
        "[]",
        str(sorted(["algorithms", "families", "problems", "testing", *PACKAGES])),
        "suffice.verification",
    ], done.stderr  # fmt: skip
    assert set(suffice.__all__) <= set(dir(suffice))


def test_the_command_shows_a_theorem_without_torch_whatever_stands_beside_it(strangers):
    script = (
        "import runpy, sys; sys.argv[1:] = ['theorem', 'adaptive/lemma-2']\n"
        "try:\n    runpy.run_module('suffice', run_name='__main__', alter_sys=True)\n"
        "finally:\n    print([name for name in ('torch', 'matplotlib') if name in sys.modules])"
    )
    done = python("-c", script, cwd=strangers)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [("Affine", "GradientDissimilarity"), ("Solution", "Inversion"), ("known_numbers", "statistics")],
)
def test_an_old_public_name_says_the_new_one(old, new):
    with pytest.raises(AttributeError, match=rf"no attribute '{old}'; it is now '{new}'"):
        getattr(suffice, old)
    assert new in suffice.__all__


def test_lazy_names_and_type_checked_names_are_the_same():
    tree = ast.parse(Path(suffice.__file__).read_text())
    checked = {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None and not alias.asname.startswith("_")
    }
    assert checked == set(suffice.__all__)


def test_importing_loads_nothing_heavy():
    heavy = "('torch', 'sympy', 'scipy', 'matplotlib', 'numpy')"
    script = f"import sys, suffice; print([name for name in {heavy} if name in sys.modules])"
    assert python("-c", script).stdout.strip() == "[]"


def test_theorems_and_the_list_of_errata_load_without_torch_matplotlib_or_sympy():
    script = (
        "import sys, suffice as sf; sf.evaluate(sf.theorem('adaptive/lemma-2'), b=1., c=0., mu=1., eps=1.);"
        "from suffice.cli.errata import saved_errata; assert saved_errata(None) and saved_errata('cobo');"
        "print([m for m in ('torch', 'sympy', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    assert python("-c", script).stdout.strip() == "[]"


def test_models_are_fitted_without_torch():
    script = (
        "import sys, suffice as sf;"
        "fit = sf.fit('examples/diabetes_by_age.csv', client='age_group', target='progression');"
        "print([m for m in ('torch', 'sympy', 'matplotlib') if m in sys.modules], fit.quadratics.clients)"
    )
    assert python("-c", script, cwd=ROOT).stdout.strip() == "[] 8"


# The examples run inside this process, which has torch loaded; that a fresh one can import is tested above.


@pytest.mark.usefixtures("brief")
def test_the_example_of_an_own_bound_refutes_the_wrong_one_and_not_the_right_one(capsys):
    runpy.run_path(str(ROOT / "examples" / "own_bound.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert out.startswith("wrong: violated on ")
    assert "\nright: holds on " in out
    assert len((ROOT / "examples" / "own_bound.py").read_text().splitlines()) < 30
