"""adaptive-3-heart: logistic regression on four hospitals' patients (Philippenko et al. 2025, Figure 3 and Table 2).

stated     Table S1: batch 1, step 0.05 divided by ten every 5 of 25 epochs, weight decay 5e-4, weights of All-for-one
           from Eq. (1) with b_alpha = 16 once per epoch
published  the released code: no weight decay, its own ratio from one sample, All-for-one, Local and FedAvg alone

An epoch is the mean number of training patients of a hospital, 122 iterations. Patients are drawn with replacement.
Means over hospitals are weighted by their numbers of patients.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bounds import InputError
from simulate import APFL, WGABC, CoBo, Ditto, Every, FedAvg, Local, Logistic, Randomness, SampledSimilarity, Stream
from simulate.heart_disease import CENTRES, Hospital, hospitals

from .convergence import APFL_MIXTURE, COBO_RHO, DITTO_PULL, LOOKS, WGA_MEMORY, WGA_MIXTURE, parameters
from .figure import Figure
from .lockstep import Contender, LastDraws, Progress, in_blocks, lockstep
from .regression import all_for_one, chosen_seeds
from .style import COLUMN_WIDTH

EPOCHS = 25
STEP, DECADE = 0.05, 5
WEIGHT_DECAY = {"stated": 5e-4, "published": 0.0}
WEIGHT_SAMPLES = 16
SEEDS = 64
LANES = 64
MEASURED = ("test_log10_loss", "train_log10_loss", "test_accuracy", "train_accuracy")
"""Means over hospitals, weighted by their numbers of patients."""
PLAIN = ("test_log10_loss_plain", "test_accuracy_plain", "test_accuracy_spread")
"""Plain means over hospitals, and the standard deviation over them."""
TABLE_2 = {
    "All-for-one binary": (-0.41, 82.3),
    "All-for-one continuous": (-0.41, 82.1),
    "Local": (-0.41, 82.1),
    "FedAvg": (-0.26, 75.2),
    "Ditto": (-0.40, 81.9),
    "CoBo": (-0.41, 81.9),
    "WGA-BC": (-0.16, 66.3),
    "APFL": (-0.41, 82.1),
}
"""The paper's Table 2, heart disease, test: log10 of the loss, and accuracy in per cent."""


def heart(
    edition: str,
    *,
    data: str | FilePath | None = None,
    seeds: int | Sequence[int] | None = None,
    epochs: int = EPOCHS,
    progress: Progress | None = None,
) -> Figure:
    """The figure in one edition. data: folder of the four files, by default SUFFICE_DATA; `InputError` without it."""
    began = time.perf_counter()
    if epochs < 1:
        raise InputError("epochs", epochs, "give at least 1")
    four = with_intercept(hospitals(data_folder(data)))
    wanted = chosen_seeds(SEEDS if seeds is None else seeds)
    blocks = in_blocks(wanted, LANES, partial(_block, edition, four, epochs), progress)
    curves: dict[str, dict[str, np.ndarray]] = {}
    for name in blocks[0]:
        runs = np.concatenate([block[name] for block in blocks], axis=1)  # (epochs + 1, S, 4)
        curves[name] = {"epoch": np.arange(epochs + 1, dtype=float)}
        for column, what in enumerate((*MEASURED, *PLAIN)):
            curves[name][what] = runs[..., column].mean(1)
            curves[name][f"{what}_sd"] = runs[..., column].std(1, ddof=1)
    unit = {"loss": "log10 of loss", "accuracy": "per cent"}
    units = {"epoch": "mean number of training patients of a hospital"}
    for what in (*MEASURED, *PLAIN):
        quantity = unit["loss" if "loss" in what else "accuracy"]
        how = ", plain mean over hospitals" if what.endswith("plain") else ""
        how = ", deviation over hospitals" if what.endswith("spread") else how
        units |= {what: quantity + how, f"{what}_sd": f"{quantity}, of single runs"}
    return Figure(
        name="adaptive-3-heart",
        edition=edition,
        title="Heart disease in four hospitals: test loss of logistic regression",
        data=curves,
        units=units,
        setup={
            "hospitals": len(four),
            "train": [len(one.y) for one in four],
            "test": [len(one.y_test) for one in four],
            "epochs": epochs,
            "iterations_per_epoch": epoch_length(four),
            "step_size": f"{STEP}, divided by 10 every {DECADE} epochs",
            "weight_decay": WEIGHT_DECAY[edition],
            "ratio": "Eq. (1), 16 samples" if edition == "stated" else "released code, 1 sample",
            "refresh": "once per epoch",
            "runs": len(wanted),
            "seeds": [min(wanted), max(wanted)] if len(wanted) > 3 else list(wanted),
            "parameters": parameters() if edition == "stated" else {},
            "table_2": {name: list(TABLE_2[name]) for name in curves},
        },
        seconds=time.perf_counter() - began,
        draw=draw,
    )


def data_folder(data: str | FilePath | None) -> FilePath:
    """The folder of the four files: `data`, one below it, or that of the variable SUFFICE_DATA. Raises `InputError`."""
    given = data if data is not None else os.environ.get("SUFFICE_DATA")
    if not given:
        remedy = "name the folder of the four files processed.*.data of UCI Heart Disease, or set SUFFICE_DATA"
        raise InputError("data", "missing", remedy)
    for folder in (FilePath(given), FilePath(given) / "heart_disease"):
        if (folder / f"processed.{CENTRES[0]}.data").is_file():
            return folder
    raise InputError("data", str(given), f"no processed.{CENTRES[0]}.data in it; get UCI Heart Disease (CC BY 4.0)")


def with_intercept(four: Sequence[Hospital]) -> list[Hospital]:
    """The hospitals with a last column of ones."""

    def ones(X: np.ndarray) -> np.ndarray:
        return np.column_stack((X, np.ones(len(X))))

    return [replace(one, X=ones(one.X), X_test=ones(one.X_test)) for one in four]


def epoch_length(four: Sequence[Hospital]) -> int:
    """Iterations of a mean local epoch at batch 1."""
    return round(sum(len(one.y) for one in four) / len(four))


@dataclass(frozen=True, kw_only=True)
class Patients(Logistic):
    """Logistic regression that remembers an iteration's draws, for several algorithms in turn."""

    _kept: LastDraws = field(default_factory=LastDraws, repr=False, compare=False)

    @classmethod
    def training(cls, four: Sequence[Hospital], edition: str) -> Patients:
        """Without weight decay one hospital has no minimiser: of that problem, use gradients alone."""
        decayed = Logistic.of([one.X for one in four], [one.y for one in four], regularisation=WEIGHT_DECAY["stated"])
        parts: dict[str, Any] = {entry.name: getattr(decayed, entry.name) for entry in fields(decayed)}
        parts["regularisation"] = WEIGHT_DECAY[edition]
        return cls(**parts)

    def draw(
        self, randomness: Randomness, iteration: int, *, stream: Stream = Stream.NOISE, batch: int | None = None
    ) -> Tensor:
        def make() -> Tensor:
            return super(Patients, self).draw(randomness, iteration, stream=stream, batch=batch)

        return self._kept.get(iteration, stream, batch or self.batch, make)


def _block(edition: str, four: Sequence[Hospital], epochs: int, seeds: Sequence[int]) -> dict[str, np.ndarray]:
    problem, length = Patients.training(four, edition), epoch_length(four)
    d = problem.features
    uniform = Randomness(seeds=torch.as_tensor(list(seeds))).uniform(
        iteration=0, stream=Stream.START, clients=1, features=d
    )
    # a linear layer's default: its 13 weights and its bias uniform in +-1 / sqrt(13), the same for all clients
    start = ((2 * uniform - 1) / np.sqrt(d - 1)).expand(-1, len(four), -1)
    steps = [torch.tensor(STEP * 0.1 ** (epoch // DECADE), dtype=torch.float64) for epoch in range(epochs)]
    paths = lockstep(
        _contenders(edition, problem, four, length),
        start,
        seeds=seeds,
        grid=range(0, epochs * length + 1, length),
        eta=lambda t: steps[(t - 1) // length],
        measure=partial(_measure, _padded(four)),
    )
    return {name: path.values.numpy() for name, path in paths.items()}


def _contenders(edition: str, problem: Patients, four: Sequence[Hospital], length: int) -> dict[str, Contender]:
    chosen: dict[str, Any] = {}
    for criterion in ("binary", "continuous"):
        rule = all_for_one("released", criterion)
        if edition == "stated":
            rule = replace(rule, similarity=SampledSimilarity(samples=WEIGHT_SAMPLES))
        chosen[f"All-for-one {criterion}"] = replace(rule, refresh=Every(steps=length))
    server = FedAvg(sizes=torch.tensor([float(len(one.y)) for one in four], dtype=torch.float64))
    chosen |= {"Local": Local(), "FedAvg": server}
    if edition == "stated":
        chosen |= {
            "Ditto": Ditto(pull=DITTO_PULL, server=server),
            "CoBo": CoBo.released(rho=COBO_RHO),
            "WGA-BC": WGABC(mixture=WGA_MIXTURE, memory=WGA_MEMORY),
            "APFL": APFL(mixture=APFL_MIXTURE, adaptive=True, server=server),
        }
    return {name: Contender(algorithm=algorithm, problem=problem) for name, algorithm in chosen.items()}


Tables = list[tuple[Tensor, Tensor, Tensor]]


def _padded(four: Sequence[Hospital]) -> Tables:
    """Test and training tables: rows (N, n, d), labels (N, n) and their weights 1/n_i (N, n), 0 for padding."""
    tables = []
    for X, y in (([h.X_test for h in four], [h.y_test for h in four]), ([h.X for h in four], [h.y for h in four])):
        most = max(map(len, y))
        rows, labels, weights = (np.zeros((len(four), most, *rest)) for rest in ((X[0].shape[1],), (), ()))
        for i, (some, wanted) in enumerate(zip(X, y)):
            rows[i, : len(some)], labels[i, : len(some)], weights[i, : len(some)] = some, wanted, 1 / len(some)
        tables.append(tuple(map(torch.from_numpy, (rows, labels, weights))))
    return tables


def _measure(tables: Tables, models: Tensor) -> Tensor:
    """`MEASURED` and `PLAIN` at models (S, N, d), (S, 7)."""
    losses, accuracies, plain = [], [], []
    for rows, labels, weights in tables:
        margin = torch.einsum("ind,sid->sin", rows, models)
        loss = (torch.logaddexp(torch.zeros_like(margin), margin) - labels * margin) * weights
        correct = ((margin > 0) == (labels > 0)) * weights
        patients = (weights > 0).double().sum(-1)
        share = patients / patients.sum()
        logarithm, accuracy = torch.log10(loss.sum(-1)), 100 * correct.sum(-1)  # (S, N)
        losses.append((logarithm * share).sum(-1))
        accuracies.append((accuracy * share).sum(-1))
        plain.append((logarithm.mean(-1), accuracy.mean(-1), accuracy.std(-1, correction=0)))
    return torch.stack([*losses, *accuracies, *plain[0]], dim=-1)


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: test loss above, test accuracy below."""
    canvas.set_size_inches(COLUMN_WIDTH, 4.0)
    above, below = canvas.subplots(2, 1, sharex=True)
    for name, curve in figure.data.items():
        colour, line = LOOKS[name]
        for axes, what, place in ((above, "test_log10_loss", 0), (below, "test_accuracy", 1)):
            mean, sd = curve[what], curve[f"{what}_sd"]
            axes.fill_between(curve["epoch"], mean - sd, mean + sd, color=colour, alpha=0.12, linewidth=0)
            axes.plot(curve["epoch"], mean, color=colour, linestyle=line, label=name)
            published = figure.setup["table_2"][name][place]
            axes.plot(curve["epoch"][-1], published, "x", color=colour, clip_on=False, zorder=5)
            last = curve[f"{what}_plain"][-1]
            axes.plot(curve["epoch"][-1], last, "o", color=colour, markerfacecolor="white", clip_on=False, zorder=4)
    above.set_ylabel(r"$\log_{10}$ test loss")
    below.set_ylabel("test accuracy (%)")
    below.set_xlabel("epoch")
    below.set_xlim(0, figure.setup["epochs"])
    final = [curve[f"test_accuracy{of}"][-1] for curve in figure.data.values() for of in ("", "_plain")]
    below.set_ylim(min(*final, 66) - 4, max(*final, 82) + 4)
    above.set_title(
        f"{figure.setup['runs']} runs, weighted by patients; band: one deviation\n"
        "circles: plain means over hospitals; crosses: Table 2",
        loc="left",
        fontsize=6.5,
    )
    handles, labels = above.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=3, handlelength=2.4, columnspacing=1.0)
