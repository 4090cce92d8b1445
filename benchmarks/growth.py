"""How processor time and memory of `fit`, `plan`, `check`, `run` and `train` grow: exponents of a factor 4, in one run.

Beyond its goal something is done too often. Memory is the peak of what Python and NumPy hold; torch's is not counted.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import suffice as sf
from suffice.bounds.elementary import survive
from suffice.verification.families import quadratics

from .kernels import Case, ours
from .timing import alternate, cores, row


def table_of(sites: int, columns: int, rows: int) -> dict[str, np.ndarray]:
    """`rows` rows of each site, whose slopes differ a little."""
    rng = np.random.default_rng(0)
    x, site = rng.normal(size=(sites * rows, columns)), np.repeat(np.arange(sites), rows)
    y = (x * (1 + 0.3 * rng.normal(size=(sites, columns)))[site]).sum(1) + rng.normal(size=len(x))
    return {"client": site, "target": y} | {f"x{j}": x[:, j] for j in range(columns)}


def constants(sites: int) -> sf.Constants:
    b = np.abs(np.subtract.outer(np.arange(sites), np.arange(sites))) / sites
    pairs = sf.bounds.GradientDissimilarity(b2=b**2, c=0 * b)
    return sf.Constants(mu=0.5, beta=1.0, sigma2=1.0, excess=5.0, heterogeneity=pairs)


def bound(*, eta, mu, beta, e0, sigma2, T):
    return survive(eta * mu, 2 * T) * e0 + eta * beta * sigma2 / (2 * mu)


def within(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


def check(sites: int, columns: int) -> Any:
    return sf.check(bound, conditions=within, family=quadratics(clients=sites, features=columns))


WHAT: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, int], dict[str, float]]] = {
    "fit": (table_of, sf.fit, {"sites": 40, "columns": 8, "rows": 4000}, {"rows": 1.1, "sites": 1.1}),
    "exact plan": (lambda **size: sf.read(table_of(**size)), lambda problem: sf.plan(problem, "10%"),
                   {"sites": 6, "columns": 2, "rows": 4000}, {"rows": 1.1, "sites": 2.1}),
    "guaranteed plan": (constants, lambda known: sf.plan(known, 0.1), {"sites": 100}, {"sites": 2.1}),
    "check": (dict, lambda size: check(**size), {"sites": 2, "columns": 2}, {}),
    "run": (lambda sites, columns, seeds: ours(Case("logistic", sites, columns), seeds, 20), lambda run: run(),
            {"sites": 8, "columns": 8, "seeds": 32}, {"sites": 2.1, "columns": 2.1, "seeds": 1.1}),
    "train": (table_of, lambda table: sf.train(table, client="client", target="target", eta=0.05, iterations=100),
              {"sites": 5, "columns": 8, "rows": 60}, {"sites": 2.1, "columns": 1.1, "rows": 1.1}),
}  # fmt: skip
"""What is made of a size beforehand, what is timed of it, the smallest size, and the largest exponents wanted."""


def table(quick: bool) -> list[dict[str, Any]]:
    """The time of the smallest size, and exponents as each number alone is 4 times as large."""
    cores(1)
    found = []
    for name, (make, what, base, goals) in WHAT.items():
        sizes = [base, *(base | {of: 4 * size} for of, size in base.items())]
        calls = [partial(what, make(**size)) for size in sizes]
        one, *more = alternate(*calls, rounds=1 if quick else 5, pick=min)
        small, *large = [peak(call) for call in calls]
        found.append(row(name, one, "s", shape=tuple(base.values())))
        for of, time, memory in zip(base, more, large):
            for kind, ratio in (("", time / one), (" of memory", memory / small)):
                goal = {"value": goals[of]} if of in goals else None
                found.append(row(f"{name}: exponent{kind} in {of}", math.log(ratio, 4), goals=goal))
    return found


def peak(call: Callable[[], Any]) -> int:
    """Bytes beyond what was held before."""
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most
