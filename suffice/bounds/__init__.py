"""Formulas and numbers: notation, theorems, clusters, step sizes. NumPy, SciPy, SymPy; never torch."""

from __future__ import annotations

from suffice.support.errors import ConditionError as ConditionError
from suffice.support.errors import InputError as InputError
from suffice.support.errors import SufficeError as SufficeError

from .client_constants import Constants as Constants
from .client_constants import labelled as labelled
from .collaboration_criteria import Binary as Binary
from .collaboration_criteria import Continuous as Continuous
from .collaboration_criteria import Criterion as Criterion
from .collaboration_criteria import Custom as Custom
from .collaboration_criteria import Sharp as Sharp
from .collaboration_criteria import named as named
from .collaboration_weights import collaboration_weights as collaboration_weights
from .describe import latex as latex
from .describe import page as page
from .evaluate import check_conditions as check_conditions
from .evaluate import digits as digits
from .evaluate import evaluate as evaluate
from .gradient_dissimilarity import GradientDissimilarity as GradientDissimilarity
from .gradient_dissimilarity import Heterogeneity as Heterogeneity
from .gradient_dissimilarity import property_1 as property_1
from .gradient_dissimilarity import released_code as released_code
from .invert import Inversion as Inversion
from .invert import solve as solve
from .papers import PAPERS as PAPERS
from .papers import Paper as Paper
from .parameters import PARAMETERS as PARAMETERS
from .parameters import Parameter as Parameter
from .parameters import add_parameter as add_parameter
from .quadratic_certificate import QuadraticCertificate as QuadraticCertificate
from .quadratics import positive_definite as positive_definite
from .quantities import Quantity as Quantity
from .quantities import add_quantity as add_quantity
from .sufficient_cluster import best_threshold as best_threshold
from .sufficient_cluster import entry_precisions as entry_precisions
from .sufficient_cluster import sufficient_cluster as sufficient_cluster
from .sufficient_variance import sufficient_variance as sufficient_variance
from .sufficient_variance import tight_variance as tight_variance
from .theorem import Definition as Definition
from .theorem import Source as Source
from .theorem import Theorem as Theorem
from .theorems import DEFINITIONS as DEFINITIONS
from .theorems import THEOREMS as THEOREMS
from .theorems import find as find
from .units import Unit as Unit
