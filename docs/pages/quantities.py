"""docs/quantities.md, from the quantities and what is measured of them: what `sf.check` bounds, by name."""

from __future__ import annotations

from suffice.bounds import Quantity
from suffice.simulate.quadratic_forms import QuadraticForm, forms

from .markdown import cell
from .theorems import unit

_INTRODUCTION = """# Quantities that a check bounds

`sf.check(bound, quantity="last_distance")` takes any of these names; without one it is `excess`. *Exact* means by
second moments, for linear algorithms on quadratics; other algorithms and losses are simulated, and *paths* are always
simulated. $e_t$ is the excess loss of the client that `client=` says (0 unless given) after $t$ iterations,
$\\tau = \\min\\{t \\ge 0: e_t < \\varepsilon\\}$ and
$\\tau_G = \\min\\{t \\ge 0: \\|\\nabla R(\\theta_t)\\|^2 < G\\}$; a bound of what stops may take the scalar `eps` or
`G`. Of a hitting time the check measures the smaller of it and T, so it tests bounds from above. A sum is given by
weights: `quantity={"last_distance": 1.0, "last_consensus": 0.5}`.

| name | quantity | in words of a verdict | unit | measured |
|---|---|---|---|---|
"""


def text() -> str:
    """The whole page."""
    return _INTRODUCTION + "\n".join(_row(name, form) for name, form in forms().items()) + "\n"


def _row(name: str, form: QuadraticForm) -> str:
    quantity = getattr(Quantity, name.upper())
    how = f"paths, `{form.level}`" if form.level else "exact"
    return f"| `{name}` | ${cell(quantity.latex)}$ | `{cell(quantity.expression)}` | {unit(quantity.unit)} | {how} |"
