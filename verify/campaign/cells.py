"""What a cell computes: plain numbers from its description alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bounds import InputError
from simulate import Quadratics, algorithm, generators, run

from .definition import Cell

MEMORY = "about 0.6 GiB for the libraries and at most 1 GiB for a cell's arrays"
"""Per worker: traces record 11 iterations, seeds run in blocks of cache size, instances in blocks of the file."""


def compute(cell: Cell) -> dict[str, Any]:
    """The result of one cell, JSON-ready. One thread: cells are spread over processes instead."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {"verify": _verify, "sharpness": _sharpness, "simulate": _simulate}[cell["kind"]](cell)
    finally:
        torch.set_num_threads(threads)


def _verify(cell: Cell) -> dict[str, Any]:
    from ..claims import claim_of

    verdict = claim_of(cell["key"], cell["edition"]).verify(effort=cell["effort"], root=cell["root"])
    answer = verdict.to_dict()
    return {name: answer[name] for name in ("verdict", "instances", "worst_ratio", "refuted_mutants", "mutants")} | {
        "instance": _plain(answer["worst_instance"])
    }


def _sharpness(cell: Cell) -> dict[str, Any]:
    from ..claims import claim_of

    claim = claim_of(cell["key"], cell["edition"])
    counted, worst, instance = 0, 0.0, {}
    for family in claim.families:
        evidence = family.evidence(family.draw(cell["instances"], seed=cell["root"]))
        mask = evidence.counted(claim.theorem)
        counted += int(mask.sum())
        ratio = np.where(mask, evidence.ratio(claim.theorem), -np.inf)
        if len(ratio) and ratio.max() > worst:
            worst, instance = float(ratio.max()), evidence.instance(int(ratio.argmax()))
    return {"instances": counted, "worst_ratio": worst if counted else None, "instance": _plain(instance)}


def _simulate(cell: Cell) -> dict[str, Any]:
    problem = _problem(cell)
    eta = cell.get("eta", 0.5 / float(problem.constants().beta.max()))
    chosen = algorithm(cell["algorithm"], problem, eta=eta)
    grid = np.unique(np.linspace(0, cell["iterations"], 11).round().astype(int)).tolist()
    trace = run(
        problem, chosen, iterations=cell["iterations"], eta=eta, seeds=cell["seeds"], root=cell["root"], grid=grid
    )
    mean = trace.mean().mean(1)
    return {
        "iteration": trace.iterations.tolist(),
        "mean_excess": mean.tolist(),
        "final_excess": float(mean[-1]),
        "oracle_calls": float(trace.oracle_calls[-1]),
        "vectors_sent": float(trace.vectors_sent[-1]),
    }


def _problem(cell: Cell) -> Quadratics:
    n, d = int(cell.get("clients", 8)), int(cell.get("features", 2))
    sigma2 = cell.get("sigma", 1.0) ** 2
    start = np.full(d, cell.get("start", 1.0))
    if cell["problem"] == "clustered":
        clusters = int(cell.get("clusters", 2))
        if clusters > n:
            raise InputError("clusters", clusters, f"give at most {n}, the number of clients")
        sizes = [n // clusters + (k < n % clusters) for k in range(clusters)]
        return generators.clustered(
            sizes, d, separation=cell.get("separation", 1.0), spread=0.0, sigma2=sigma2, start=start
        )
    if cell["problem"] == "continuum":
        return generators.continuum(n, d, length=cell.get("length", 1.0), sigma2=sigma2, start=start)
    return generators.conditioned(n, d, cell.get("condition", 10.0), sigma2=sigma2, start=start, seed=cell["root"])


def _plain(value: Any) -> Any:
    """Numbers, texts and lists only."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist())
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
