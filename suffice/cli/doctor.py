"""The command `suffice doctor`: what this machine has, and what runs without what it lacks."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from .app import Json, app
from .console import listing, print_json

NEEDED = ("numpy", "scipy", "sympy", "torch", "matplotlib", "scikit-learn", "joblib", "typer", "rich", "msgspec")
OPTIONAL = {
    "jax": "benchmarks beside JAX",
    "dask": "campaigns on a cluster",
    "dask-jobqueue": "campaigns on SLURM and the like",
    "sphinx": "building the documentation",
    "pytest": "running the tests",
}


@app.command()
def doctor(as_json: Json = False) -> None:
    """Print versions, compiler, GPU, data folder and optional packages, for bug reports."""
    found = diagnosis()
    if as_json:
        print_json(found)
    else:
        listing(found)


def diagnosis() -> dict[str, str]:
    """What is checked, with what was found."""
    from importlib.metadata import version

    packages = {name: _version(name) or "it is missing: reinstall suffice with pip" for name in NEEDED}
    return {
        "suffice": f"{version('suffice')} in {Path(__file__).parents[1]}",
        "python": f"{platform.python_version()}, {sys.executable}",
        "machine": f"{platform.platform(terse=True)}, {platform.machine()}, {os.cpu_count()} cores",
        **packages,
        "compiled kernel": _kernel(),
        "GPU": _gpu(),
        "data folder": _data(),
        **{name: _version(name) or f"not installed; only for {use}" for name, use in OPTIONAL.items()},
    }


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _kernel() -> str:
    import torch

    from suffice.simulate.kernels import Unavailable, library

    try:
        library(torch.float64)
    except Unavailable as reason:
        return f"none; everything runs without it, but more slowly: {reason}"
    return "ready"


def _gpu() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "none; everything runs on the processor"


def _data() -> str:
    folder = os.environ.get("SUFFICE_DATA")
    if folder is None:
        return "SUFFICE_DATA is not set; only figures on published data sets need it"
    return folder if Path(folder).is_dir() else f"SUFFICE_DATA names {folder}, which is no folder"
