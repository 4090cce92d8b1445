"""What a cell computes: plain numbers from its description alone."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from suffice.simulate import Quadratics, algorithm, generators, run
from suffice.simulate.kernel_choice import settled
from suffice.support.errors import InputError
from suffice.support.numbers import plain

from .definition import Cell
from .limits import POINTS, bounded


def compute(cell: Cell) -> dict[str, Any]:
    """The result of one cell, JSON-ready: a pure function of the description.

    One thread, as cells are spread over processes instead, and bounded memory (`limits`). Raises what goes wrong.
    """
    with bounded():
        if cell["kind"] == "sharpness":
            return sharpness_of(cell["key"], cell["edition"], instances=cell["instances"], root=cell["root"])
        return {"verify": _verify, "simulate": _simulate, "module": _of_module}[cell["kind"]](cell)


def _of_module(cell: Cell) -> dict[str, Any]:
    """What `compute` of the module that the cell names makes of it: cells of programs, which no file can ask for."""
    return import_module(cell["module"]).compute(cell)


def _verify(cell: Cell) -> dict[str, Any]:
    from ..claims import claim_of

    verdict = claim_of(cell["key"], cell["edition"]).verify(
        effort=cell["effort"], root=cell["root"], alpha=cell["false_alarm"]
    )
    answer = verdict.to_dict()
    return {name: answer[name] for name in ("verdict", "instances", "worst_ratio", "refuted_mutants", "mutants")} | {
        # where no instance counted the ratio is -inf, for which JSON has no number
        **({"worst_ratio": None} if answer["worst_ratio"] == -np.inf else {}),
        "instance": plain(answer["worst_instance"]),
    }


def sharpness_of(key: str, edition: str = "corrected", *, instances: int, root: int = 0) -> dict[str, Any]:
    """Worst and median measured/bound over random draws, without the sharp instances and searches of `verify`.

    `instances` are drawn from each family of the claim; those that meet the hypotheses count. Ratios are None when
    none does. Raises `InputError` for an unknown claim.
    """
    from ..claims import claim_of

    claim = claim_of(key, edition)
    counted, worst, instance = [], -np.inf, {}
    for family in claim.families:
        evidence = family.evidence(family.draw(instances, seed=root))
        mask = evidence.counted(claim.theorem)
        ratio = np.where(mask, evidence.ratio(claim.theorem), -np.inf)
        counted.append(ratio[mask])
        if mask.any() and ratio.max() > worst:
            worst, instance = float(ratio.max()), evidence.instance(int(ratio.argmax()))
    ratios = np.concatenate(counted) if counted else np.empty(0)
    return {
        "instances": len(ratios),
        "worst_ratio": worst if len(ratios) else None,
        "median_ratio": float(np.median(ratios)) if len(ratios) else None,
        "instance": plain(instance),
    }


def _simulate(cell: Cell) -> dict[str, Any]:
    problem = _problem(cell)
    eta = cell.get("eta", 0.5 / float(problem.constants().beta.max()))
    chosen = algorithm(cell["algorithm"], problem, eta=eta)
    grid = np.unique(np.linspace(0, cell["iterations"], POINTS).round().astype(int)).tolist()
    trace = run(
        problem, chosen, iterations=cell["iterations"], eta=eta, seeds=cell["seeds"], root=cell["root"], grid=grid,
        kernel=settled(problem, chosen),
    )  # fmt: skip
    mean = trace.mean().mean(1)
    return {
        "iteration": trace.iterations.tolist(),
        "mean_excess": mean.tolist(),
        "final_excess": float(mean[-1]),
        "oracle_calls": float(trace.oracle_calls[-1]),
        "vectors_sent": float(trace.vectors_sent[-1]),
        "kernel": trace.kernel,
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
