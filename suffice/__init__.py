"""suffice: is a theorem of collaborative learning true, what should I run, and what does it look like.

    import suffice as sf
    problem = sf.read("clients.csv", client="site", target="y")
    plan = sf.plan(problem, epsilon=[0.1, 0.03])
    plan["Lyon"].collaborators

Names load on first use, so that importing costs little; torch loads when something is simulated.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import bounds as bounds
    from . import figures as figures
    from . import simulate as simulate
    from . import verification as verification
    from ._check import check as check
    from ._fit import fit as fit
    from ._fit import summarise as summarise
    from ._plan import Plan as Plan
    from ._plan import plan as plan
    from ._report import report as report
    from .bounds import PARAMETERS as PARAMETERS
    from .bounds import Binary as Binary
    from .bounds import ConditionError as ConditionError
    from .bounds import Constants as Constants
    from .bounds import Continuous as Continuous
    from .bounds import Custom as Custom
    from .bounds import GradientDissimilarity as GradientDissimilarity
    from .bounds import InputError as InputError
    from .bounds import Inversion as Inversion
    from .bounds import QuadraticCertificate as QuadraticCertificate
    from .bounds import Quantity as Quantity
    from .bounds import Sharp as Sharp
    from .bounds import Theorem as Theorem
    from .bounds import digits as digits
    from .bounds import evaluate as evaluate
    from .bounds import find as theorem
    from .bounds import latex as latex
    from .bounds import property_1 as property_1
    from .bounds import solve as solve
    from .client_statistics import statistics as statistics
    from .estimators import CollaborativeClassifier as CollaborativeClassifier
    from .estimators import CollaborativeRegressor as CollaborativeRegressor
    from .figures import Figure as Figure
    from .figures import figure as figure
    from .fitted import Fit as Fit
    from .fitted import load as load
    from .setup_file import read_setup as read_setup
    from .simulate import AllForOne as AllForOne
    from .simulate import FixedWeights as FixedWeights
    from .simulate import LeastSquares as LeastSquares
    from .simulate import Local as Local
    from .simulate import Logistic as Logistic
    from .simulate import Quadratics as Quadratics
    from .simulate import Trace as Trace
    from .simulate import algorithms as algorithms
    from .simulate import expected_excess as expected_excess
    from .simulate import hitting_times as hitting_times
    from .simulate import problems as problems
    from .simulate import run as run
    from .simulate.data.from_arrays import from_arrays as from_arrays
    from .simulate.data.heart_disease import heart_disease as heart_disease
    from .simulate.data.mnist import mnist as mnist
    from .simulate.data.read import read as read
    from .verification import Verdict as Verdict
    from .verification import errata as errata
    from .verification import families as families
    from .verification import verify as verify

_HOMES = {
    ".bounds": "PARAMETERS Binary ConditionError Constants Continuous Custom GradientDissimilarity InputError "
    "Inversion QuadraticCertificate Quantity Sharp Theorem digits evaluate latex property_1 solve",
    ".simulate": "AllForOne FixedWeights LeastSquares Local Logistic Quadratics Trace algorithms expected_excess "
    "hitting_times problems run",
    ".verification": "Verdict errata families verify",
    ".figures": "Figure figure",
    "._check": "check",
    "._fit": "fit summarise",
    "._plan": "Plan plan",
    "._report": "report",
    ".estimators": "CollaborativeClassifier CollaborativeRegressor",
    ".fitted": "Fit load",
    ".simulate.data.from_arrays": "from_arrays",
    ".simulate.data.heart_disease": "heart_disease",
    ".simulate.data.mnist": "mnist",
    ".simulate.data.read": "read",
    ".client_statistics": "statistics",
    ".setup_file": "read_setup",
}
_WHERE = {name: home for home, names in _HOMES.items() for name in names.split()}
_PACKAGES = ("bounds", "simulate", "verification", "figures")  # for those who extend the library
_RENAMED = {"Affine": "GradientDissimilarity", "Solution": "Inversion", "known_numbers": "statistics"}
# Names are strings, which load lazily; type checkers read the same ones from the imports above.
__all__ = [*sorted(_WHERE), *_PACKAGES, "theorem"]


def __getattr__(name: str) -> Any:
    if name == "theorem":
        return importlib.import_module(".bounds", __name__).find
    if name in _PACKAGES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _WHERE:
        hint = f"; it is now {_RENAMED[name]!r}" if name in _RENAMED else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    return getattr(importlib.import_module(_WHERE[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
