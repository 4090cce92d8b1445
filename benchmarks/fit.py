"""Losses of `suffice.fit` on rows that nobody has seen, beside what one would do otherwise with the same rows.

    python -m benchmarks fit [--folder FOLDER] [--page FILE] [--repetitions DRAWS] [--quick]

Each line (a table and a share of rows for training) and draw is one file of FOLDER, so that a run that was stopped goes
on. All lines have their first draw before any has its second.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import suffice
from suffice.support.files import write_whole

from .fit_class_rivals import LOGISTIC
from .fit_drawn import drawn
from .fit_report import BOOSTED, page, summary
from .fit_rivals import LEAST_SQUARES, NO_MIXED_MODEL, Rows, boosted
from .fit_tables import DATA, Task, embedded, halves, held_out, hospitals, natural, sparse

SHARES = (0.2, 0.5)
DRAWS, FIRST_DRAW = 20, 100
"""Draws of smaller numbers were looked at when the rule was made."""
DEAR, EVERY = ("multinomial", "digits"), 10
"""The loss and the data of the lines that have every tenth draw only: 45 s of CPU each, all others together 115 s."""
RIVALS: Mapping[str, Mapping[str, Callable[[Rows], np.ndarray | None]]]
RIVALS = {"least-squares": LEAST_SQUARES, "logistic": LOGISTIC}


def tasks(quick: bool) -> Iterator[Task]:
    """The small tables of all losses first; the others take hours."""
    for loss in ("least-squares", "logistic", "multinomial"):
        if (DATA / "sites").is_dir() and loss != "multinomial":
            yield from natural(loss)
        if (DATA / "heart_disease").is_dir() and loss == "logistic":
            yield hospitals()
        yield from (task for task in embedded(loss) if "digits" not in task.name)
    if quick:
        return
    yield from drawn()
    yield from held_out()
    if (DATA / "libsvm").is_dir():
        yield from sparse()
    for loss in ("least-squares", "multinomial"):
        yield from (task for task in embedded(loss) if "digits" in task.name)


def once(task: Task, share: float, draw: int) -> dict[str, dict[str, float | None]]:
    """Of ours and every rival, the mean loss on the rows that are not for training (None where it makes no model), and
    the CPU seconds."""
    train = halves(task, share, draw)
    X, y = task.X, task.y.astype(float)
    scale = X[train].std(0)
    X = (X - X[train].mean(0)) / np.where(scale > 1e-9, scale, 1.0)
    if task.loss == "least-squares":
        y = (y - y[train].mean()) / (y[train].std() or 1.0)
    design = np.column_stack((np.ones(len(X)), X))
    rows: Rows = [
        (design[train & (task.sites == site)], y[train & (task.sites == site)]) for site in range(task.sites.max() + 1)
    ]

    def linear(make: Callable[[Rows], np.ndarray | None]) -> float | None:
        models = make(rows)
        if models is None:
            return None
        scores = (design * models[task.sites]).sum(1)[~train]
        if task.loss == "least-squares":
            return float(((y[~train] - scores) ** 2).mean())
        return float(np.logaddexp(0, np.where(y[~train] > 0, -scores, scores)).mean())

    calls: dict[str, Callable[[], float | None]] = {"ours": lambda: _ours(task, X, y, train)}
    if task.loss == "multinomial":
        calls |= {name: partial(_scikit_learn, task, X, train, name == "alone") for name in ("alone", "pooled")}
    else:
        calls |= {name: partial(linear, make) for name, make in RIVALS[task.loss].items()}
    if task.loss == "least-squares":
        calls[BOOSTED] = lambda: float(((boosted(X, y, task.sites, train) - y[~train]) ** 2).mean())
    losses, seconds = {}, {}
    for name, call in calls.items():
        began = time.process_time()
        losses[name] = call()
        seconds[name] = time.process_time() - began
    return {"losses": losses, "seconds": seconds}


def _ours(task: Task, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> float:
    def table(chosen: np.ndarray) -> dict[str, Any]:
        names = np.array([f"site {site}" for site in task.sites[chosen]], dtype=object)
        return {"client": names, **{f"x{j}": column for j, column in enumerate(X[chosen].T)}, "target": y[chosen]}

    fit = suffice.fit(table(train), loss=task.loss)
    if task.loss == "least-squares":
        return float(((fit.predict(table(~train)) - y[~train]) ** 2).mean())
    at = np.searchsorted(np.array(fit.classes, dtype=float), y[~train])
    return float(-np.log(np.maximum(fit.probabilities(table(~train))[np.arange(len(at)), at], 1e-12)).mean())


def _scikit_learn(task: Task, X: np.ndarray, train: np.ndarray, alone: bool) -> float:
    """Loss of multinomial regression alone or pooled, with its penalty by folds of scikit-learn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    grid, classes = {"C": [0.01, 0.1, 1.0, 10.0]}, int(task.y.max()) + 1

    def fitted(rows: np.ndarray) -> np.ndarray:
        answer = np.full((len(X), classes), 1e-6)
        seen, counts = np.unique(task.y[rows], return_counts=True)
        if len(seen) == 1:
            answer[:, seen[0]] = 1
        else:
            folds = int(min(5, counts.min()))
            model = LogisticRegression(max_iter=500)
            model = GridSearchCV(model, grid, cv=folds, scoring="neg_log_loss") if folds > 1 else model
            answer[:, seen] = model.fit(X[rows], task.y[rows]).predict_proba(X)
        return answer / answer.sum(1, keepdims=True)

    if not alone:
        probabilities = fitted(train)
    else:
        probabilities = np.empty((len(X), classes))
        for site in range(task.sites.max() + 1):
            probabilities[task.sites == site] = fitted(train & (task.sites == site))[task.sites == site]
    return float(-np.log(probabilities[~train, task.y[~train]]).mean())


def run(folder: Path, draws: int, quick: bool) -> None:
    """Every line and draw that `folder` does not have yet, draw by draw."""
    folder.mkdir(parents=True, exist_ok=True)
    if NO_MIXED_MODEL:
        print(f"left out, statsmodels' MixedLM: {NO_MIXED_MODEL}", file=sys.stderr)
    lines = [(task, share) for task in tasks(quick) for share in SHARES]
    for draw in range(FIRST_DRAW, FIRST_DRAW + draws):
        for task, share in lines:
            rare = task.loss == DEAR[0] and task.name.startswith(DEAR[1])
            path = folder / f"{draw} {task.loss} {task.name} {share:.0%}.json"
            if path.exists() or (rare and (draw - FIRST_DRAW) % EVERY):
                continue
            line = {"loss": task.loss, "task": task.name, "share": share, "sites": int(task.sites.max()) + 1}
            line |= {"natural": task.natural, "held_out": task.held_out, "draw": draw}
            write_whole(path, json.dumps(line | once(task, share, draw)).encode())


def table(
    quick: bool, draws: int | None = None, folder: Path | None = None, out: Path | None = None
) -> list[dict[str, Any]]:
    """Runs what `folder` lacks, writes the page of all lines to `out`, and gives the rows of a summary."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = folder or Path(temporary)
        run(folder, draws or (1 if quick else DRAWS), quick)
        lines = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    if out is not None:
        write_whole(out, page(lines).encode())
    return summary(lines)
