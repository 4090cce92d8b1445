"""adaptive-3-heart: logistic regression on hospitals' patients (Philippenko et al. 2025, Figure 3 and Table 2).

stated     two runs of the stated rules, weights of All-for-one from Eq. (1) with b_alpha = 16 once per epoch:
           Table S1: four hospitals, batch 1, step 0.05 divided by ten every 5 of 25 epochs, weight decay 5e-4;
           Table 2: its entries are no such run. Training accuracies are multiples of 1/45, as of five batches of one
           patient times three hospitals times three seeds (and of 1/180, which four can give). Read from that: batch 1,
           three hospitals, plain means. Fitted here: which three (all but the last), and the step 0.01, a fifth of the
           stated one
published  the released code: no weight decay, its own ratio from one sample, All-for-one, Local and FedAvg alone

An epoch is the mean number of training patients of a hospital, 122 iterations of four. Patients are drawn with
replacement. Means over hospitals are plain ones, as the released code takes them (the paper says weighted).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .adaptive_2 import LOOKS
from .blocks import in_blocks, part_of
from .figure import SEPARATOR, Figure, joined
from .maker import Progress, maker
from .setting import DATA, UNSTATED, Competitors, data_folder, option, runs
from .style import BLACK, COLUMN_WIDTH, headline

BLOCK = 32
EPOCHS, STEP = 25, 0.05
"""The paper's: of others there are no entries to compare with."""
TABLE_2 = {
    "All-for-one binary": (-0.41, 82.3, 8.2),
    "All-for-one continuous": (-0.41, 82.1, 8.3),
    "Local": (-0.41, 82.1, 8.3),
    "FedAvg": (-0.26, 75.2, 5.5),
    "Ditto": (-0.40, 81.9, 8.4),
    "CoBo": (-0.41, 81.9, 8.5),
    "WGA-BC": (-0.16, 66.3, 5.0),
    "APFL": (-0.41, 82.1, 8.4),
}
"""Tables 2 and S2, heart disease, test: log10 of the loss, accuracy in per cent and its deviation."""
RELEASED = {
    "All-for-one binary": (-0.372, 80.1),
    "All-for-one continuous": (-0.360, 78.7),
    "Local": (-0.341, 78.7),
    "FedAvg": (-0.235, 71.0),
}
"""Last values of the pictures that came with the released code."""
RUNS = {"stated": {"Table S1": {}, "Table 2": TABLE_2}, "published": {"released code": RELEASED}}
"""The runs of each edition with the entries to compare them with; Table S1 has none of its own."""


@maker(
    "adaptive-3-heart",
    "Figure 3 of adaptive: heart disease in the hospitals (needs data)",
    "Heart disease alone, as IXI is not available. Stated: three hospitals and a step of 0.01 are fitted to Table 2, "
    "which does not name them; Ditto and WGA-BC differ from it, as their parameters are not in the paper.",
    unpublished="",
)
def heart(
    edition: str,
    *,
    data: str | Path | None = DATA,
    seeds: Sequence[int] = runs(32),
    epochs: int = option("of 122 iterations, the mean number of training patients of four hospitals", default=EPOCHS),
    step: float = option("of the runs in four hospitals; that of Table 2 is a fifth of it", default=STEP),
    competitors: Competitors = UNSTATED,
    progress: Progress,
) -> Figure:
    """The figure in one edition. data: folder of the four files, by default SUFFICE_DATA; `InputError` without it."""
    from suffice.simulate.data.heart_disease import CENTRES, heart_disease

    from .hospitals import BESIDE, DECADE, MEASURED, WEIGHT_DECAY, block, epoch_length, with_intercept

    files = "UCI Heart Disease's four files processed.*.data (archive.ics.uci.edu, dataset 45)"
    wanted = f"no processed.{CENTRES[0]}.data in it; get UCI Heart Disease (CC BY 4.0)"
    every = heart_disease(data_folder(data, "heart_disease", f"processed.{CENTRES[0]}.data", files, wanted))
    printed = (epochs, step, competitors) == (EPOCHS, STEP, UNSTATED)
    curves: dict[str, dict[str, np.ndarray]] = {}
    about: dict[str, Any] = {}
    for index, (run, entries) in enumerate(RUNS[edition].items()):
        hospitals, size = (CENTRES[:3], step / 5) if run == "Table 2" else (CENTRES, step)
        some = with_intercept(every, hospitals)
        work = partial(block, edition, some, size, epochs, competitors)
        found = in_blocks(seeds, BLOCK, work, part_of(progress, index, len(RUNS[edition])))
        for rule, each in found.items():  # (epochs + 1, S, 7)
            curve = {"epoch": np.arange(epochs + 1, dtype=float)}
            for what, values in zip((*MEASURED, *BESIDE), np.moveaxis(each, -1, 0)):
                curve |= {what: values.mean(1), f"{what}_sd": values.std(1, ddof=1)}
            curves[joined(run, rule)] = curve
        about[run] = {
            "hospitals": list(hospitals),
            "train": [len(one.y) for one in some.train],
            "test": [len(one.y) for one in some.test],
            "iterations_per_epoch": epoch_length(some),
            "step_size": size,
            "fitted": ["hospitals", "step_size"] if run == "Table 2" else [],
            "published": {rule: list(entries[rule]) for rule in found if printed and rule in entries},
        }
    return Figure(
        title="Heart disease in the hospitals: test loss of logistic regression",
        data=curves,
        units=_units((*MEASURED, *BESIDE)),
        setup={
            "runs_of": about,
            "schedule": f"step divided by 10 every {DECADE} epochs",
            "weight_decay": WEIGHT_DECAY[edition],
            "ratio": "Eq. (1), 16 samples" if edition == "stated" else "released code, 1 sample",
            "refresh": "once per epoch",
        },
        keys=("run", "rule"),
    )


def _units(columns: Sequence[str]) -> dict[str, str]:
    units = {"epoch": "mean number of training patients of a hospital"}
    for what in columns:
        quantity = "log10 of loss" if "loss" in what else "per cent"
        how = "weighted by patients" if what.endswith("weighted") else "plain mean over hospitals"
        how = "standard deviation over hospitals" if what.endswith("spread") else how
        units |= {what: f"{quantity}, {how}", f"{what}_sd": f"{quantity}, standard deviation over seeds"}
    return units


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a row per rule, its last loss and accuracy as dots with intervals, run by run."""
    about = figure.setup["runs_of"]
    rules = list(dict.fromkeys(name.split(SEPARATOR)[1] for name in figure.data))
    canvas.set_size_inches(2 * COLUMN_WIDTH, 0.8 + 0.19 * (len(rules) + 2) * len(about))
    panels = canvas.subplots(len(about), 2, sharex="col", sharey=True, squeeze=False)
    for row, (run, facts) in zip(panels, about.items()):
        for place, (axes, what) in enumerate(zip(row, ("test_log10_loss", "test_accuracy"))):
            for at, rule in enumerate(rules):
                curve, colour = figure[run, rule], LOOKS[rule][0]
                axes.errorbar(curve[what][-1], -at, xerr=curve[f"{what}_sd"][-1], fmt="o", color=colour, capsize=2)
                if rule in facts["published"]:
                    axes.plot(facts["published"][rule][place], -at, "x", color=BLACK, zorder=5)
            axes.axvline(figure[run, "Local"][what][-1], color="0.6", linewidth=0.8, zorder=0)
        words = f"{run}: {len(facts['hospitals'])} hospitals, step {facts['step_size']:g}"
        words += ", fitted" * bool(facts["fitted"])
        if facts["published"]:
            words += "; crosses are " + ("the table's" if facts["fitted"] else "last values of its pictures")
        row[0].set_title(words, loc="left")
        row[0].set_yticks(-np.arange(len(rules)), rules)
    panels[-1, 0].set_xlabel(r"$\log_{10}$ test loss (lower is better)")
    panels[-1, 1].set_xlabel("test accuracy in per cent (higher is better)")
    words = (
        f"After {figure.setup['epochs']} epochs, dots are means of {figure.setup['runs']} runs, plain over hospitals; "
    )
    words += "bars are one standard deviation over runs, and Local is grey"
    headline(canvas, _message(figure, next(iter(about)), rules), words)


def _message(figure: Figure, run: str, rules: list[str]) -> str:
    """How many rules of the run end where Local does, and which has the largest loss."""
    last = {rule: [figure[run, rule][f"test_log10_loss{what}"][-1] for what in ("", "_sd")] for rule in rules}
    alone, deviation = last.pop("Local")
    near = sum(abs(value - alone) <= max(sd, deviation) for value, sd in last.values())
    worst = max(last, key=lambda rule: last[rule][0])
    return f"{near} of {len(last)} rules end within a deviation of Local ({run}); {worst} has the largest loss"
