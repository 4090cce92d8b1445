"""docs/quantities.md, from the quantities and what is measured of them: what `sf.check` bounds, by name."""

from __future__ import annotations

from suffice.bounds import Quantity
from suffice.simulate.quadratic_forms import QuadraticForm, forms

from .markdown import cell
from .theorems import unit

_INTRODUCTION = """# Quantities that a check bounds

A quantity is four words: `sf.quantity(of=..., at=..., over=..., until=...)`, and
`sf.check(bound, quantity=...)` takes what it returns, or one of the names below. Without one it is `excess`.

* `of`: `"excess"`, `"distance"` (squared, to the minimiser), `"gradient"` (squared norm), `"consensus"`, or a function
  of the algorithm's state, which makes every Lyapunov function:
  `lambda state, best, eta, p: ((state["models"] - best) ** 2).sum((1, 2)) + ...` with $x^\\star$ as `best`, the tensors
  of the state by name (S, N, d), `problem`, and scalars of the bound; it returns one number a path.
* `at`: `"client"` (that of `client=`, on its own loss), `"clients"` (their mean, each on its own loss), `"mean model"`
  (on the mean loss $f$), `"client on mean loss"`, `"clients on mean loss"`.
* `over`: `"last"`, `"average"` (over $t < T$), `"rounds"` (over the starts $0, K, 2 K, \\dots$ of rounds),
  `("suffix", T0)` (the average over $t = T_0, \\dots, T$; `T0` may be a function of T), weights such as
  `lambda t, T: 2 * (t + 1) / ((T + 1) * (T + 2))` that sum to 1 over $t = 0, \\dots, T$ and may take scalars too, or
  `("mean iterate", w)`: the value at the mean of the models with these weights.
* `until`: `"T"`, or `"tau"`, the first $t$ where the excess is below `eps` or the squared gradient below `G`.

*Exact* means by second moments, for linear algorithms on quadratics, a function of the state included where it is a
quadratic; other algorithms and losses are simulated, and *paths* are always simulated. $e_t$ is the excess loss of the
client that `client=` says (0 unless given) after $t$ iterations, $\\tau = \\min\\{t \\ge 0: e_t < \\varepsilon\\}$ and
$\\tau_G = \\min\\{t \\ge 0: \\|\\nabla R(\\theta_t)\\|^2 < G\\}$; a bound of what stops may take the scalar `eps` or
`G`. Of a hitting time the check measures the smaller of it and T, so it tests bounds from above. A sum is a
function of the state.

A bound that takes `R` is about whole rounds: $T = R K$ with the algorithm's period as `K`, which `period=(1, 10)`
varies; `participants` are those of a round.

## A Lyapunov function, whole

ProxSkip is `Scaffnew(p=...)`; its state has `models` and the control variates as `control`, and
$\\nabla f_i(x^\\star)$ is `problem.gradient` at `best`, once a client. The family is small, and `longest=20`
keeps its paths short:

```python
import suffice as sf
from suffice.simulate import Scaffnew


def square(x):
    return x.square().sum(-1).mean(-1)


def psi(state, problem, best, eta, p):
    # the mean over clients of |x_i - x*|^2 + (eta/p)^2 |h_i - grad f_i(x*)|^2
    slopes = problem.gradient(best.expand(1, problem.clients, -1))
    return square(state["models"] - best) + (eta / p) ** 2 * square(state["control"] - slopes)


def proxskip(*, eta, mu, p, D2, zeta2, T):
    return max(1 - eta * mu, 1 - p**2) ** T * (D2 + (eta / p) ** 2 * zeta2)


verdict = sf.check(
    proxskip,
    conditions=lambda *, eta, L, sigma2: {"eta <= 1/L": (eta, 1 / L), "no noise": (sigma2, 0)},
    quantity=sf.quantity(of=psi),
    algorithm=Scaffnew(p=0.5),
    family=sf.families.quadratics(longest=20, clients=2, features=1),
    names={"L": "beta", "D2": "distance2"},
)
assert verdict.valid
```

## By name

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
