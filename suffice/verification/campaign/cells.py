"""What a cell computes: plain numbers from its description alone, whose fields are those of the three classes."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from threadpoolctl import ThreadpoolController

from suffice.simulate import algorithm, generators, run
from suffice.simulate.catalogue import ALGORITHMS
from suffice.simulate.kernel_choice import settled
from suffice.simulate.threads import one_thread
from suffice.support.errors import InputError
from suffice.support.numbers import plain

Cell = dict[str, Any]
Edition = Literal["printed", "corrected"]
Root = Annotated[int, Meta(ge=0, lt=2**32)]
Size = Annotated[int, Meta(ge=1, le=10_000)]
Positive = Annotated[float, Meta(gt=0, lt=1e30)]
_libraries = cache(ThreadpoolController)  # finding the linear algebra that is loaded takes milliseconds


class Verify(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="verify", kw_only=True):
    key: str
    edition: Edition = "corrected"
    effort: Literal["quick", "full"] = "quick"
    root: Root
    false_alarm: float = 0.0

    def compute(self) -> dict[str, Any]:
        from ..claims import claim_of

        claim = claim_of(self.key, self.edition)
        answer = claim.verify(effort=self.effort, root=self.root, alpha=self.false_alarm).to_dict()
        if answer["worst_ratio"] == -np.inf:  # no instance counted, and JSON has no such number
            answer["worst_ratio"] = None
        names = ("verdict", "instances", "worst_ratio", "refuted_mutants", "mutants")
        return {name: answer[name] for name in names} | {"instance": plain(answer["worst_instance"])}


class Sharpness(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="sharpness", kw_only=True):
    key: str
    edition: Edition = "corrected"
    instances: Size
    root: Root

    def compute(self) -> dict[str, Any]:
        return sharpness_of(self.key, self.edition, instances=self.instances, root=self.root)


class Simulate(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="simulate", kw_only=True):
    """Clients in clusters; the trace is kept at eleven iterations."""

    problem: Literal["clustered"] = "clustered"
    clients: Size = 8
    features: Size = 2
    clusters: Size = 2
    separation: Positive = 1.0
    sigma: Positive = 1.0
    start: Positive = 1.0
    eta: Positive | None = None
    algorithm: str
    iterations: Annotated[int, Meta(ge=1, le=10**7)]
    seeds: Annotated[int, Meta(ge=1, le=10**6)] = 64
    root: Root

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise InputError("algorithm", self.algorithm, f"use {', '.join(ALGORITHMS)}")
        if self.clusters > self.clients:
            raise InputError("clusters", self.clusters, f"give at most {self.clients}, the number of clients")

    def compute(self) -> dict[str, Any]:
        sizes = [self.clients // self.clusters + (k < self.clients % self.clusters) for k in range(self.clusters)]
        about: dict[str, Any] = {"sigma2": self.sigma**2, "start": np.full(self.features, self.start)}
        problem = generators.clustered(sizes, self.features, separation=self.separation, spread=0.0, **about)
        eta = self.eta or 0.5 / float(problem.constants().beta.max())
        chosen = algorithm(self.algorithm, problem, eta=eta)
        grid = np.unique(np.linspace(0, self.iterations, 11).round().astype(int)).tolist()
        setting: dict[str, Any] = {"eta": eta, "grid": grid, "kernel": settled(problem, chosen)}
        trace = run(problem, chosen, iterations=self.iterations, seeds=self.seeds, root=self.root, **setting)
        mean = trace.mean().mean(1)
        return {
            "iteration": trace.iterations.tolist(),
            "mean_excess": mean.tolist(),
            "final_excess": float(mean[-1]),
            "oracle_calls": float(trace.oracle_calls[-1]),
            "vectors_sent": float(trace.vectors_sent[-1]),
            "kernel": trace.kernel,
        }


def read_cell(cell: Cell) -> Verify | Sharpness | Simulate:
    """The cell, checked."""
    return msgspec.convert(cell, Verify | Sharpness | Simulate)


def compute(cell: Cell) -> dict[str, Any]:
    """The result of one cell, JSON-ready, on one thread, as cells are spread over processes. Raises what goes wrong."""
    with one_thread(), _libraries().limit(limits=1):
        return read_cell(cell).compute()


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
    ends = (worst, float(np.median(ratios))) if len(ratios) else (None, None)
    return {"instances": len(ratios), "worst_ratio": ends[0], "median_ratio": ends[1], "instance": plain(instance)}
