"""`import suffice`: light, complete, and loud when another package shadows a room."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import suffice

ROOT = Path(suffice.__file__).parent.parent


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, timeout=60)


def test_every_public_name_loads():
    for name in suffice.__all__:
        assert getattr(suffice, name) is not None
    assert set(suffice.__all__) <= set(dir(suffice))


def test_lazy_names_and_type_checked_names_are_the_same():
    tree = ast.parse((ROOT / "suffice" / "__init__.py").read_text())
    checked = {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }
    assert checked == set(suffice.__all__)


def test_importing_loads_nothing_heavy():
    heavy = "('torch', 'sympy', 'scipy', 'matplotlib', 'numpy')"
    script = f"import sys, suffice; print([name for name in {heavy} if name in sys.modules])"
    assert python("-c", script).stdout.strip() == "[]"


def test_theorems_load_without_torch_matplotlib_or_sympy():
    script = (
        "import sys, suffice as sf; sf.evaluate(sf.theorem('adaptive/lemma-2'), b=1., c=0., mu=1., eps=1.);"
        "print([m for m in ('torch', 'sympy', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    assert python("-c", script).stdout.strip() == "[]"


def test_a_foreign_room_is_named(tmp_path):
    (tmp_path / "bounds").mkdir()
    (tmp_path / "bounds" / "__init__.py").write_text("")
    done = python("-c", "import suffice", cwd=tmp_path)
    assert done.returncode != 0
    assert "suffice needs its own package 'bounds'" in done.stderr
    assert str(tmp_path) in done.stderr


# The examples run inside this process, which has torch loaded; that a fresh one can import is tested above.


def test_the_example_of_a_refusal_admits_nobody(capsys):
    runpy.run_path(str(ROOT / "examples" / "refusal.py"), run_name="__main__")
    assert capsys.readouterr().out.count("collaborates with nobody") == 8


def test_the_example_of_an_own_bound_refutes_the_wrong_one_and_not_the_right_one(capsys):
    runpy.run_path(str(ROOT / "examples" / "own_bound.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert out.startswith("wrong: violated on ")
    assert "\nright: holds on " in out
    assert len((ROOT / "examples" / "own_bound.py").read_text().splitlines()) < 30


def test_every_package_is_listed_for_installation():
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    rooms = ("bounds", "simulate", "verify", "figures", "suffice")
    found = {path.parent.relative_to(ROOT) for room in rooms for path in (ROOT / room).rglob("__init__.py")}
    assert listed == {".".join(path.parts) for path in found}
