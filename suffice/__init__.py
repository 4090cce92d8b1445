"""suffice: is a theorem of collaborative learning true, what should I run, and what does it look like.

    import suffice as sf
    problem = sf.read("clients.csv", client="site", target="y")
    plan = sf.plan(problem, epsilon=[0.1, 0.03])
    plan["Lyon"].collaborators

Names load on first use, so that importing costs little; torch loads when something is simulated.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bounds import PARAMETERS as PARAMETERS
    from bounds import Affine as Affine
    from bounds import Binary as Binary
    from bounds import ConditionError as ConditionError
    from bounds import Constants as Constants
    from bounds import Continuous as Continuous
    from bounds import Custom as Custom
    from bounds import InputError as InputError
    from bounds import QuadraticCertificate as QuadraticCertificate
    from bounds import Quantity as Quantity
    from bounds import Sharp as Sharp
    from bounds import Solution as Solution
    from bounds import Theorem as Theorem
    from bounds import digits as digits
    from bounds import evaluate as evaluate
    from bounds import find as theorem
    from bounds import latex as latex
    from bounds import property_1 as property_1
    from bounds import solve as solve
    from figures import Figure as Figure
    from figures import figure as figure
    from simulate import AllForOne as AllForOne
    from simulate import FixedWeights as FixedWeights
    from simulate import LeastSquares as LeastSquares
    from simulate import Local as Local
    from simulate import Logistic as Logistic
    from simulate import Quadratics as Quadratics
    from simulate import Trace as Trace
    from simulate import expected_excess as expected_excess
    from simulate import hitting_times as hitting_times
    from simulate import run as run
    from verify import Verdict as Verdict
    from verify import check as check
    from verify import errata as errata
    from verify import families as families
    from verify import verify as verify

    from .advice import Plan as Plan
    from .advice import plan as plan
    from .client_data import from_arrays as from_arrays
    from .client_data import read as read
    from .client_numbers import known_numbers as known_numbers
    from .datasets import heart_disease as heart_disease
    from .datasets import mnist as mnist
    from .setup_file import read_setup as read_setup

_ROOMS = {
    "bounds": "PARAMETERS Affine Binary ConditionError Constants Continuous Custom InputError QuadraticCertificate "
    "Quantity Sharp Solution Theorem digits evaluate latex property_1 solve",
    "simulate": "AllForOne FixedWeights LeastSquares Local Logistic Quadratics Trace expected_excess hitting_times run",
    "verify": "Verdict check errata families verify",
    "figures": "Figure figure",
    "suffice.advice": "Plan plan",
    "suffice.client_data": "from_arrays read",
    "suffice.client_numbers": "known_numbers",
    "suffice.datasets": "heart_disease mnist",
    "suffice.setup_file": "read_setup",
}
_WHERE = {name: room for room, names in _ROOMS.items() for name in names.split()}
# Names are strings, which load lazily; type checkers read the same ones from the imports above.
__all__ = [*sorted(_WHERE), "theorem"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "theorem":
        return importlib.import_module("bounds").find
    if name not in _WHERE:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__


def _check_neighbours() -> None:
    """The rooms have common names: say so at once if another package's `bounds` shadows ours."""
    home = Path(__file__).resolve().parent.parent
    for room in ("bounds", "simulate", "verify", "figures"):
        spec = importlib.util.find_spec(room)
        found = None if spec is None or spec.origin is None else Path(spec.origin).resolve().parent.parent
        if found != home:
            raise ImportError(
                f"suffice needs its own package {room!r} from {home}, but Python finds "
                f"{found or 'none'}; remove or rename the other one, or run from another folder"
            )


_check_neighbours()
