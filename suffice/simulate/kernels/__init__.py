"""Compiled twins of the reference for the runs that are most often wanted. The reference is the specification."""

from __future__ import annotations

from .general import general_paths as general_paths
from .general import general_refusal as general_refusal
from .general import tiled as tiled
from .general import weighs_none as weighs_none
from .library import Unavailable as Unavailable
from .library import identity as identity
from .library import library as library
from .sparse_logistic import logistic_means as logistic_means
