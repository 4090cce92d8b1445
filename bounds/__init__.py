"""Formulas and numbers: notation, theorems, clusters, step sizes. NumPy, SciPy, SymPy; never torch."""

from __future__ import annotations

from .arrays import as_numbers as as_numbers
from .cluster import best_threshold as best_threshold
from .cluster import collaboration_weights as collaboration_weights
from .cluster import entry_precisions as entry_precisions
from .cluster import sufficient_cluster as sufficient_cluster
from .cluster import sufficient_variance as sufficient_variance
from .cluster import tight_variance as tight_variance
from .constants import Constants as Constants
from .constants import check_names as check_names
from .criteria import Binary as Binary
from .criteria import Continuous as Continuous
from .criteria import Criterion as Criterion
from .criteria import Custom as Custom
from .criteria import Sharp as Sharp
from .criteria import named as named
from .describe import latex as latex
from .describe import page as page
from .errors import ConditionError as ConditionError
from .errors import InputError as InputError
from .errors import SufficeError as SufficeError
from .evaluate import check as check
from .evaluate import digits as digits
from .evaluate import evaluate as evaluate
from .files import write_whole as write_whole
from .heterogeneity import Affine as Affine
from .heterogeneity import Heterogeneity as Heterogeneity
from .heterogeneity import QuadraticCertificate as QuadraticCertificate
from .heterogeneity import property_1 as property_1
from .heterogeneity import released_code as released_code
from .invert import Solution as Solution
from .invert import solve as solve
from .notation import Parameter as Parameter
from .notation import Quantity as Quantity
from .notation import Unit as Unit
from .planner import Row as Row
from .planner import plan as plan
from .theorem import Definition as Definition
from .theorem import Source as Source
from .theorem import Theorem as Theorem
from .theorems import DEFINITIONS as DEFINITIONS
from .theorems import THEOREMS as THEOREMS
from .theorems import find as find
from .theorems.adaptive import recursion as recursion
from .vocabulary import PARAMETERS as PARAMETERS
