"""Sampled evidence: a test of E[Y] <= B for Y >= 0 that is valid at any time and needs no bound on Y.

For independent draws with E[Y] <= B the product of 1 + l (Y/B - 1), l in [0, 1], is a nonnegative
supermartingale; so is its average over several l. By Ville's inequality it ever exceeds 1/alpha with probability at
most alpha. One Y per independent path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from suffice.bounds import Binary, Criterion, Quantity, Theorem, evaluate
from suffice.simulate import AllForOne, Quadratics, run
from suffice.simulate.quadratic_forms import STOPPED, Stopping, forms

from .instances.exact import NETWORK, network, network_arguments
from .measurement_cache import cached

BETS = (0.05, 0.2, 0.5, 0.9)


@dataclass(frozen=True, kw_only=True)
class SampledResult:
    """How many clients and paths were tested, the networks with a violation, and the chance of a false one."""

    clients: int
    paths: int
    rejected: tuple[int, ...]
    error_probability: float
    largest_mean_ratio: float


def log_evidence(draws: np.ndarray, bound: float, *, bets: Sequence[float] = BETS) -> float:
    """Largest log of the test supermartingale along `draws` (n,) against E[Y] <= bound, an average over `bets`."""
    if np.isnan(draws).any() or np.isnan(bound):
        raise ValueError("draws and bound must be numbers")
    if np.isinf(draws).any() or (bound <= 0 and (draws > bound).any()):
        return np.inf
    if bound <= 0:
        return 0.0
    steps = np.log1p(np.asarray(bets)[:, None] * (draws / bound - 1))
    paths = np.cumsum(steps, axis=1)
    top = paths.max(0)
    return float((top + np.log(np.exp(paths - top).mean(0))).max())


def _identical() -> tuple[Quadratics, Criterion, float]:
    """Five equal clients, mu = beta, close to the step limit 1/beta: e_t is the noise of a mean, 0.96 of its bound."""
    problem = Quadratics.of(np.repeat(np.eye(3)[None] / 2, 5, 0), np.zeros((5, 3)), sigma2=np.ones(5))
    return problem, Binary(threshold=0.95), 1.0


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """A simulated network: scalars (N,) by keyword, and what every path (S, N) gives of each quantity."""

    arguments: dict[str, np.ndarray]
    draws: dict[Quantity, np.ndarray]


Simulate = Callable[..., Simulated]


@cached
def _all_simulated(make: Simulate, networks: int, **amounts: int) -> list[Simulated]:
    return [make(index, networks=networks, **amounts) for index in range(networks)]


def sampled(
    theorem: Theorem,
    *,
    networks: int,
    seeds: int,
    iterations: int,
    root: int,
    alpha: float,
    simulate: Simulate | None = None,
) -> SampledResult:
    """Test `theorem` for every client of random networks under adaptive weights, at false-alarm probability `alpha`.

    `simulate(index, networks=, seeds=, iterations=, root=, hitting=)` makes them: quadratics unless it is given.

    Random networks stay far below their bounds: under the constant step the first one is `_identical`, where noise of
    1.3 times the variance, or shared by the clients, is seen.
    """
    # Corollary 1's step where the theorem has a hitting condition: within both limits.
    hitting = "eps" in {parameter.name for parameter in theorem.parameters}
    amounts = {"seeds": seeds, "iterations": iterations, "root": root, "hitting": hitting}
    simulated = _all_simulated(simulate or _simulated, networks, **amounts)
    tests = sum(len(one.arguments["e0"]) for one in simulated)
    rejected, ratios = [], []
    for index, one in enumerate(simulated):
        scalars: dict[str, Any] = {p.name: one.arguments[p.name] for p in theorem.parameters}
        bounds = evaluate(theorem, **scalars)
        draws = one.draws[theorem.quantity]
        ratios.append((draws.mean(0) / bounds).max())
        if any(log_evidence(path, bound) > np.log(tests / alpha) for path, bound in zip(draws.T, bounds)):
            rejected.append(index)
    return SampledResult(
        clients=tests,
        paths=networks * seeds,
        rejected=tuple(rejected),
        error_probability=alpha,
        largest_mean_ratio=max(ratios),
    )


def _simulated(index: int, *, networks: int, seeds: int, iterations: int, root: int, hitting: bool) -> Simulated:
    values = NETWORK.draw(networks, seed=root)
    attained = index == 0 and not hitting
    problem, criterion, fraction = _identical() if attained else network(values, index)
    far = problem.optimum + (1.0 if attained else values["far"][index])
    e0 = problem.excess(far[None])[0].numpy()
    arguments = network_arguments(problem, criterion, fraction, np.maximum((1e-9 if attained else 0.03) * e0, 1e-6))
    if hitting:
        best = arguments["mu"] * arguments["eps"] / (arguments["beta"] * arguments["s2"])
        arguments["eta"] = np.minimum(arguments["eta"], best)
    trace = run(
        replace(problem, start=far),
        AllForOne(criterion=criterion),
        iterations=iterations,
        eta=arguments["eta"],
        seeds=seeds,
        root=root,
    )
    return Simulated(
        arguments=arguments | {"e0": e0, "T": np.full_like(e0, iterations)},
        draws=drawn(trace.excess, arguments["eps"]),
    )


def drawn(excess: np.ndarray, eps: np.ndarray) -> dict[Quantity, np.ndarray]:
    """What every path (S, N) gives of each quantity, from all excesses (S, T + 1, N) and precisions (N,)."""
    steps = torch.tensor(excess).unbind(1)
    at = Stopping.at_start(torch.tensor(eps), steps[0])
    for each in steps[1:]:
        at.then(each)
    named = {name: STOPPED[form.over] for name, form in forms().items() if form.level == "eps"}
    stopped = {getattr(Quantity, name.upper()): read(at).numpy() for name, read in named.items()}
    return {Quantity.EXCESS: excess[:, -1].copy(), **stopped}  # a view would keep all excesses
