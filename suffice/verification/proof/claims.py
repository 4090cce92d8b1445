"""The claims of a bound for all T, as the checker reads them, and the search for their proofs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy

from ..certificate import certificate
from ..recheck import inequalities
from .box_search import Budget, Undecided, as_box, as_list, proof_of
from .domain import Domain
from .normalised_bound import NotOfThisKind, Symbolic, symbols
from .refute import Part


def proved(claim: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """The claim with its proof; raises `box_search.Negative` and `Undecided`."""
    box = {name: (Fraction(low), Fraction(high)) for name, (low, high) in claim["box"].items()}
    one = claim["kind"] == "box"
    try:
        pairs = [(claim["left"], claim["right"])] if one else inequalities(claim)
        found = [proof_of(left, right, box, budget) for left, right in pairs]
    except ValueError as error:  # of the checker: a division by 0, too many terms or digits
        raise Undecided(str(error)) from error
    return certificate(proof=found[0] if one else {"inequalities": found}, **claim)


def claims_of(
    part: Part,
    symbolic: Symbolic,
    domain: Domain,
    direction: str,
    says: str,
    earliest: int,
    slack: Fraction,
    shared: bool = False,
    form: tuple[int, int] | None = None,
) -> Iterator[dict[str, Any]]:
    """The recursion over whole periods, and an inequality for each step between.

    What holds at the ends of periods is the bound or, `shared`, the part of it that falls with 1/N: averages keep that,
    although the models' own noise comes between.
    """
    x = symbols()
    z, bound = x["z"], part.bound * (1 + sympy.Rational(slack))
    high = Fraction(1, 1 + earliest) if symbolic.q is None else Fraction(1)
    on_box = {x["h"]: x["k"] + sympy.Symbol("u") * (1 - x["k"]), x["s"]: domain.step}

    def put(expression: Any) -> Any:
        return sympy.sympify(expression).subs({x["h"]: on_box[x["h"]]}).subs({x["s"]: on_box[x["s"]]})

    def lists(expression: Any) -> Any:
        return as_list(put(expression), inside)

    first = symbolic.after(earliest)
    start = part.start if earliest == 0 else part.rho[0].subs("n", 1) * part.start + part.add[0].subs("n", 1)
    period = len(part.rho)
    # the iteration that begins where z = 1/(T + 1) is n = T + 1
    changing = {sympy.Symbol("n"): 1 / z}
    every = (bound, *part.rho, *part.add, symbolic.q or 0, domain.step)
    used = {str(name) for each in every for name in sympy.sympify(each).free_symbols}
    none, one = Fraction(0), Fraction(1)
    sides = {**dict.fromkeys({"w", "v"} & used, (none, one)), **domain.sides, "u": (none, one), "z": (none, high)}
    # a place that no symmetry of the box prefers
    shares = {name: Fraction(3 + 2 * place, 7 + 4 * place) for place, name in enumerate("askuzwv")}
    middle = {name: low + shares[name] * (up - low) for name, (low, up) in sides.items()}
    inside = {name: sympy.Rational(each) for name, each in middle.items()}
    box = as_box(sides)
    common = {"box": box, "direction": direction, "says": says}
    move = symbolic.move(period)
    ends = x["w"] * sympy.diff(bound, x["w"]) if shared else bound
    claim = {"kind": "recursion", **common, "z": "z", "first": lists(first), "move": lists(move), "bound": lists(ends)}
    if part.pair is not None:
        yield claim | _of_pair(part, symbolic, put, lists, form)
        return
    rho, add = part.rho[-1].subs(changing), part.add[-1].subs(changing)
    yield claim | {"rho": lists(rho), "add": lists(add), "start": lists(start)}
    for j in range(0 if shared else 1, period):
        left = lists(part.rho[j - 1] * ends + part.add[j - 1] if j else ends)
        right = lists(bound.subs(z, symbolic.move(j)))
        sides_of = (left, right) if direction == "upper" else (right, left)
        between = f"{says}, {j} {'step' if j == 1 else 'steps'} after an averaging"
        yield {"kind": "box", "says": between, "box": box, "left": sides_of[0], "right": sides_of[1]}


def _of_pair(part: Part, symbolic: Symbolic, put: Any, lists: Any, form: tuple[int, int] | None) -> dict[str, Any]:
    """P = W + A' P A/rho, so that rho P - A' P A = rho W.

    The least P has W = c c'. At short steps, where A nearly keeps its first state, that grows like 1/t: then
    `form` = (m, n) gives W = m t c c' + n d d', d the other state.
    """
    if symbolic.q is None:
        raise NotOfThisKind("a bound of momentum without a power q^T")
    A, b = part.pair
    rho = put(symbolic.q ** max(int(sympy.degree(sympy.expand(part.bound), symbolic.z)), 1))
    A, b = A.applyfunc(put), b.applyfunc(put)
    p = sympy.symbols("p00 p01 p11")
    P = sympy.Matrix([[p[0], p[1]], [p[1], p[2]]])
    x = symbols()
    m, n = (1, 0) if form is None else (form[0] * put(x["s"] * x["h"]), form[1])
    gap = P - sympy.diag(m, n) - A.T * P * A / rho
    (found,) = sympy.linsolve([gap[0, 0], gap[0, 1], gap[1, 1]], p)
    kick = 0 if part.gain == 0 else put(symbols()["s"])  # gain = eta^2
    return {
        "rho": lists(rho),
        "P": [lists(each) for each in found],
        "A": [[lists(A[i, j]) for i in (0, 1)] for j in (0, 1)],
        "b": [lists(kick * each) for each in b],
        "c": ["1", "0"],
        "start": [lists(part.start), "0"],
    }
