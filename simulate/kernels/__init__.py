"""Compiled twins of the reference for the runs that are most often wanted. The reference is the specification."""

from __future__ import annotations

from .library import Unavailable as Unavailable
from .library import library as library
from .paths import Paths as Paths
from .paths import compiled_paths as compiled_paths
from .paths import fill as fill
from .paths import refusal as refusal
