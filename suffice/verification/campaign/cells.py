"""A cell computes plain numbers from its description alone, whose fields are those of the three classes."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from threadpoolctl import ThreadpoolController

from suffice.simulate import algorithm, generators, run
from suffice.simulate.catalogue import ALGORITHMS
from suffice.simulate.kernel_choice import kernel_for
from suffice.simulate.threads import one_thread
from suffice.support.errors import InputError
from suffice.support.numbers import as_choice, plain

from ..claims import claim_of

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

    def compute(self) -> dict[str, Any]:
        claim = claim_of(self.key, self.edition)
        answer = claim.verify(effort=self.effort, root=self.root).to_dict()
        if answer["worst_ratio"] == -np.inf:  # no instance counted, and JSON has no such number
            answer["worst_ratio"] = None
        names = ("verdict", "instances", "worst_ratio", "refuted_mutants", "mutants")
        return {name: answer[name] for name in names} | {"instance": plain(answer["worst_instance"])}


class Sharpness(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="sharpness", kw_only=True):
    """So many random instances of each family, without the sharp instances and searches of `verify`."""

    key: str
    edition: Edition = "corrected"
    instances: Size
    root: Root

    def compute(self) -> dict[str, Any]:
        """Worst and median measured/bound of those that meet the hypotheses, None where none does."""
        claim = claim_of(self.key, self.edition)
        pieces = [family.evidence(family.draw(self.instances, seed=self.root)) for family in claim.families]
        counted = [piece.counted(claim.theorem) for piece in pieces]
        ratios = [np.where(mask, piece.ratio(claim.theorem), -np.inf) for mask, piece in zip(counted, pieces)]
        every = np.concatenate([np.empty(0), *(ratio[mask] for mask, ratio in zip(counted, ratios))])
        if not len(every):
            return {"instances": 0, "worst_ratio": None, "median_ratio": None, "instance": {}}
        ratio, piece = max(zip(ratios, pieces), key=lambda pair: pair[0].max())
        ends = {"worst_ratio": float(every.max()), "median_ratio": float(np.median(every))}
        return {"instances": len(every), **ends, "instance": plain(piece.instance(int(ratio.argmax())))}


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
        as_choice("algorithm", self.algorithm, list(ALGORITHMS))
        if self.clusters > self.clients:
            raise InputError("clusters", self.clusters, f"give at most {self.clients}, the number of clients")

    def compute(self) -> dict[str, Any]:
        sizes = [self.clients // self.clusters + (k < self.clients % self.clusters) for k in range(self.clusters)]
        about: dict[str, Any] = {"sigma2": self.sigma**2, "start": np.full(self.features, self.start)}
        problem = generators.clustered(sizes, self.features, separation=self.separation, spread=0.0, **about)
        eta = self.eta or 0.5 / float(problem.constants().beta.max())
        chosen = algorithm(self.algorithm, problem, eta=eta)
        grid = np.unique(np.linspace(0, self.iterations, 11).round().astype(int)).tolist()
        setting: dict[str, Any] = {"eta": eta, "grid": grid, "kernel": kernel_for(problem, chosen)}
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
