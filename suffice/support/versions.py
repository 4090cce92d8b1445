"""The versions of Python and of the installed packages."""

from __future__ import annotations

import platform
from importlib.metadata import version

VERSION = version("suffice")
PACKAGES = ("suffice", "numpy", "scipy", "sympy", "torch", "matplotlib")


def versions() -> dict[str, str]:
    """Versions of the package, of those that it computes with, and of Python."""
    return {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}


def show_versions() -> None:
    """Print them, with the machine. Include this in bug reports."""
    for name, found in (versions() | {"machine": f"{platform.platform(terse=True)}, {platform.machine()}"}).items():
        print(f"{name:12s}{found}")
