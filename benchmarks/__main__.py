"""Time our code beside what a user would write instead, alternating runs in one process, medians reported."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from bounds import Continuous, digits, evaluate, find
from simulate import AllForOne, FixedWeights, Quadratics, expected_excess, run

ROUNDS = 5


def alternate(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[float, float]:
    """Median seconds of each, run in turn after one warm-up."""
    ours(), peer()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for which, call in zip(times, (ours, peer)):
            began = time.perf_counter()
            call()
            which.append(time.perf_counter() - began)
    return statistics.median(times[0]), statistics.median(times[1])


def row(name: str, shape: list[int], ours: float, peer: str, other: float) -> dict[str, Any]:
    """One line of the contract, in microseconds per unit of work."""
    return {
        "name": name,
        "shape": shape,
        "ours_us": 1e6 * ours,
        "peer": peer,
        "peer_us": 1e6 * other,
        "ratio": other / ours,
        "floor_fraction": None,
        "threads": 1,
    }


def bench_bounds() -> list[dict[str, Any]]:
    """Scalar evaluations of Theorem 2's constant row, conditions included, beside 50-digit evaluation."""
    theorem, count = find("adaptive/theorem-2-constant"), 100_000
    eta = np.linspace(0.01, 0.5, count)
    values = {"mu": 0.5, "beta": 1.0, "q": 0.9, "e0": 5.0, "s2": 0.7, "T": 20.0}
    ours, peer = alternate(
        lambda: evaluate(theorem, eta=eta, **values),
        lambda: [digits(theorem, 50, eta=x, **values) for x in eta[:50]],
    )
    return [row("theorem-2-constant", [count], ours / count, "mpmath, 50 digits", peer / 50)]


def network(n: int, d: int) -> Quadratics:
    rng = np.random.default_rng(0)
    A = np.stack([np.diag(rng.uniform(0.5, 1, d)) for _ in range(n)])
    return Quadratics.of(A, rng.normal(size=(n, d)) * 0.1, sigma2=1.0, start=np.ones(d))


def bench_simulate() -> list[dict[str, Any]]:
    """Microseconds per seed-iteration of All-for-one (continuous weights) beside loops over clients in NumPy."""
    n, d, seeds, iterations = 20, 10, 256, 20
    problem = network(n, d)
    A, xi = problem.A.numpy(), problem.xi.numpy()
    rng = np.random.default_rng(1)

    def plain() -> None:
        theta = np.ones((n, d))
        for _ in range(iterations):
            noise = rng.normal(size=(n, d)) / np.sqrt(d)
            new = theta.copy()
            for i in range(n):
                gradients = np.stack([2 * A[k] @ (theta[i] + xi[k]) for k in range(n)])
                own = gradients[i]
                r = np.maximum(1 - ((gradients - own) ** 2).sum(1) / (own**2).sum(), 0)
                alpha = r / (r * r).sum()
                new[i] = theta[i] - 0.1 * alpha @ (gradients + noise)
            theta = new

    algorithm = AllForOne(criterion=Continuous())
    ours, peer = alternate(
        lambda: run(problem, algorithm, iterations=iterations, eta=0.1, seeds=seeds, grid=[iterations]), plain
    )
    return [
        row("all-for-one", [n, d, seeds], ours / seeds / iterations, "NumPy, loops over clients", peer / iterations)
    ]


def bench_moments() -> list[dict[str, Any]]:
    """Seconds for E[e_t], t <= T, by exact moments beside a simulation with 1024 seeds."""
    n, d, iterations = 5, 3, 50
    problem, algorithm = network(n, d), FixedWeights(alpha=torch.full((n, n), 1 / n, dtype=torch.float64))
    ours, peer = alternate(
        lambda: expected_excess(problem, algorithm, iterations=iterations, eta=0.1),
        lambda: run(problem, algorithm, iterations=iterations, eta=0.1, seeds=1024),
    )
    return [row("expected excess", [n, d, iterations], ours, "simulation, 1024 seeds", peer)]


BENCHES = {"bounds": bench_bounds, "simulate": bench_simulate, "moments": bench_moments}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="?", choices=list(BENCHES), help="all when omitted")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = [entry for name in ([arguments.which] if arguments.which else BENCHES) for entry in BENCHES[name]()]
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    for entry in rows:
        print(
            f"{entry['name']:20s} {entry['shape']!s:18s} ours {entry['ours_us']:10.3f} us   "
            f"{entry['peer']} {entry['peer_us']:10.1f} us   ratio {entry['ratio']:.3g}"
        )


if __name__ == "__main__":
    main()
