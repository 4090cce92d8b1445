"""Sampled evidence: a test of E[Y] <= B for Y >= 0 that is valid at any time and needs no bound on Y.

For independent draws with E[Y] <= B the product of 1 + l (Y/B - 1), l in [0, 1], is a nonnegative
supermartingale; so is its average over several l. By Ville's inequality it ever exceeds 1/alpha with probability at
most alpha. One Y per independent path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds import Binary, Criterion, Quantity, Theorem, evaluate
from simulate import AllForOne, Quadratics, run

from .exact import NETWORK, network, network_arguments
from .measure import MEASURES

BETS = (0.05, 0.2, 0.5, 0.9)


@dataclass(frozen=True, kw_only=True)
class SampledResult:
    """How many networks and paths were tested, whether a violation was found, and the chance of a false one."""

    networks: int
    paths: int
    rejected: tuple[int, ...]
    error_probability: float
    largest_mean_ratio: float


def log_evidence(draws: np.ndarray, bound: float) -> float:
    """Largest log of the test supermartingale along `draws` (n,) against E[Y] <= bound."""
    if np.isnan(draws).any() or np.isnan(bound):
        raise ValueError("draws and bound must be numbers")
    if np.isinf(draws).any() or (bound <= 0 and (draws > bound).any()):
        return np.inf
    if bound <= 0:
        return 0.0
    steps = np.log1p(np.asarray(BETS)[:, None] * (draws / bound - 1))
    paths = np.cumsum(steps, axis=1)
    top = paths.max(0)
    return float((top + np.log(np.exp(paths - top).mean(0))).max())


def _identical() -> tuple[Quadratics, Criterion, float]:
    """Five equal clients, mu = beta, close to the step limit 1/beta: e_t is the noise of a mean, 0.96 of its bound."""
    problem = Quadratics.of(np.repeat(np.eye(3)[None] / 2, 5, 0), np.zeros((5, 3)), sigma2=np.ones(5))
    return problem, Binary(threshold=0.95), 1.0


def sampled(theorem: Theorem, *, networks: int, seeds: int, iterations: int, root: int, alpha: float) -> SampledResult:
    """Test `theorem` on random networks under adaptive weights, at total false-alarm probability `alpha`.

    Random networks stay far below their bounds: where E[e_T 1{tau >= T}] is bounded the first one is `_identical`,
    where noise of 1.3 times the variance, or shared by the clients, is seen.
    """
    values = NETWORK.draw(networks, seed=root)
    rejected, ratios = [], []
    for index in range(networks):
        attained = index == 0 and theorem.quantity is Quantity.EXCESS_WHILE_RUNNING
        problem, criterion, fraction = _identical() if attained else network(values, index)
        client = index % problem.clients
        far = problem.optimum + (1.0 if attained else values["far"][index])
        e0 = problem.excess(far[None])[0].numpy()
        arguments = network_arguments(problem, criterion, fraction, np.maximum((1e-9 if attained else 0.03) * e0, 1e-6))
        started = type(problem)(**{**vars(problem), "start": far})
        # Corollary 1's step where the theorem has a hitting condition: within both limits.
        if "eps" in {parameter.name for parameter in theorem.parameters}:
            best = arguments["mu"] * arguments["eps"] / (arguments["beta"] * arguments["s2"])
            arguments["eta"] = np.minimum(arguments["eta"], best)
        trace = run(
            started,
            AllForOne(criterion=criterion),
            iterations=iterations,
            eta=arguments["eta"],
            seeds=seeds,
            root=root,
        )
        scalars: dict[str, Any] = {name: float(value[client]) for name, value in arguments.items()} | {
            "e0": float(e0[client]),
            "T": iterations,
        }
        bound = float(evaluate(theorem, **{p.name: scalars[p.name] for p in theorem.parameters}))
        draws = MEASURES[theorem.quantity](trace.excess[:, :, client], scalars["eps"])
        ratios.append(draws.mean() / bound)
        if log_evidence(draws, bound) > np.log(networks / alpha):
            rejected.append(index)
    return SampledResult(
        networks=networks,
        paths=networks * seeds,
        rejected=tuple(rejected),
        error_probability=alpha,
        largest_mean_ratio=max(ratios),
    )
