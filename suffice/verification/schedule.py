"""Functions of t that people give: weights of iterates, and steps that change from iteration to iteration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from torch import Tensor

from suffice.simulate import Algorithm
from suffice.simulate.algorithms.algorithm import Draw, State, Wrapper
from suffice.simulate.oracle import Oracle
from suffice.support.errors import InputError

from .readable_bound import adapted, renamed


def series(field: str, function: Callable[..., Any], remedy: str) -> Callable[..., np.ndarray]:
    """Turn a function of t, T and scalars into one of T and scalars that returns all values at t = 0, ..., T, or at the
    first `count` numbers t. `InputError` names `field`."""
    served, own = adapted(function), inspect.signature(function).parameters
    names = [name for name in own if name not in ("t", "T")]

    @lru_cache(maxsize=4096)
    def row(T: int, count: int, scalars: tuple[float, ...]) -> np.ndarray:
        t, given = np.arange(float(count)), dict(zip(names, scalars)) | ({"T": float(T)} if "T" in own else {})

        def one(t: Any) -> Any:
            return served(**given, **({"t": t} if "t" in own else {}))

        try:
            with np.errstate(all="ignore"):
                try:
                    found = one(t)
                except (TypeError, ValueError):  # it takes one t at a time
                    found = [one(each) for each in t]
            return np.broadcast_to(np.asarray(found, dtype=float), t.shape)
        except Exception as error:
            raise InputError(field, getattr(function, "__name__", "w"), f"it fails ({error}); {remedy}") from error

    def values(T: int, count: int = 0, **scalars: float) -> np.ndarray:
        return row(T, count or T + 1, tuple(scalars[name] for name in names))

    kind, values.__name__ = inspect.Parameter.KEYWORD_ONLY, getattr(function, "__name__", "<lambda>")
    values.__dict__["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in ("T", *names)])
    return values


_STEP = "give a function of t = 0, 1, ... (the step from theta_t), T and scalars that returns a number >= 0"


@dataclass(kw_only=True)
class Scheduled(Wrapper):
    """An algorithm whose step from theta_t is `given` at t, T and scalars of the instance. `step` takes all of them in
    the place of eta; the last one serves all later iterations."""

    of: Algorithm
    given: Callable[..., Any]

    def __post_init__(self) -> None:
        self.name, self.linear = f"{self.of.name} with its steps given", self.of.linear
        self.sizes, self.changing = series("step", self.given, _STEP), "t" in inspect.signature(self.given).parameters

    @property
    def scalars(self) -> list[str]:
        return [name for name in inspect.signature(self.sizes).parameters if name != "T"]

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        own = eta[..., min(draw.iteration, eta.shape[-1]) - 1] if eta.ndim else eta
        return self.of.step(problem, state, draw, own)


def with_steps(step: Callable[..., Any], names: Mapping[str, Any], *given: Any) -> dict[str, Any]:
    """`names`, where the function `step` stands for eta if it takes scalars alone; `InputError` if it takes t and no
    eta itself, but a function in `given` takes eta."""
    takes = inspect.signature(step).parameters
    if "eta" in takes:
        return dict(names)
    if "t" not in takes:
        own = {name: renamed(each, {"eta": step}) if callable(each) else each for name, each in names.items()}
        return {"eta": step} | {name: step if each == "eta" else each for name, each in own.items()}
    for function in filter(None, given):
        for name in inspect.signature(function).parameters:
            meant = names.get(name, name)
            if meant == "eta" or (callable(meant) and "eta" in inspect.signature(meant).parameters):
                raise InputError(name, "eta", "the steps are `step`, which takes no eta: let it, or leave eta out here")
    return dict(names)


def steps(
    algorithm: Algorithm, eta: Any, arguments: Mapping[str, Any], count: int,
    inside: Callable[[], np.ndarray] = lambda: np.zeros(1, dtype=bool),
) -> Any:  # fmt: skip
    """The eta for `algorithm.step` at instances with these scalars (n,): `eta`, or scheduled steps (n, count), with 0
    for those that are negative or not finite. `InputError` for such a step before T `inside` the conditions (n,)."""
    if not isinstance(algorithm, Scheduled):
        return eta
    for name in algorithm.scalars:
        if name not in arguments:
            raise InputError("parameter", name, f"`step` takes it, and the family gives {', '.join(arguments)}")
    given, T = {name: np.ravel(arguments[name]) for name in algorithm.scalars}, np.ravel(arguments["T"])
    count = max(count, 1) if algorithm.changing else 1
    found = np.array([
        algorithm.sizes(int(each), count, **{name: float(value[at]) for name, value in given.items()})
        for at, each in enumerate(T)
    ])  # fmt: skip
    wrong = ~(np.isfinite(found) & (found >= 0))
    at, t = np.nonzero(wrong & (np.arange(count) < T[:, None]) & (inside()[:, None] if wrong.any() else False))
    if len(at):
        raise InputError("step", float(found[at[0], t[0]]), f"so it is at t = {t[0]} and T = {T[at[0]]:g}; {_STEP}")
    return np.where(wrong, 0.0, found)
