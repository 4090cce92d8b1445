"""Update rules: `init` and `step`, whether the step is linear, and what an iteration costs."""

from __future__ import annotations

from .all_for_one import AllForOne as AllForOne
from .all_for_one import FixedWeights as FixedWeights
from .base import Algorithm as Algorithm
from .base import Draw as Draw
from .base import State as State
from .local import Local as Local
