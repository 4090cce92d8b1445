"""Problems whose constants are known."""

from __future__ import annotations

from .least_squares import LeastSquares as LeastSquares
from .quadratic import Quadratics as Quadratics
