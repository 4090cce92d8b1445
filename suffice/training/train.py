"""`train`: a network for each client from files, by any algorithm, and who learns with whom."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from suffice.simulate import Diverged, Trace
from suffice.simulate.algorithms import Algorithm, FedAvg, Local
from suffice.simulate.catalogue import algorithm as named_algorithm
from suffice.simulate.catalogue import checked_options
from suffice.simulate.checkpoint import DAMAGED, fingerprint
from suffice.simulate.problems import Neural
from suffice.simulate.randomness import Randomness
from suffice.simulate.runner import run
from suffice.simulate.scouts import Collaborators, Progress, collaborators
from suffice.support.errors import InputError
from suffice.support.files import check_regular, make_folder, write_whole
from suffice.support.memory import MAX_MEMORY
from suffice.support.numbers import as_whole

from .architectures import module_of
from .client_arrays import ClientArrays, client_arrays
from .training_result import Training, tested

JUDGED = 0.2
"""The share of each client's rows for training by which algorithms that need them judge models."""
_JUDGING = ("fedfomo", "validation-based", "ifca")
POINTS = 20
"""Losses are recorded so many times, and the state is written for a run that goes on."""
TOGETHER = 4
"""One of so many parts of the iterations is of everybody together, before the collaborators that scouts find."""
SCOUTS = "scouts.json"


def train(
    source: Any,
    *,
    model: Any = "mlp",
    algorithm: str = "scouts",
    options: Mapping[str, float | str] | None = None,
    iterations: int = 400,
    eta: float = 0.1,
    batch: int = 16,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    client: str = "client",
    target: str = "target",
    loss: str = "auto",
    drop: Sequence[str] = (),
    split: str | None = None,
    test: float = 0.2,
    seed: int = 0,
    out: str | Path | None = None,
    baselines: bool = True,
    max_memory: float = MAX_MEMORY,
    progress: Progress | None = None,
) -> Training:
    """Train a network for each client, by default with the collaborators that scouts find.

    source      a table, as `suffice.fit` reads it; a folder with one .npz per client, whose arrays are X (n, ...),
                y (n,) and perhaps X_test, y_test; or MNIST's folder of IDX files
    model       "mlp", "cnn", "lenet", "package.module:Factory", which is imported, or a module or function of torch
    algorithm   any name of `suffice.simulate.algorithm`, with its `options`
    iterations, eta, batch, momentum, weight_decay  of the training, and of the scouts'
    client, target, loss, drop  of a table: its columns of clients and targets, the kind of target, columns to leave out
    split       how a table or images are divided into clients: iid:8, dirichlet:8:0.1, labels:8, column:NAME
    test        the share of each client's rows that is held out, where the source has no rows for tests
    seed        of the shares, the start, the batches and the scouts
    out         a folder for the results, which `Training.save` describes. A run with `out` that was stopped goes on
                when it is called again, to the same numbers
    baselines   train everybody alone, and one model of everybody (FedAvg, averaged after each step), beside: on the
                same rows, batches and iterations
    max_memory  bytes that the rows and the models may take
    progress    is called with the work done and the whole of it

    Columns of a table are standardised over all rows, and so is a target of numbers. Raises `InputError`.
    """
    chosen = checked_options(algorithm, options or {})
    folder = None if out is None else make_folder(out, "out")
    as_whole("iterations", iterations)
    reading: dict[str, Any] = {"client": client, "target": target, "loss": loss, "drop": drop, "split": split}
    arrays = client_arrays(source, **reading, test=test, seed=seed, max_memory=max_memory)
    problem = _network(arrays, model, batch=batch, seed=seed, judged=algorithm in _JUDGING, memory=max_memory)
    named = model if isinstance(model, str) else getattr(model, "__name__", type(model).__name__)
    setting = {
        "model": named, "algorithm": algorithm, "options": dict(options or {}), "iterations": iterations,
        "eta": eta, "momentum": momentum, "weight_decay": weight_decay, "batch": batch, "seed": seed,
    }  # fmt: skip
    rule, found = _rule(problem, chosen, setting, folder, progress)
    beside: dict[str, Algorithm] = {"alone": Local(), "everybody": FedAvg()} if baselines else {}
    beside.pop({"local": "alone", "fedavg": "" if options else "everybody"}.get(algorithm, ""), None)
    remarks = tuple(dict.fromkeys((*arrays.notes, *problem.remarks, *found)))
    return _trained(arrays, problem, {"": rule} | beside, setting, remarks, folder, progress)


def _trained(
    arrays: ClientArrays,
    problem: Neural,
    rules: Mapping[str, Algorithm],
    setting: dict[str, Any],
    remarks: tuple[str, ...],
    folder: Path | None,
    progress: Progress | None,
) -> Training:
    """The algorithm and, by name, the baselines beside it."""
    traces: dict[str, Trace] = {}
    iterations, seed = setting["iterations"], setting["seed"]
    optimiser = {name: setting[name] for name in ("eta", "momentum", "weight_decay")}
    often = np.unique(np.linspace(0, iterations, POINTS + 1).round()).tolist()
    for name, each in rules.items():
        try:
            traces[name] = run(
                problem, each, iterations=iterations, seeds=range(seed, seed + 1), models=True, **optimiser,
                grid=[0] if name else often, weights=[seed] if not name and _weighs(each, problem) else None,
                checkpoint=None if folder is None else _checkpoint(folder, name),
                checkpoint_every=max(1, iterations // POINTS), progress=progress,
            )  # fmt: skip
        except Diverged as error:
            if not name:
                raise
            remarks += (f"{name} came to no end: {error}",)
    tests = {name: tested(problem, trace.models[0]) for name, trace in traces.items() if trace.models is not None}
    trace = traces[""]
    training = Training(
        problem=problem,
        classes=arrays.classes,
        reading=arrays.reading,
        trace=trace,
        tests=tests.pop(""),
        baselines=tests,
        weights=trace.weights[0, -1] if trace.weights is not None else None,
        setting=setting,
        remarks=remarks,
    )
    if folder is not None:
        training.save(folder)
        for name in rules:
            _checkpoint(folder, name).unlink(missing_ok=True)
    return training


def _checkpoint(folder: Path, name: str) -> Path:
    return folder / (f"checkpoint-{name}.npz" if name else "checkpoint.npz")


def unfinished(folder: str | Path) -> bool:
    """Whether a run that was stopped has left something to go on from."""
    return (Path(folder) / SCOUTS).exists() or any(Path(folder).glob("checkpoint*.npz"))


def _network(arrays: ClientArrays, model: Any, *, batch: int, seed: int, judged: bool, memory: float) -> Neural:
    outputs = len(arrays.classes) or int(np.prod(arrays.y[0].shape[1:]))
    return Neural.of(
        module_of(model, arrays.X[0].shape[1:], outputs), arrays.X, arrays.y, batch=batch, seed=seed,
        names=arrays.names, test=(arrays.X_test, arrays.y_test), validation=JUDGED if judged else None,
        max_memory=memory,
    )  # fmt: skip


def _weighs(rule: Algorithm, problem: Neural) -> bool:
    """Whether the algorithm weighs clients in its first step."""
    draw = rule.draw(problem, Randomness(seeds=torch.tensor([0])), 1)
    return rule.collaboration(problem, rule.init(problem, problem.start[None].clone()), draw) is not None


def _rule(
    problem: Neural, chosen: dict[str, Any], setting: Mapping[str, Any], folder: Path | None, progress: Progress | None
) -> tuple[Algorithm, tuple[str, ...]]:
    """The algorithm, and remarks; scouts look for collaborators, unless the same run had found them when it stopped."""
    if setting["algorithm"] != "scouts":
        return named_algorithm(setting["algorithm"], problem, eta=setting["eta"], **chosen), ()
    together = chosen.pop("together", setting["iterations"] // TOGETHER)
    how = {name: setting[name] for name in ("seed", "eta", "momentum", "weight_decay")} | chosen
    path, run_of = None if folder is None else folder / SCOUTS, fingerprint([problem], Local(), sorted(how.items()))
    found: Collaborators | None = None
    if path is not None and path.exists():
        check_regular(path, "out")
        try:
            kept = json.loads(path.read_bytes())
            found = Collaborators.from_dict(kept) if kept["run"] == run_of else None
        except (ValueError, TypeError, KeyError, msgspec.MsgspecError):
            raise InputError("out", str(path), DAMAGED) from None
    if found is None:
        found = collaborators(problem, **how, progress=progress)
        if path is not None:
            write_whole(path, json.dumps({"run": run_of, **found.to_dict()}).encode(), "out")
    return found.algorithm(together=together), found.remarks
