"""adaptive-3-heart: logistic regression on four hospitals' patients (Philippenko et al. 2025, Figure 3 and Table 2).

stated     Table S1: batch 1, step 0.05 divided by ten every 5 of 25 epochs, weight decay 5e-4, weights of All-for-one
           from Eq. (1) with b_alpha = 16 once per epoch
published  the released code: no weight decay, its own ratio from one sample, All-for-one, Local and FedAvg alone

An epoch is the mean number of training patients of a hospital, 122 iterations. Patients are drawn with replacement.
Means over hospitals are weighted by their numbers of patients.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from suffice.bounds import InputError

from .adaptive_2 import LOOKS, parameters
from .figure import Content, Figure
from .maker import Progress, maker
from .style import COLUMN_WIDTH

EPOCHS = 25
SEEDS = 64
BLOCK = 64
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


@maker("adaptive-3-heart", "Figure 3 of adaptive: heart disease in four hospitals (needs data)", unpublished="")
def heart(
    edition: str,
    *,
    data: str | Path | None = None,
    seeds: int | Sequence[int] | None = None,
    epochs: int = EPOCHS,
    progress: Progress,
) -> Content:
    """The figure in one edition. data: folder of the four files, by default SUFFICE_DATA; `InputError` without it."""
    from suffice.simulate.data.heart_disease import heart_disease

    from .hospitals import DECADE, MEASURED, PLAIN, STEP, WEIGHT_DECAY, block, data_folder, epoch_length, with_intercept
    from .lockstep import in_blocks
    from .regression import chosen_seeds

    if epochs < 1:
        raise InputError("epochs", epochs, "give at least 1")
    four = with_intercept(heart_disease(data_folder(data)))
    wanted = chosen_seeds(SEEDS if seeds is None else seeds)
    blocks = in_blocks(wanted, BLOCK, partial(block, edition, four, epochs), progress)
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
    return Content(
        title="Heart disease in four hospitals: test loss of logistic regression",
        data=curves,
        units=units,
        setup={
            "hospitals": len(four.train),
            "train": [len(one.y) for one in four.train],
            "test": [len(one.y) for one in four.test],
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
    )


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
