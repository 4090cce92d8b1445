"""What the papers' pictures, tables and text show beside our figures: `python docs/features.py FOLDER`.

FOLDER holds the CSV and JSON files of `suffice figure NAME --edition EDITION --out FOLDER`. Figures that are not
there are left out. "Agrees" means: inside our 5 to 95 % band (adaptive-1, one draw in print); within two deviations of
our single runs (last values of adaptive-2a, -2b, one run in print); a bend within 5 iterations; within a decade of
Local (what the text says of competitors); within `LOSS` and `ACCURACY` (adaptive-3-heart, test) and two deviations of
45 patients (training); to 12 digits for p, to 0.1 % for gaps (scafflix-1). What is read off a picture has 0.25 decades,
at the start and after saturation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pages.published_networks import printed

from suffice.figures import redraw
from suffice.figures.figure import SEPARATOR, Figure
from suffice.support.errors import InputError

SIZES = {
    "0.001": {1e-5: 14, 1e-4: 20},
    "0.01": {1e-5: 1, 1e-4: 1, 1e-3: 10, 1e-2: 20},
    "0.1": {1e-2: 1, 1e-1: 10, 1.0: 20},
    "1": {1.0: 1, 10.0: 10},
}
"""Markers of the published Figure 1."""
SATURATED = {"adaptive-2a": 10, "adaptive-2b": 40}
START = {"adaptive-2a": 1, "adaptive-2b": 2}
ELBOW = 40
PROBABILITY = {"mushrooms": 0.16883865479367444, "a6a": 0.2344113416108792}
GAP = {"mushrooms": 5.565, "a6a": 16.97}
SAME = {"data", "datasets", "rounds", "seeds"}
"""Options that leave what is compared as it is."""
LOSS, ACCURACY = 0.02, 1.5
"""Margins of the hospitals' entries: decades, and points of one patient in 16 over four hospitals, from few runs."""
FIVE_LOWER, FIVE_DEVIATION = 0.046, 0.07
"""Decades by which the log10 loss of five training patients lies below that of all in the mean, and the deviation of a
mean of nine such (three hospitals, three seeds): 4,000 draws of patients at last models of Local; FedAvg's are alike.
"""


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One feature of a published picture."""

    feature: str
    published: str
    ours: str
    agrees: bool
    figure: str = ""


def features(folder: str | Path) -> list[Feature]:
    """All features of the figures in `folder`; `InputError` if there are none."""
    found = []
    for name in dict.fromkeys(name for name, _ in _FEATURES):
        if not (Path(folder) / f"{name}.csv").is_file():
            continue
        drawn = redraw(name, folder)
        if set(drawn.setup.get("changed", ())) - SAME:
            continue  # of another setting nothing is in print
        if of := _FEATURES.get((name, drawn.edition)):
            found += [replace(row, figure=f"{name}, {drawn.edition}") for row in of(drawn)]
    if not found:
        raise InputError("folder", str(folder), "nothing in it to compare; suffice figure all --edition published")
    return found


def table(rows: list[Feature]) -> str:
    """A table in markdown."""
    lines = ["| figure | feature | published | ours | agrees |", "|---|---|---|---|---|"]
    for row in rows:
        agrees = "yes" if row.agrees else "**no**"
        lines.append(f"| {row.figure} | {row.feature} | {row.published} | {row.ours} | {agrees} |")
    return "\n".join(lines)


def _sizes(drawn: Figure) -> Iterator[Feature]:
    from suffice.figures.adaptive_1 import DRAW, HIGH, LOW, size_at

    for spread, markers in SIZES.items():
        for epsilon, size in markers.items():
            curves = (drawn.data[SEPARATOR.join((spread, part))] for part in (DRAW, LOW, HIGH))
            one, few, many = (size_at(curve, epsilon) for curve in curves)
            yield Feature(
                feature=f"cluster size at v={spread}, eps = {epsilon:g}",
                published=str(size),
                ours=f"{one} in the seeded draw, {few} to {many} in 90 % of draws",
                agrees=few <= size <= many,
            )


def _common(drawn: Figure) -> Iterator[Feature]:
    """What both editions of Figure 2 show: the start, and where FedAvg stays."""
    name, means = drawn.name, {curve: values["mean_log10_excess"] for curve, values in drawn.data.items()}
    starts = [mean[0] for mean in means.values()]
    yield Feature(
        feature="log10 at the start, all curves",
        published=f"near {START[name]:+d}",
        ours=f"{min(starts):+.2f} to {max(starts):+.2f}",
        agrees=all(abs(start - START[name]) < 0.25 for start in starts),
    )
    moved = float(np.ptp(means["FedAvg"][SATURATED[name] :]))
    yield Feature(
        feature=f"FedAvg saturates from iteration {SATURATED[name]}",
        published="flat from there",
        ours=f"moves by {moved:.2f} decades from there to the end",
        agrees=moved < 0.25,
    )


def _convergence(drawn: Figure) -> Iterator[Feature]:
    name, means = drawn.name, {curve: values["mean_log10_excess"] for curve, values in drawn.data.items()}
    yield from _common(drawn)
    if name == "adaptive-2b":
        for curve in ("All-for-one binary", "All-for-one continuous"):
            bend = elbow(means[curve])
            yield Feature(
                feature=f"elbow of {curve}",
                published=f"near iteration {ELBOW}",
                ours=f"two lines fit the mean best with a bend at {bend}",
                agrees=abs(bend - ELBOW) <= 5,
            )
    for curve, value in drawn.setup["published_final"].items():
        mean, sd = means[curve][-1], drawn.data[curve]["sd"][-1]
        yield Feature(
            feature=f"log10 at the end, {curve}",
            published=f"{value:.2f}",
            ours=f"{mean:.2f}, single runs +- {sd:.2f} ({(value - mean) / sd:+.1f} deviations)",
            agrees=abs(value - mean) <= 2 * sd,
        )


def _stated(drawn: Figure) -> Iterator[Feature]:
    """The text on Figure 2: competitors converge like Local, All-for-one at least as well, the oracle best."""
    yield from _common(drawn)
    last = {curve: float(values["mean_log10_excess"][-1]) for curve, values in drawn.data.items()}
    for rule in ("Ditto", "CoBo", "WGA-BC", "APFL"):
        yield Feature(
            feature=f"{rule} converges like Local",
            published="as in the text",
            ours=f"log10 at the end {last[rule]:.1f}, Local {last['Local']:.1f}",
            agrees=abs(last[rule] - last["Local"]) < 1,
        )
    for rule in ("All-for-one binary", "All-for-one continuous"):
        yield Feature(
            feature=f"{rule} ends below Local, above the oracle",
            published="as in the text",
            ours=f"log10 at the end {last[rule]:.1f}, Local {last['Local']:.1f}, oracle {last['Oracle']:.1f}",
            agrees=last["Oracle"] <= last[rule] < last["Local"],
        )


def elbow(values: np.ndarray) -> int:
    """Where two straight lines, free to jump, fit a curve best."""

    def residual(part: np.ndarray) -> float:
        t = np.arange(len(part), dtype=float)
        slope, level = np.polyfit(t, part, 1)
        return float(((part - slope * t - level) ** 2).sum())

    return min(range(3, len(values) - 3), key=lambda at: residual(values[:at]) + residual(values[at:]))


def _heart(drawn: Figure) -> Iterator[Feature]:
    """Every entry to compare with. What is fitted (`setup`) agrees by choice."""
    columns = (
        ("test log10 loss", "test_log10_loss", LOSS),
        ("test accuracy (%)", "test_accuracy", ACCURACY),
        ("deviation of test accuracy", "test_accuracy_spread", ACCURACY),
    )
    for run, facts in drawn.setup["runs_of"].items():
        for rule, entries in facts["published"].items():
            for (what, column, margin), entry in zip(columns, entries):
                curve = drawn.data[SEPARATOR.join((run, rule))]
                ours, sd = float(curve[column][-1]), float(curve[f"{column}_sd"][-1])
                yield Feature(
                    feature=f"{run}: {what}, {rule}",
                    published=f"{entry:g}",
                    ours=f"{ours:.3g}, single runs +- {sd:.2g}",
                    agrees=abs(ours - entry) <= margin,
                )
            if run == "Table 2":
                yield from _training(drawn, rule)


def _training(drawn: Figure, rule: str) -> Iterator[Feature]:
    """Table 2's training columns are of 45 patients: a binomial deviation of shares, and a loss that is lower."""
    curve, table_2 = drawn.data[SEPARATOR.join(("Table 2", rule))], printed("adaptive-heart")[rule]
    loss, accuracy = table_2["train_log10_loss"], table_2["train_accuracy"]
    ours = float(curve["train_accuracy"][-1])
    deviation = float(np.sqrt(ours * (100 - ours) / 45))
    yield Feature(
        feature=f"Table 2: training accuracy (%), {rule}",
        published=f"{accuracy:g}, of 45 patients",
        ours=f"{ours:.3g} of all, of 45 +- {deviation:.2g} ({(accuracy - ours) / deviation:+.1f} deviations)",
        agrees=abs(ours - accuracy) <= 2 * deviation,
    )
    ours = float(curve["train_log10_loss"][-1])
    away = (loss - ours + FIVE_LOWER) / FIVE_DEVIATION
    yield Feature(
        feature=f"Table 2: training log10 loss, {rule}",
        published=f"{loss:g}, of 45 patients",
        ours=f"{ours:.3g} of all, of 45 {ours - FIVE_LOWER:.3g} +- {FIVE_DEVIATION} ({away:+.2f} deviations)",
        agrees=abs(away) <= 2,
    )


def _scafflix(drawn: Figure) -> Iterator[Feature]:
    for dataset, p in PROBABILITY.items():
        if dataset not in drawn.setup["datasets"]:
            continue
        ours = drawn.setup["datasets"][dataset]["p"]
        yield Feature(
            feature=f"probability p, {dataset}",
            published=repr(p),
            ours=repr(ours),
            agrees=abs(ours - p) <= 1e-12 * p,
        )
        gap = float(drawn.data[SEPARATOR.join((dataset, "GD", "1"))]["gap"][0])
        yield Feature(
            feature=f"gap at the start, alpha = 1, {dataset}",
            published=f"{GAP[dataset]:.4g}",
            ours=f"{gap:.4g}",
            agrees=abs(gap - GAP[dataset]) <= 1e-3 * GAP[dataset],
        )
        faster = [
            drawn.data[SEPARATOR.join((dataset, "Scafflix", f"{alpha:g}"))]["gap"][-1]
            < drawn.data[SEPARATOR.join((dataset, "GD", f"{alpha:g}"))]["gap"][-1]
            for alpha in drawn.setup["alphas"]
        ]
        yield Feature(
            feature=f"Scafflix (solid) ends below GD (dashed), {dataset}",
            published="at every alpha",
            ours=f"at {sum(faster)} of {len(faster)}",
            agrees=all(faster),
        )


_FEATURES: dict[tuple[str, str], Callable[[Figure], Iterator[Feature]]] = {
    ("adaptive-1", "published"): _sizes,
    ("adaptive-2a", "published"): _convergence,
    ("adaptive-2b", "published"): _convergence,
    ("adaptive-3-heart", "published"): _heart,
    ("scafflix-1", "published"): _scafflix,
    ("adaptive-2a", "stated"): _stated,
    ("adaptive-2b", "stated"): _stated,
    ("adaptive-3-heart", "stated"): _heart,
}


if __name__ == "__main__":
    try:
        print(table(features(*sys.argv[1:2] or ["."])))
    except InputError as error:
        sys.exit(str(error))
