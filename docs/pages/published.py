"""docs/published.md, from the table that tests judge: bounds of papers, as one types them, with their verdicts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def text() -> str:
    """The whole page."""
    name, path = "published_bounds", Path(__file__).parents[2] / "tests" / "verification" / "published" / "bounds.py"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name].page()
