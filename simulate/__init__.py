"""Problems whose constants are known, algorithms, exact moments, and a runner over batches of seeds. torch."""

from __future__ import annotations

from .algorithms import Algorithm as Algorithm
from .algorithms import AllForOne as AllForOne
from .algorithms import Draw as Draw
from .algorithms import FixedWeights as FixedWeights
from .algorithms import Local as Local
from .moment_recursion import expected_excess as expected_excess
from .moment_recursion import expected_step as expected_step
from .oracle import Additive as Additive
from .problem import Problem as Problem
from .problems import LeastSquares as LeastSquares
from .problems import Quadratics as Quadratics
from .randomness import Randomness as Randomness
from .randomness import Stream as Stream
from .randomness import philox as philox
from .runner import block_size as block_size
from .runner import hitting_times as hitting_times
from .runner import run as run
from .trace import Trace as Trace
