"""Closed forms that are attained only where a search has to go: at a limit, in one shape, without noise, late, apart.

On R = sum_a h_a x_a^2 / 2, mu <= h_a <= beta, gradient descent with noise of variance sigma2/d each has
    E[e_T] = sum_a (h_a / 2) (q_a^{2T} x_a^2 + eta^2 (sigma2/d) (1 - q_a^{2T}) / (1 - q_a^2)),  q_a = 1 - eta h_a.
As 1 - q^2 = eta h (1 + q), its noise is (eta sigma2 / 2d) sum_a (1 - q_a^{2T}) / (1 + q_a), which falls in q. So for
eta <= 1/beta the start is slowest at mu and the noise largest at beta, and the other way round from below; both bounds
are attained where mu = beta. For eta <= 2/beta no mode grows, and an iteration adds eta^2 beta sigma2 / 2 at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from shorter_steps import Steps

import suffice as sf
from suffice.simulate import Local, LocalSGD, Quadratics
from suffice.verification import Domain, Outcome, families
from suffice.verification.families import FamilyInstance, ProblemFamily

from . import truth

VIOLATED, STANDS, NOT_HOLDS = "violated", "not violated", "neither violated nor holds"


@dataclass(frozen=True)
class Edge:
    """A bound whose judgement is known, by `says`."""

    name: str
    bound: Callable[..., Any]
    says: str
    conditions: Callable[..., Any] | None
    options: dict[str, Any]

    def wrong(self, root: int = 0) -> str:
        """What was judged wrongly, or ""."""
        verdict = sf.check(self.bound, conditions=self.conditions, root=root, **self.options)
        violated, loose = verdict.outcome is Outcome.VIOLATED, verdict.outcome is Outcome.VALID
        good = {VIOLATED: violated, STANDS: verdict.valid, NOT_HOLDS: loose}[self.says]
        return "" if good else f"{self.name} must be {self.says}: {verdict.summary}"


def above(factor: float = 1.0, false: Callable[..., Any] = lambda T, N, d: 0):
    """A tenth lower where it is to be `false`."""

    def bound(*, eta, mu, beta, e0, sigma2, T, N, d):
        noise = eta * sigma2 * (1 - (1 - eta * beta) ** (2 * T)) / (2 * (2 - eta * beta))
        return factor * (1 - 0.1 * false(T, N, d)) * ((1 - eta * mu) ** (2 * T) * e0 + noise)

    return bound


def below(factor: float = 1.0):
    def bound(*, eta, mu, beta, e0, sigma2, T):
        noise = eta * sigma2 * (1 - (1 - eta * mu) ** (2 * T)) / (2 * (2 - eta * mu))
        return factor * ((1 - eta * beta) ** (2 * T) * e0 + noise)

    return bound


def grown(factor: float = 1.0, first: float = 1.0):
    """`first`: by what the largest of the steps falls short of eta."""
    return lambda *, eta, beta, e0, sigma2, T: e0 + factor * T * (first * eta) ** 2 * beta * sigma2 / 2


def averaged(factor: float = 1.0):
    """Of (1/T) sum_{t<T} E[e_t]: the slowest mode is mu, and the noise grows by eta^2 beta sigma2 / 2 an iteration."""

    def bound(*, eta, mu, beta, e0, sigma2, T):
        start = e0 * (1 - (1 - eta * mu) ** (2 * T)) / (T * eta * mu * (2 - eta * mu))
        return factor * (start + (T - 1) * eta**2 * beta * sigma2 / 4)

    return bound


def step(limit: float):
    return lambda *, eta, beta: {"step": (eta * beta, limit)}


def pair() -> ProblemFamily:
    """Two clients in R^1, h = 1, one step; `apart` is the distance of their minimisers. All scalars are intervals."""

    def build(values):
        m = np.reshape(values["minimisers"], (2, 1))
        problem = Quadratics.of(np.full((2, 1, 1), 0.5), -m, sigma2=float(values["sigma2"]), start=[[3.0], [3.0]])
        apart = float(abs(m[0, 0] - m[1, 0]))
        return FamilyInstance(problem=problem, eta=float(values["eta"]), iterations=1, arguments={"apart": apart})

    domains = {"minimisers": Domain(low=-1, high=1, shape=(2,)), "sigma2": Domain(low=0, high=4)}
    domains["eta"] = Domain(low=0.1, high=0.9)
    return ProblemFamily(name="a pair", domains=domains, build=build, parameters={"apart": None})


def met(factor: float):
    """E|x_1 - m|^2 of the mean of both where m is one: (1 - eta)^2 |x_0 - m|^2 + eta^2 sigma2 / 2."""
    return lambda *, eta, distance2, sigma2: factor * ((1 - eta) ** 2 * distance2 + eta**2 * sigma2 / 2)


def unhurried() -> ProblemFamily:
    """Paths that nothing stops, so that their expectation is known, and is judged from samples."""
    given = truth.problem("one", 1, 2)

    def build(values):
        T, sigma2 = int(values["T"]), float(values["sigma2"])
        flat, noisy = truth.exact("local", "one", 1, 2, truth.STEPS[1], T, "excess", 0)
        problem = Quadratics.of(given.H / 2, -given.m, sigma2=sigma2, start=given.start)
        arguments = {"eps": 1e-12, "truth": flat + sigma2 * noisy}
        return FamilyInstance(problem=problem, eta=truth.STEPS[1] / given.beta, iterations=T, arguments=arguments)

    domains = {"sigma2": Domain(low=0.5, high=50), "T": Domain(low=1, high=truth.LONGEST, integer=True)}
    return ProblemFamily(name="unhurried", domains=domains, build=build, parameters={"truth": None})


def known(factor: float):
    return lambda *, truth: factor * truth


def quantile(factor: float):
    """The 9/10-quantile of e_1 = (beta / 2) eta^2 sigma2 Z^2 from the minimiser, Z standard normal."""
    z = NormalDist().inv_cdf(0.95)
    return lambda *, eta, beta, sigma2: factor * z**2 * eta**2 * beta * sigma2 / 2


def edges() -> list[Edge]:
    found: list[Edge] = []

    def add(name: str, bound, says: str, conditions=None, **options: Any) -> None:
        found.append(Edge(name, bound, says, conditions, options))

    kinds: dict[str, dict[str, Any]] = {
        "default": {},
        "one": {"family": families.quadratics(features=3)},
        "differing": {"family": families.quadratics(clients=3, features=3)},
    }
    for kind, given in kinds.items():
        lower = given | {"direction": "lower"}
        add(f"tight from above, {kind}", above(1 - 1e-3), VIOLATED, step(1.0), **given)
        add(f"true from above, {kind}", above(1 + 1e-3), STANDS, step(1.0), **given)
        add(f"tight from below, {kind}", below(1 + 1e-3), VIOLATED, step(1.0), **lower)
        add(f"true from below, {kind}", below(), STANDS, step(1.0), **lower)
        add(f"loose from above, {kind}", above(1.2), NOT_HOLDS, step(1.0), **given)
        add(f"loose from below, {kind}", below(0.8), NOT_HOLDS, step(1.0), **lower)
        add(f"stable, {kind}", grown(), STANDS, step(2.0), **given)
        add(f"a loose term, {kind}", grown(1.2), NOT_HOLDS, step(2.0), **given)
        add(f"unstable, {kind}", grown(), VIOLATED, step(2.04), **given)
        add(f"an inner mode at 1/eta, {kind}", below(), VIOLATED, step(1.02), **lower)
    average = {"quantity": "random_iterate_excess"}
    for limit in (0.01, 0.0005):
        add(f"rounding, average to {limit}", averaged(), STANDS, step(limit), **average)
        add(f"rounding, low average to {limit}", averaged(1 - 1e-3), VIOLATED, step(limit), **average)
        add(f"rounding, last to {limit}", above(), STANDS, step(limit))
    for shape in ((4, 4), (2, 3), (1, 5), (7, 1), (5, 8)):
        here = above(false=lambda T, N, d, shape=shape: (shape[0] == N) * (shape[1] == d))
        add(f"false for N, d = {shape}", here, VIOLATED, step(1.0))
    add("false late", above(false=lambda T, N, d: T > 1000), VIOLATED, step(1.0))
    add("false at once", above(false=lambda T, N, d: T <= 1), VIOLATED, step(1.0))

    def quiet(*, sigma2):
        return {"no noise": (sigma2, 0)}

    def at_rest(*, e0, T):
        return {"from the minimiser": (e0, 0), "one step": (T, 1)}

    def equal(*, apart):
        return {"equal minimisers": (apart, 0)}

    own = {"family": pair(), "quantity": "last_distance"}
    narrow = {"family": families.quadratics(features=1, longest=1), "delta": 0.1}
    for factor, says in ((0.999, VIOLATED), (1.001, STANDS)):
        add(f"equal minimisers x {factor}", met(factor), says, equal, algorithm=LocalSGD(period=1), **own)
        add(f"no noise x {factor}", met(factor), says, quiet, algorithm=Local(), **own)
    for factor, says in ((0.8, VIOLATED), (1.2, STANDS)):
        add(f"quantile x {factor}", quantile(factor), says, at_rest, **narrow)
    for factor, says in ((0.8, VIOLATED), (1.0, STANDS)):
        add(f"a mean known x {factor}", known(factor), says, quantity="stopped_excess", family=unhurried())
    harmonic = {"algorithm": Steps(size=lambda t: 1 / (t + 9)), "family": families.quadratics(longest=30)}
    add("decreasing steps, stable", grown(first=0.1), STANDS, step(20.0), **harmonic)
    add("decreasing steps, unstable", grown(first=0.1), VIOLATED, step(20.4), **harmonic)
    return found
