"""Problems whose constants are known."""

from __future__ import annotations

from . import generators as generators
from .convex import Kink as Kink
from .convex import LogisticPiece as LogisticPiece
from .least_squares import LeastSquares as LeastSquares
from .logistic import Logistic as Logistic
from .neural import Neural as Neural
from .nonconvex import Ripple as Ripple
from .nonconvex import Separable as Separable
from .nonconvex import Well as Well
from .quadratic import Quadratics as Quadratics
from .streaming import StreamingLeastSquares as StreamingLeastSquares
