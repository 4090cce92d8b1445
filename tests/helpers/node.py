"""JavaScript of the explorer's page, run in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import suffice.explorer

ASSETS = Path(suffice.explorer.__file__).parent / "assets"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


def run(folder, body, given=None, *, formulas=""):
    """What the function body `body` returns, given the modules' exports, FORMULAS and the JSON value `given`."""
    names = ("numbers", "elements", "solve", "link", "copies", "plot", "curves", "tree")
    imports = "\n".join(f'import * as {name} from "{(ASSETS / name).as_uri()}.mjs";' for name in names)
    exported = f"const {{ {', '.join(exports('numbers'))} }} = numbers;"
    script = folder / "run.mjs"
    script.write_text(
        f"{imports}\n{exported}\n{formulas or 'const FORMULAS = [];'}\n"
        f"const given = {json.dumps(given)};\nconst result = (() => {{ {body} }})();\n"
        "const told = (_, x) => (typeof x === 'number' && !Number.isFinite(x) ? String(x) : x);\n"
        "console.log(JSON.stringify(result, told));\n",
        encoding="utf-8",
    )
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def exports(module):
    """The names that a module exports."""
    lines = (ASSETS / f"{module}.mjs").read_text(encoding="utf-8").splitlines()
    return [line.split()[2].partition("(")[0].rstrip("=") for line in lines if line.startswith("export ")]
