"""A `Training` is the result of `train`: curves, personal models, what tests say of them, who listens to whom."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import nn

from suffice.simulate import Trace
from suffice.simulate.problems import Neural
from suffice.support.files import make_folder, write_whole
from suffice.support.numbers import plain
from suffice.support.pictures import Picture, draw
from suffice.support.tables import Table, number
from suffice.support.text import csv_text

from .client_arrays import TableReading
from .saved_networks import NAMES, RECORD, Record

MOST = 40
"""So many clients are shown; all are in the JSON."""


def tested(problem: Neural, models: np.ndarray) -> list[dict[str, Any]]:
    """For each client the number of test rows, its model's mean loss and, on labels, accuracy, with standard errors.

    The standard error of an accuracy is that at (hits + 1) / (n + 2), so that n hits of n are no certainty; of the mean
    loss of a single row there is none.
    """
    assert problem.test is not None
    found = []
    for model, first, n in zip(models, problem.test.first.tolist(), problem.test.counts.tolist()):
        labels, index = not problem.test.y.is_floating_point(), torch.arange(first, first + n)[None]
        function = problem.flat.scores if labels else problem.flat.row_losses
        flat = torch.as_tensor(model).to(problem.start)[None]
        values = problem.flat.evaluate(function, flat, problem.test.X, problem.test.y, index).view(n, -1)
        losses = values[:, 0].double().numpy()
        error = float(losses.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        entry = {"test_rows": n, "test_loss": float(losses.mean()), "test_loss_se": error}
        if labels:
            hits = float(values[:, 1].double().sum())
            drawn = (hits + 1) / (n + 2)
            entry |= {"test_accuracy": hits / n, "test_accuracy_se": float(np.sqrt(drawn * (1 - drawn) / n))}
        found.append(entry)
    return found


@dataclass(frozen=True, kw_only=True)
class Training:
    """Personal networks after a run; `problem.names` are their clients.

    classes       what the labels 0, 1, ... mean; none where targets are numbers
    reading       of a table, how its rows became arrays
    trace         losses and costs along the run, and the last models
    tests         of each client what `tested` says
    baselines     the same after training "alone", and of one model of "everybody", where they were asked for
    weights       [i, k] (N, N) with which client i used the gradients of k in the last iteration; None where the
                  algorithm weighs nobody
    """

    problem: Neural
    classes: tuple[str, ...]
    reading: TableReading | None
    trace: Trace
    tests: list[dict[str, Any]]
    baselines: Mapping[str, list[dict[str, Any]]]
    weights: np.ndarray | None
    setting: Mapping[str, Any]
    remarks: tuple[str, ...]

    names = property(lambda self: self.problem.names)
    metrics = property(lambda self: ("test_loss", "test_accuracy") if self.classes else ("test_loss",))

    def module_of(self, client: str) -> nn.Module:
        """The module with the last parameters of a client."""
        assert self.trace.models is not None
        return self.problem.module_of(self.trace.models[0, self.names.index(client)])

    def mean(self, name: str, of: str = "") -> tuple[float, float]:
        """A test metric in the mean of the clients, with its standard error over their test rows; `of` a baseline."""
        tests = self.baselines[of] if of else self.tests
        values, errors = (np.array([entry[key] for entry in tests]) for key in (name, f"{name}_se"))
        return float(values.mean()), float(np.sqrt((errors**2).sum()) / len(errors))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as JSON has them."""
        clients = [
            {"name": name, "rows": rows, **entry, "weights": None if self.weights is None else
             dict(zip(self.names, self.weights[at].tolist()))}
            for at, (name, rows, entry) in enumerate(zip(self.names, self.problem.row_counts, self.tests))
        ]  # fmt: skip
        means = {of: {name: dict(zip(("mean", "se"), self.mean(name, of))) for name in self.metrics}
                 for of in ("", *self.baselines)}  # fmt: skip
        standardised = {} if self.reading is None else self.reading.standardised
        shown = {
            "setting": dict(self.setting), "parameters": self.problem.features, "classes": self.classes,
            "standardised": {name: {"mean": m, "deviation": s} for name, (m, s) in standardised.items()},
            "means": means.pop(""), "clients": clients,
            "baselines": {of: {"means": means[of], "clients": dict(zip(self.names, tests))}
                          for of, tests in self.baselines.items()},
            "oracle_calls": float(self.trace.oracle_calls[-1]),
            "vectors_sent": float(self.trace.vectors_sent[-1]), "remarks": self.remarks,
        }  # fmt: skip
        return plain(shown)

    def curves(self) -> list[list[Any]]:
        """A header, and a row for each client and iteration recorded."""
        series = {"training loss": self.trace.loss} | dict(self.trace.metrics)
        rows: list[list[Any]] = [["client", "iteration", *series]]
        for i, name in enumerate(self.names):
            for g, t in enumerate(self.trace.iterations.tolist()):
                rows.append([name, t, *(float(values[0, g, i]) for values in series.values())])
        return rows

    def plot(self, path: str | Path | None = None) -> Picture:
        """Curves of the tests and who listens to whom; written to `path` if given."""
        return draw("training_curves", self.curves(), self.weights, self.setting["algorithm"], path=path)

    def save(self, folder: str | Path) -> list[Path]:
        """Write training.json (all but curves and models), curves.csv, tests.csv, weights.csv (client, peer, weight),
        training.png, and models.npz: of each entry of the module's `state_dict` an array whose first axis is the
        client, "client names" and, of a table, what `suffice predict` reads of it."""
        folder = make_folder(folder, "out")
        tests: list[list[Any]] = [["client", "rows", *self.tests[0]]]
        tests += [[name, n, *entry.values()] for name, n, entry in zip(self.names, self.problem.row_counts, self.tests)]
        states = [self.module_of(name).state_dict() for name in self.names]
        arrays: dict[str, Any] = {key: np.stack([state[key].numpy() for state in states]) for key in states[0]}
        arrays[NAMES] = np.array(self.names)
        if self.reading is not None:
            record = Record(model=self.setting["model"], classes=self.classes, reading=self.reading)
            arrays[RECORD] = np.array(msgspec.json.encode(record, enc_hook=np.ndarray.tolist).decode())
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        files = {
            "training.json": json.dumps(self.to_dict(), indent=2).encode(),
            "curves.csv": csv_text(self.curves()).encode(),
            "tests.csv": csv_text(tests).encode(),
            "models.npz": buffer.getvalue(),
            "training.png": self.plot().picture("png"),
        }
        if self.weights is not None:
            rows = [
                [i, k, float(self.weights[a, b])] for a, i in enumerate(self.names) for b, k in enumerate(self.names)
            ]
            files["weights.csv"] = csv_text([["client", "peer", "weight"], *rows]).encode()
        return [write_whole(folder / name, content, "out") for name, content in files.items()]

    def table(self) -> Table:
        """Each client's test, and from whom it learns."""
        name = self.metrics[-1]
        head = name.replace("_", " ")
        columns = ("client", "rows", "test rows", head, "+- 1 se", *self.baselines, "own weight", "learns from")
        rows = []
        for at, entry in enumerate(self.tests[:MOST]):
            own = None if self.weights is None else float(self.weights[at, at])
            beside = [number(tests[at][name]) for tests in self.baselines.values()]
            many = "-" if self.weights is None else str(int((np.delete(self.weights[at], at) > 0).sum()))
            rows.append((self.names[at], str(self.problem.row_counts[at]), str(entry["test_rows"]),
                         number(entry[name]), number(entry[f"{name}_se"], 2), *beside, number(own), many))  # fmt: skip
        mean, error = self.mean(name)
        means = [(of, *self.mean(name, of)) for of in self.baselines]
        said = ", ".join(f"{of} {number(mean)} +- {number(error, 2)}" for of, mean, error in means)
        # Var(a - b) is at most Var a + Var b where models err on the same rows, which is Cov(a, b) >= 0
        leads = [((mean - m) * (1 if self.classes else -1), 2 * np.hypot(error, se), of) for of, m, se in means]
        words = [
            (("better than" if x > se else "worse than" if -x > se else "not told from"), of) for x, se, of in leads
        ]
        told = f"Beyond two standard errors of a difference the mean is {', '.join(map(' '.join, words))}."
        lines = [f"On the same rows and iterations: {said}. {told}"] if means else []
        if len(self.tests) > MOST:
            lines.append(f"{len(self.tests) - MOST} more clients are in --json.")
        if self.weights is None:
            lines.append(f"The algorithm {self.setting['algorithm']} weighs no clients.")
        lines += [f"Note: {remark}." for remark in self.remarks]
        lines.append(f"The models sent are {self.trace.vectors_sent[-1]:,.0f} in all, the scouts' included.")
        answer = (
            f"The {head} of {len(self.tests)} clients is {number(mean)} in their mean, with a standard error of "
            f"{number(error, 2)}: {self.setting['model']} of {self.problem.features:,} parameters after "
            f"{self.trace.iterations[-1]:,} iterations of {self.setting['algorithm']}."
        )
        return Table(title=answer, columns=columns, numeric=columns[1:], rows=rows, lines=lines)
