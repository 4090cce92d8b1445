"""Clients that differ in their minimisers alone, and follow gradients mixed with fixed weights that sum to 1.

With one Hessian H for all clients the mixed gradient at x is H (x - y), y the mean of the minimisers under client 0's
weights, and its bias against client 0's gradient is H (x* - y) everywhere, of norm b. Along an eigen-direction of
curvature h the noise adds what it adds to clients that are alike, and the mean m of x - x* moves by
m <- (1 - t) m + t d, t = eta h, d = y - x*, h^2 d^2 the direction's share of b^2. For t in [0, 1] squares are convex,
    ((1 - t) m + t d)^2 <= (1 - t) m^2 + t d^2,                                                            (1)
so that m^2 is at most the sum of two recursions, one of the start and one of the bias. With p = (1 - t)^T and
(m + d)^2 <= 2 m^2 + 2 d^2 it is also at most 2 p^2 m_0^2 + 2 (1 - p)^2 d^2, the second at most twice (1)'s. (2)
A bound that is linear in e0, sigma2 and b^2 thus holds if it holds for each of the three. It fails if it does for a
start in y: the mean stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
import torch

from suffice.bounds import Theorem
from suffice.simulate import Algorithm
from suffice.simulate.moment_maps import origin, probe
from suffice.simulate.problems.gradient_noise import AdditiveNoise

from ..families import FamilyInstance, ProblemFamily
from ..family import Family
from ..problem_measure import tested_once, typical
from .algorithm_recursion import Recursion
from .box_search import Budget, as_box, as_list
from .claims import proved
from .domain import Domain
from .normalised_bound import BIAS, NotOfThisKind, Symbolic, symbols
from .refute import Part

_DRAWS, _ITERATIONS, _SAME = 32, (1, 2, 7), 1e-9
_PLAIN = {"eta", "mu", "beta", "e0", "distance2", "sigma2", "N", "T", "d"}
_MOVES = "in a family of your own client 0 is to follow gradients mixed with fixed weights that sum to 1, and does not"


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """`weight2` is the sum of client 0's squared weights, `features` the largest dimension; `attained` says that the
    bound's scalar of the bias is b itself on all instances, not merely at least b; `differ` that some b is not 0."""

    clients: int
    weight2: Fraction
    recursion: Recursion
    features: int
    attained: bool
    differ: bool

    def has(self, at: Mapping[str, Fraction]) -> bool:
        """True for constants at beta = 1 of clients that differ, in no more dimensions than the family's."""
        return self.differ and self.attained and 1 / at["v"] <= self.features


def drawn(family: ProblemFamily, count: int) -> list[FamilyInstance]:
    """Instances of the family, with all their scalars."""
    values = Family(name=family.name, domains=family.domains).draw(count, seed=0)
    return [each.complete() for each in family.settings(values)]


def check_scalars(setting: FamilyInstance, names: Iterable[str]) -> None:
    """`NotOfThisKind` unless these scalars are those of client 0 and the problem."""
    given, known = setting.arguments, replace(setting, arguments={}).complete().arguments
    for name in names:
        if name not in known or abs(given[name] - known[name]) > _SAME * abs(known[name]):
            raise NotOfThisKind(f"{name} is the family's own")


def mixture_of(
    family: ProblemFamily, algorithm: Algorithm, theorem: Theorem, read: Callable[[int], Recursion]
) -> Mixture:
    """The mixture of gradients that client 0 follows on all instances drawn from the family, or `NotOfThisKind`; `read`
    gives the recursion of a number of clients that are alike."""
    every, asked = drawn(family, _DRAWS), {entry.name for entry in theorem.parameters}
    for each in every:
        _check_clients(each, asked)
    if len(clients := {each.problem.clients for each in every}) > 1:
        raise NotOfThisKind("the number of clients changes within the family")
    recursion, t = read(min(clients)), sympy.Symbol("t")
    weight2 = sympy.sympify(recursion.noises[0])
    squared = len(recursion.moments) == 1 and recursion.pair is None and weight2.is_Rational
    if not squared or sympy.expand(recursion.moments[0] - (1 - t) ** 2) != 0:
        raise NotOfThisKind(_MOVES)
    if reason := tested_once(*typical(family, algorithm)).reason:
        raise NotOfThisKind(reason)
    attained, differ = True, False
    for each in every:
        (b, size), given = _bias(each, algorithm, float(weight2)), each.arguments
        scalars = {name: given[name] ** (power / 2) for name, power in BIAS.items() if name in asked}
        differ |= b > 0
        if b > 0 and not scalars:
            raise NotOfThisKind(f"clients differ, and the bound has no scalar of the bias ({', '.join(BIAS)})")
        for name, value in scalars.items():
            if value < b - _SAME * size:
                raise NotOfThisKind(f"{name} of the family is less than the bias of the mixture's gradient")
            attained &= value <= b + _SAME * size
        if "lambda2" in asked and abs(given["lambda2"] - float(weight2)) > _SAME:
            raise NotOfThisKind("lambda2 is the family's own")
    return Mixture(
        clients=min(clients), weight2=Fraction(weight2), recursion=recursion, attained=attained, differ=differ,
        features=max(each.problem.features for each in every),
    )  # fmt: skip


def _check_clients(setting: FamilyInstance, asked: set[str]) -> None:
    """Clients differ in their minimisers alone, and scalars are those of client 0 and the problem."""
    problem: Any = setting.problem
    if not hasattr(problem, "A") or not isinstance(problem, AdditiveNoise):
        raise NotOfThisKind("the family's losses are not quadratic, or their noise is not additive")
    if not bool((problem.A[0] == problem.A).all()):
        raise NotOfThisKind("clients differ in more than their minimisers: their models move together")
    check_scalars(setting, asked & _PLAIN)


def _bias(setting: FamilyInstance, algorithm: Algorithm, weight2: float) -> tuple[float, float]:
    """The norm b of the mixed gradient's bias, read from the steps' own maps, and the largest by any weights."""
    problem: Any = setting.problem
    d, H = problem.features, 2 * problem.A[0].numpy()
    eta = 0.3 / float(np.linalg.eigvalsh(H)[-1])
    _, centre, _ = origin(problem, algorithm)
    pushes = []
    for iteration in _ITERATIONS:
        one = probe(problem, algorithm, centre, torch.tensor(eta, dtype=torch.float64), iteration)
        rows, noise = one.mean.numpy()[:d], float(one.noise[:d, :d].trace()) / eta**2
        alone = np.hstack((np.eye(d) - eta * H, np.zeros((d, rows.shape[1] - d - 1))))
        expected = weight2 * float(problem.sigma2[0])
        if len(one.weights) or np.abs(rows[:, :-1] - alone).max() > _SAME or abs(noise - expected) > _SAME * expected:
            raise NotOfThisKind(_MOVES)
        pushes.append(rows[:, -1] / eta)
    b, optimum = float(np.linalg.norm(pushes[0])), problem.optimum.numpy()
    size = float(np.linalg.norm((optimum - optimum[0]) @ H, axis=1).max())
    if np.ptp(pushes, axis=0).max() > _SAME * max(b, size):
        raise NotOfThisKind(_MOVES)
    return (b if b > _SAME * size else 0.0), size


def staying(part: Part, symbolic: Symbolic) -> Part:
    """The start in y: x^2 = 1 has b = h along a direction of curvature h."""
    bound = part.bound + symbolic.bias * symbols()["h"] ** 2
    return replace(part, name="stay", rho=[sympy.Integer(1)], bound=bound)


def splits(
    parts: Sequence[Part], symbolic: Symbolic, domain: Domain, budget: Budget
) -> Iterator[tuple[list[Part], list[dict[str, Any]]]]:
    """The parts whose bounds suffice, and the certificates of what adds them up: (1), then (2)."""
    start, noise = parts
    x, m, d = symbols(), sympy.Symbol("m"), sympy.Symbol("d")
    h = x["k"] + sympy.Symbol("u") * (1 - x["k"])
    t, keep = domain.step * h, 1 - x["s"] * x["h"]
    box = as_box({**domain.sides, "u": (0, 1), "m": (-1, 1), "d": (-1, 1)})

    def fact(says: str, left: Any, right: Any) -> dict[str, Any]:
        sides = {"left": as_list(left), "right": as_list(right)}
        return proved({"kind": "box", "says": says, "box": box, **sides}, budget)

    # b^2 = 1 has d^2 = 1/h^2
    push = x["s"] * symbolic.of_one / x["h"]
    bias = replace(start, name="bias", start=sympy.Integer(0), rho=[keep], add=[push], bound=symbolic.bias)
    convex = fact("squares are convex: a step between the mean and the bias",
                  ((1 - t) * m + t * d) ** 2, (1 - t) * m**2 + t * d**2)  # fmt: skip
    yield [replace(start, rho=[keep]), noise, bias], [convex]
    halves = fact("the square of a sum is at most twice the sum of the squares", (m + d) ** 2, 2 * m**2 + 2 * d**2)
    yield [replace(start, start=2 * start.start), noise, replace(bias, add=[2 * push])], [convex, halves]
