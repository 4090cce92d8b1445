"""What `python -m benchmarks fit` has measured, as a page in Markdown and as rows of a summary.

A ratio is our mean loss over the draws of a line divided by a rival's; the best rival of a line is the linear one that
turns out best on the very test rows, of those that made a model in every draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

BOOSTED = "gradient boosting"
"""No linear model: its ratios are given, but it is never the best rival."""
Line = dict[str, Any]
"""One file: of a table and a share of rows, one draw."""
GROUPS: dict[str, Callable[[Line], bool]] = {
    "all": lambda line: True,
    "least squares": lambda line: line["loss"] == "least-squares",
    "logistic": lambda line: line["loss"] == "logistic",
    "multinomial": lambda line: line["loss"] == "multinomial",
    "sites of the table's own": lambda line: line["natural"],
    "iris, statsmodels' and drawn tables": lambda line: line["natural"] and line["held_out"],
}


def together(lines: Iterable[Line]) -> dict[tuple[str, str, float], list[Line]]:
    """The draws of each loss, table and share."""
    found: dict[tuple[str, str, float], list[Line]] = {}
    for line in sorted(lines, key=lambda line: line["draw"]):
        found.setdefault((line["loss"], line["task"], line["share"]), []).append(line)
    return found


def ratios(draws: list[Line]) -> dict[str, tuple[float, bool]]:
    """Of the draws of one line, our mean loss over that of each rival where it made a model, and whether this was so in
    all of them."""
    found: dict[str, tuple[float, bool]] = {}
    for name in draws[0]["losses"]:
        pairs = [(line["losses"]["ours"], loss) for line in draws if (loss := line["losses"][name]) is not None]
        if pairs and name != "ours":
            found[name] = float(np.divide(*np.sum(pairs, axis=0))), len(pairs) == len(draws)
    return found


def best(draws: list[Line]) -> tuple[float, str]:
    """The largest ratio to a linear rival that made a model in all draws, and the rival."""
    return max((ratio, name) for name, (ratio, always) in ratios(draws).items() if always and name != BOOSTED)


def _mean(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def _group(lines: list[Line]) -> tuple[int, float, float, float]:
    """Of the lines' ratios to the best rival: number, geometric mean, its standard error over draws (the jackknife's,
    every rival that is best chosen anew), largest."""
    every = [best(draws)[0] for draws in together(lines).values()]
    numbers = sorted({line["draw"] for line in lines})
    without = []
    for number in numbers if len(numbers) > 1 else ():
        rest = ([line for line in draws if line["draw"] != number] for draws in together(lines).values())
        without.append(_mean(best(draws)[0] for draws in rest if draws))
    error = float(np.std(without) * (len(without) - 1) ** 0.5) if without else float("nan")
    return len(every), _mean(every), error, max(every)


def summary(lines: list[Line]) -> list[dict[str, Any]]:
    """Of each group the geometric mean and the worst line."""
    answer = []
    for name, chosen in GROUPS.items():
        if members := [line for line in lines if chosen(line)]:
            _, mean, _, worst = _group(members)
            answer.append({"name": f"fit, geometric mean: {name}", "value": mean})
            answer.append({"name": f"fit, worst: {name}", "value": worst})
    return answer


def _words(task: str) -> str:
    for end, how in (("-feature", " by a feature"), ("-label", " by the label"), ("-random", " at random")):
        task = task.removesuffix(end) + how if task.endswith(end) else task
    return task.replace("_", " ")


def _shown(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


PAGE = """# Every line of the benchmark of `suffice fit`

`python -m benchmarks fit --folder FOLDER --page docs/fit-lines.md` writes this page. A line is a table and the share of
every site's rows that is for training. Its ratio is our mean loss on all other rows over some draws, divided by a
rival's. The best rival of a line is the linear one that loses least on these very rows, so that it gains from chance
too. Gradient boosting with the site as a category is no linear model, and never the best rival. What the numbers say is
on [the page of the method](fit.md#measured).

{groups}

Beside one rival throughout, over the draws in which it made a model (MixedLM does not always converge):

{rivals}

A table without sites of its own is split by a feature, by the label or at random.

{table}
"""


def page(lines: list[Line]) -> str:
    """The page in Markdown: groups of lines, rivals, lines."""
    groups = ["| lines | number | geometric mean +- standard error over draws | worst |", "|---" * 4 + "|"]
    for name, chosen in GROUPS.items():
        if members := [line for line in lines if chosen(line)]:
            number, mean, error, worst = _group(members)
            groups.append(f"| {name} | {number} | {_shown(mean)} +- {_shown(error)} | {_shown(worst)} |")
    every = together(lines)
    rivals = ["| rival | lines | geometric mean | worst |", "|---" * 4 + "|"]
    for loss in dict.fromkeys(loss for loss, _, _ in every):
        found: dict[str, dict[str, float]] = {}
        for (of, task, share), draws in every.items():
            for name, (ratio, _) in ratios(draws).items() if of == loss else ():
                found.setdefault(name, {})[f"{_words(task)}, {share:.0%}"] = ratio
        for name, of in sorted(found.items(), key=lambda entry: -_mean(entry[1].values())):
            worst = max(of, key=lambda line: of[line])
            mean = _shown(_mean(of.values()))
            rivals.append(f"| {loss}: {name} | {len(of)} | {mean} | {_shown(of[worst])} ({worst}) |")
    shares = sorted({share for _, _, share in every})
    table = [f"| table | loss | sites | draws |{''.join(f' {share:.0%} (best rival) |' for share in shares)}"]
    table.append("|---" * (4 + len(shares)) + "|")
    for loss, task in dict.fromkeys((loss, task) for loss, task, _ in every):
        of = [every.get((loss, task, share)) for share in shares]
        cells = [f"{_shown(best(draws)[0])} ({best(draws)[1]})" if draws else "" for draws in of]
        first = next(draws for draws in of if draws)
        table.append(f"| {_words(task)} | {loss} | {first[0]['sites']} | {len(first)} | {' | '.join(cells)} |")
    return PAGE.format(groups="\n".join(groups), rivals="\n".join(rivals), table="\n".join(table))
