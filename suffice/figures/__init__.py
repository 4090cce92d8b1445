"""Reads traces and verdicts, and draws. The only package with Matplotlib."""

from __future__ import annotations

from .catalogue import figure as figure
from .catalogue import makers as makers
from .catalogue import redraw as redraw
from .figure import Figure as Figure
from .figure import check_folder as check_folder
from .maker import EDITIONS as EDITIONS
from .maker import Maker as Maker
