"""Tests of one's own: `assert_bound` for pytest, and Hypothesis strategies of problems and instances."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Theorem
from suffice.simulate.problem import Problem
from suffice.support.errors import InputError
from suffice.support.numbers import as_number

from .check import check, record
from .evidence import met, within
from .families import FamilyInstance, ProblemFamily, quadratics
from .family import BEFORE_EACH, Domain
from .generated_instances import moved_inside
from .verdict import Verdict

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

LARGEST = 4
"""Clients and features of the problems that are drawn where no family is given."""
_LONGEST = 1000


class _Late(BaseException):
    """Raised inside a check that takes too long: no handler of `Exception` there stops it."""


def assert_bound(bound: Callable[..., Any], *, timeout: float = 600.0, root: int = 0, **options: Any) -> Verdict:
    """The verdict of `sf.check(bound, root=root, **options)`, or `AssertionError` unless it is `valid`.

    bound     as in `sf.check`, as are the options: conditions, quantity, direction, algorithm, family, effort, ...
    timeout   seconds after which `TimeoutError` says how far the check came: neither a pass nor a failure of the bound.
              The batch of instances that is being measured is waited for, and so is a bound that does not return
    root      of the random numbers: the same verdict on every machine

    The assertion's text is the verdict, with the counterexample or why nothing could be concluded. A true bound fails
    never where expected values are exact, and with probability at most 1e-6 a call where paths are sampled
    (`verdict.error_probability`). Assert `assert_bound(...).holds` of a bound that is meant to be sharp.
    """
    __tracebackhide__ = True
    if as_number("timeout", timeout) <= 0:
        raise InputError("timeout", timeout, "give a positive number of seconds")
    told, so_far, end = options.pop("progress", None), [0, 0], time.monotonic() + timeout

    def progress(done: int, families: int) -> None:
        so_far[:] = done, families
        if told is not None:
            told(done, families)

    def raise_if_late() -> None:
        if time.monotonic() > end:
            raise _Late

    name = getattr(bound, "__name__", "the bound")
    # Asked before a batch of instances: an alarm or an exception sent from another thread may strike anywhere, such as
    # in a clean-up that it then leaves half done, or where what it raises is ignored.
    token = BEFORE_EACH.set(raise_if_late)
    try:
        verdict = check(bound, root=root, progress=progress, **options)
    except _Late:
        done, families = so_far
        raise TimeoutError(
            f"{name} is undecided after {timeout:g} s, in family {min(done + 1, families)} of {families}: "
            "give a longer `timeout`, or a family of shorter paths, such as sf.families.quadratics(longest=20)"
        ) from None
    finally:
        BEFORE_EACH.reset(token)
    if not verdict.valid:
        chance = f"paths were sampled: a true bound fails with probability at most {verdict.error_probability:g}"
        surely = "nothing was sampled, so that no true bound fails by chance"
        why = chance if verdict.error_probability else surely
        raise AssertionError(f"{name}: {verdict}\n  root {root}; {why}")
    return verdict


def problems(family: ProblemFamily | None = None) -> SearchStrategy[Problem]:
    """A Hypothesis strategy of the problems of a family; of quadratics, 1 to 4 clients in 1 to 4 dimensions, alike or
    not, unless one is given. What it finds shrinks to few clients and simple numbers."""
    return instances(family).map(lambda setting: setting.problem)


def instances(
    family: ProblemFamily | None = None, *, conditions: Callable[..., Any] | None = None
) -> SearchStrategy[FamilyInstance]:
    """A Hypothesis strategy of the instances of a family (as in `problems`): each a `FamilyInstance` with `problem`,
    `eta`, `iterations` and, in `arguments`, the scalars of a bound.

    conditions  as in `sf.check`: every instance meets them. Those of the library's families are moved to where they
                hold, the step up to the largest allowed, 4/beta without conditions; of other families those that do not
                meet them are drawn again
    """
    st = _strategies()
    theorem = record(lambda: 1.0, conditions, own={} if family is None else family.own())
    if family is not None:
        values = _values(family)
        if family.sharp is not None:
            values = values | st.sampled_from(_sharp(family))
        return values.map(lambda found: _setting(family, theorem, found)).filter(bool)

    # Every client and feature is drawn, and so is whether it stays: any of them may be left out, so that what fails
    # shrinks to the fewest that fail.
    sized = cache(partial(quadratics, longest=_LONGEST))
    whole = sized(clients=LARGEST, features=LARGEST, identical=False)
    stays = st.lists(st.booleans(), min_size=LARGEST, max_size=LARGEST).map(lambda kept: np.flatnonzero(kept))

    def some(
        clients: np.ndarray, features: np.ndarray, differ: bool, values: dict[str, Any] | int
    ) -> FamilyInstance | None:
        clients, features = (kept if len(kept) else np.zeros(1, int) for kept in (clients, features))
        small = sized(clients=len(clients), features=len(features), identical=not differ)
        if isinstance(values, int):
            sharp = _sharp(small)  # of one feature there are fewer
            return _setting(small, theorem, sharp[values % len(sharp)])
        kinds = clients if differ else clients[:1]
        at = {"curvature": np.ix_(kinds, features), "minimiser": np.ix_(clients, features), "direction": features}
        at["turn"] = clients
        return _setting(small, theorem, {name: values[name][at[name]] if name in at else values[name]
                                         for name in small.domains})  # fmt: skip

    values = _values(whole) | st.integers(0, len(_sharp(whole)) - 1)
    return st.builds(some, stays, stays, st.booleans(), values).filter(bool)


def _values(family: ProblemFamily) -> Any:
    return _strategies().fixed_dictionaries({name: _entries(domain) for name, domain in family.domains.items()})


def _sharp(family: ProblemFamily) -> list[dict[str, Any]]:
    assert family.sharp is not None
    sharp = family.sharp()
    return [{name: value[at] for name, value in sharp.items()} for at in range(len(next(iter(sharp.values()))))]


def _setting(family: ProblemFamily, theorem: Theorem, values: Mapping[str, Any]) -> FamilyInstance | None:
    """The instance of these values, moved to where the conditions hold; None where they do not."""
    batch = {name: np.asarray(value, dtype=float)[None] for name, value in values.items()}
    if family.movable is not None:
        batch, eta = moved_inside(theorem, family.movable, batch)
        batch = batch | {"eta": eta}
    found = family.settings(batch)[0]
    for parameter in theorem.parameters:
        if parameter.name not in found.arguments:
            names = ", ".join(found.arguments)
            raise InputError("parameter", parameter.name, f"the family {family.name} gives {names}")
    arguments = {name: np.array([value], dtype=float) for name, value in found.arguments.items()}
    good = within(theorem.parameters, arguments, (1,)) & met(theorem, arguments, (1,))
    return found if good[0] else None


def _entries(domain: Domain) -> SearchStrategy[Any]:
    """A number, or an array of the shape; it shrinks to small whole numbers, and to 0 where that is allowed."""
    st = _strategies()
    if domain.integer:
        entry = st.integers(int(np.ceil(domain.low)), int(np.floor(domain.high))).map(float)
    else:
        entry = st.floats(domain.low, domain.high)
        if not domain.log:  # squares of 1e-200 are 0: whoever means 0 has it
            entry = entry.map(lambda value: float(np.clip(round(value, 9), domain.low, domain.high)))
    if domain.zero:
        entry = st.just(0.0) | entry
    if not domain.shape:
        return entry
    size = int(np.prod(domain.shape))
    return st.tuples(*[entry] * size).map(lambda found: np.reshape(found, domain.shape))


def _strategies() -> Any:
    try:
        from hypothesis import strategies
    except ImportError:
        raise InputError("hypothesis", "missing", "strategies need it: pip install hypothesis") from None
    return strategies
