"""suffice: is a theorem of collaborative learning true, what should I run, and what does it look like.

    import suffice as sf
    problem = sf.read("clients.csv", client="site", target="y")
    plan = sf.plan(problem, epsilon=[0.1, 0.03])
    plan["Lyon"].collaborators

Names load on first use, so that importing costs little; torch loads when something is simulated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .support.lazy import lazy

if TYPE_CHECKING:
    from . import bounds as bounds
    from . import figures as figures
    from . import fitting as fitting
    from . import planning as planning
    from . import simulate as simulate
    from . import training as training
    from . import verification as verification
    from .bounds import PARAMETERS as PARAMETERS
    from .bounds import Binary as Binary
    from .bounds import Constants as Constants
    from .bounds import Continuous as Continuous
    from .bounds import Custom as Custom
    from .bounds import GradientDissimilarity as GradientDissimilarity
    from .bounds import Inversion as Inversion
    from .bounds import QuadraticCertificate as QuadraticCertificate
    from .bounds import Quantity as Quantity
    from .bounds import Sharp as Sharp
    from .bounds import Theorem as Theorem
    from .bounds import digits as digits
    from .bounds import evaluate as evaluate
    from .bounds import find as theorem  # noqa: F401
    from .bounds import latex as latex
    from .bounds import property_1 as property_1
    from .bounds import solve as solve
    from .figures import Figure as Figure
    from .figures.catalogue import figure as figure
    from .fitting.fit import fit as fit
    from .fitting.fit import summarise as summarise
    from .fitting.fitted import Fit as Fit
    from .fitting.fitted import load as load
    from .fitting.sklearn_estimators import CollaborativeClassifier as CollaborativeClassifier
    from .fitting.sklearn_estimators import CollaborativeRegressor as CollaborativeRegressor
    from .planning.client_statistics import statistics as statistics
    from .planning.method_comparison import compare_methods as compare_methods
    from .planning.plan import Plan as Plan
    from .planning.plan import plan as plan
    from .simulate import AllForOne as AllForOne
    from .simulate import FixedWeights as FixedWeights
    from .simulate import LeastSquares as LeastSquares
    from .simulate import Local as Local
    from .simulate import Logistic as Logistic
    from .simulate import Neural as Neural
    from .simulate import Quadratics as Quadratics
    from .simulate import Trace as Trace
    from .simulate import algorithms as algorithms
    from .simulate import collaborators as collaborators
    from .simulate import expected_excess as expected_excess
    from .simulate import hitting_times as hitting_times
    from .simulate import problems as problems
    from .simulate import run as run
    from .simulate.data.heart_disease import heart_disease as heart_disease
    from .simulate.data.mnist import mnist as mnist
    from .simulate.data.plays import plays as plays
    from .simulate.problems.from_arrays import from_arrays as from_arrays
    from .simulate.problems.read import read as read
    from .simulate.setup_file import read_setup as read_setup
    from .support.errors import ConditionError as ConditionError
    from .support.errors import InputError as InputError
    from .support.versions import VERSION as __version__  # noqa: F401
    from .support.versions import show_versions as show_versions
    from .training.train import train as train
    from .training.training_result import Training as Training
    from .verification import Verdict as Verdict
    from .verification import check as check
    from .verification import errata as errata
    from .verification import families as families
    from .verification import quantity as quantity
    from .verification import testing as testing
    from .verification import verify as verify

__getattr__, __dir__, __all__ = lazy(__name__, __file__)
