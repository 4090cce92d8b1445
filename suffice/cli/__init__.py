"""The command line. Exit codes: 0 done, 1 a check failed, 2 bad input."""

from __future__ import annotations

from . import pictures as pictures
from . import plan_command as plan_command
from . import planning as planning
from . import theory as theory
from .app import main as main
