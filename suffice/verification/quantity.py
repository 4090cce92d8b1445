"""Quantities as people give them: by name, or as four words. A Lyapunov function is a function of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from suffice.bounds import Quantity, Theorem
from suffice.bounds.units import DIMENSIONLESS, GRADIENT_SQUARED, LOSS, THETA_SQUARED
from suffice.simulate import Algorithm
from suffice.simulate.moment_maps import at_states, origin
from suffice.simulate.problem import QuadraticProblem
from suffice.simulate.quadratic_forms import AT, LEVELS, OF, STOPPED, QuadraticForm, forms
from suffice.support.errors import InputError
from suffice.support.numbers import as_whole
from suffice.support.parse import nearest

from .readable_bound import renamed
from .schedule import series

APART = frozenset(("zeta2", "sigma2_star", "Gamma", "hessian_gap", "G2", "B2"))
"""Scalars that say how far clients are apart."""
GROWING = frozenset(("noise_factor", "noise_excess"))
"""Scalars by which noise grows with the distance: M and A of Var[g] <= sigma2 + M |grad R|^2 + 2 A (R - R*)."""
_SUMS = 1e-9
_OVER = 'give "last", "average", "rounds", ("suffix", T0), ("mean iterate", w) or weights w(t, T) that sum to 1'
_UNITS = {"excess": LOSS, "distance": THETA_SQUARED, "gradient": GRADIENT_SQUARED, "consensus": THETA_SQUARED}
_ITERATES = {"last": "after T iterations", "average": "averaged over t < T", "time": "until it is below its level"}


@dataclass(frozen=True, kw_only=True)
class Composed(Quantity):
    """A quadratic form. `isotropic`: whether noise has to be isotropic; `apart`: whether the bound takes constants that
    say how far clients are apart; `growing`: those of its constants by which noise grows."""

    form: QuadraticForm
    isotropic: bool = False
    apart: bool = False
    growing: frozenset[str] = frozenset()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Composed, **vars(self)), ()  # not one that is known by its name

    @property
    def mean_loss(self) -> bool:
        """Whether e0 and distance2 are those of the clients' mean loss; for a form of no loss `apart` decides."""
        return self.form.mean_loss or (self.apart and (self.form.of == "consensus" or callable(self.form.of)))

    def check_iterates(self, arguments: Mapping[str, np.ndarray], inside: np.ndarray) -> np.ndarray:
        """`inside` (n,), or `InputError` where weights over iterates do not sum to 1 at such an instance."""
        form = self.form
        if isinstance(form.over, str) or form.over == ("suffix", 0) or not inside.any():
            return inside
        given = scalars_of((*form.scalars, "T"), arguments)
        T, given = given["T"][inside], {name: value[inside] for name, value in given.items()}
        rows = form.weights(T, given)
        wrong = (rows < 0).any(1) | ~(np.abs(rows.sum(1) - 1) <= _SUMS)
        if wrong.any():
            at = int(wrong.argmax())
            how = "are empty (a suffix needs T0 <= T)" if np.isnan(rows[at]).any() else f"sum to {rows[at].sum():.6g}"
            remedy = f"its weights {how} at T = {T[at]:g}: let them be >= 0 and sum to 1 over t = 0, ..., T where "
            raise InputError("over", words(form), f"{remedy}`conditions` hold")
        return inside


def scalars_of(names: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of these names; `InputError` for one that the family does not give."""
    for name in names:
        if name not in arguments:
            raise InputError("parameter", name, f"the family gives {', '.join(arguments)}")
    return {name: arguments[name] for name in names}


def quantity(
    of: str | Callable[..., Any] = "excess", at: str | None = None, over: Any = "last", until: str = "T"
) -> Quantity:
    """A quantity that a bound may be about, in four words, for `check(quantity=...)`.

    of     "excess", "distance" (squared, from the minimiser), "gradient" (its squared norm), "consensus"
           ((1/N^2) sum_ij |x_i - x_j|^2), or a function of keywords that returns one number >= 0 a path, a tensor (S,):
           `state` (the algorithm's tensors (S, N, d) by name, `state["models"]` first), `problem`, `best` (the
           minimiser x* of the clients' mean loss), `client` and scalars such as eta, mu or the algorithm's p. Where it
           is a quadratic of the state of a linear algorithm it is computed exactly, elsewhere on paths
    at     "client" (the one of `check(client=)`, on its own loss) unless given; "clients" (the mean over all, each on
           its own loss); "mean model" (the mean of the clients' models, on the mean of their losses); "client on mean
           loss"; "clients on mean loss" (the mean over their models, each on the mean loss)
    over   "last" (T); "average" (over t < T); weights w(t, T), a function that may take scalars too and sums to 1 over
           t = 0, ..., T; "rounds": the average over the starts of rounds, t = 0, K, 2 K, ... < T with the algorithm's
           period as K; ("suffix", T0): the average over t = T0, ..., T, with T0 a number or a function of T;
           ("mean iterate", w) with any of these: at the weighted mean of the models; "mean iterate": of all of them,
           t = 0, ..., T. With until="tau" also "while running" (q_T 1{tau >= T}), "still running" (P(tau > T)) and
           "time" (E[min(tau, T)])
    until  "T", or "tau": the first t where the excess is below the scalar eps, the squared gradient below G
    Raises `InputError`.
    """
    if not callable(of):
        _word("of", of, OF, " or a function of the state")
    at = at if at is not None else "clients" if of == "consensus" or callable(of) else "client"
    _word("at", at, AT)
    if at != "clients" and (of == "consensus" or callable(of)):
        raise InputError("at", at, "consensus and functions of the state are of all clients: leave it out")
    _word("until", until, ("T", "tau"))
    if until == "tau" and of not in LEVELS:
        raise InputError("until", until, f"tau is known of {' and '.join(LEVELS)}: give until='T'")
    mean = over == "mean iterate" or (isinstance(over, tuple) and over[:1] == ("mean iterate",))
    if mean and (until == "tau" or callable(of)):
        raise InputError(
            "over", str(over), 'it is at the mean of the models until T: give of="excess", "distance", ...'
        )
    spec = _iterates((over[1] if len(over) == 2 else None) if isinstance(over, tuple) and mean else over, until)
    form = QuadraticForm(of=of, at=at, over=spec, mean=mean and spec != "last", until=until)
    names = {each: name for name, each in forms().items()}
    if form in names:
        return getattr(Quantity, names[form].upper())
    text = words(form)
    unit = DIMENSIONLESS if callable(of) or over in ("time", "still running") else _UNITS[of]
    return Composed(name="COMPOSED", expression=text, latex=rf"\text{{{text}}}", unit=unit, form=form)


def _word(field: str, given: Any, known: Any, more: str = "") -> None:
    if not isinstance(given, str) or given not in known:
        near = nearest(str(given), known)
        raise InputError(field, given, f"{f'did you mean {near}? ' if near else ''}use {', '.join(known)}{more}")


def _iterates(over: Any, until: str) -> Any:
    """The value of `QuadraticForm.over` that `over` means; `InputError` where it means none."""
    if over == "mean iterate":
        return "suffix", 0
    if isinstance(over, tuple):
        if len(over) != 2 or over[0] != "suffix" or isinstance(over[1], str):
            raise InputError("over", str(over), _OVER)
        if not callable(over[1]):
            as_whole("T0", over[1], least=0)
        return over
    if over == "rounds":
        over = starts_of_rounds
    if not callable(over):
        _word(
            "over",
            over,
            ("last", "average", "rounds", "mean iterate", *(STOPPED if until == "tau" else ())),
            f"; {_OVER}",
        )
        return over
    return series("over", over, _OVER)


def starts_of_rounds(*, t: Any, T: Any, K: Any) -> Any:
    """Weights of theta_0, theta_K, theta_2K, ... before theta_T."""
    return (t % K == 0) * (t < T) / np.ceil(T / K)


def words(form: QuadraticForm) -> str:
    """A name that a verdict calls it by."""
    for name, each in forms().items():
        if each == form:
            return name
    what = getattr(form.of, "__name__", "function") if callable(form.of) else form.of
    whose = "" if form.of == "consensus" or callable(form.of) else f" of {form.at}"
    if isinstance(form.over, tuple):
        first = "T0" if callable(form.over[1]) else form.over[1]
        when = f"averaged over t >= {first}"
    else:
        own = getattr(form.over, "__name__", "<lambda>").replace("<lambda>", "w(t, T)")
        when = f"weighted by {own}" if callable(form.over) else _ITERATES.get(form.over, form.over)
    when = f"at the mean iterate, {when}" if form.mean else when
    return f"E[{what}{whose}], {when}{', until tau' if form.until == 'tau' else ''}"


def form_of(theorem: Theorem) -> Composed:
    """The theorem's quantity as a form of second moments; `InputError` where they do not determine the quantity."""
    found = composed(theorem.quantity)
    taken = {each.name for each in theorem.parameters} | {*found.form.scalars}
    return replace(found, apart=not APART.isdisjoint(taken), growing=GROWING & taken)


def composed(given: Quantity) -> Composed:
    """A quantity with its form."""
    if isinstance(given, Composed):
        return given
    name = given.name.lower()
    _word("quantity", name, forms())
    fields = {name: getattr(given, name) for name in ("name", "expression", "latex", "unit")}
    return Composed(**fields, form=forms()[name])


def quantity_of(given: Any, names: Mapping[str, Any] = MappingProxyType({})) -> Quantity:
    """The quantity of a name, or one of four words whose functions take scalars by `names`, see
    `readable_bound.renamed`; `InputError` where it is none."""
    if isinstance(given, Composed):
        own = {key: renamed(each, names) for key in ("of", "over") if callable(each := getattr(given.form, key))}
        return replace(given, form=replace(given.form, **own))
    name = given.name.lower() if isinstance(given, Quantity) else str(given).lower().replace(" ", "_")
    _word("quantity", name, forms())
    return getattr(Quantity, name.upper())


def quadratic_at(
    form: QuadraticForm, problem: QuadraticProblem, algorithm: Algorithm, client: int, scalars: Mapping[str, float]
) -> bool:
    """Whether a function of the state is the quadratic form that was read from it, at states drawn around the start."""
    if not callable(form.of):
        return True
    _, centre, z = origin(problem, algorithm)
    rng = np.random.default_rng(0)
    drawn = z[:-1] + z.new_tensor(rng.normal(size=(8, len(z) - 1))) * (1 + z[:-1].abs())
    name = getattr(form.of, "__name__", "function")
    try:
        F = form.on_state(problem, client, centre, scalars)
        values = form.value(problem, at_states(centre, drawn), client, scalars)
    except InputError:
        raise
    except Exception as error:
        known = ", ".join(centre)
        raise InputError(
            "of", name, f"it fails on the state of {algorithm.name}, which has {known} ({error})"
        ) from error
    z = torch.cat((drawn, drawn.new_ones(8, 1)), 1)
    size = ((z.abs() @ F.abs()) * z.abs()).sum(1)
    if bool((values < -1e-9 * size).any()):
        raise InputError("of", name, f"it is {float(values.min()):.3g} at a state: give one that is never negative")
    return bool(((values - ((z @ F) * z).sum(1)).abs() <= 1e-8 * size).all())
