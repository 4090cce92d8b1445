"""Losses of `suffice.fit` on rows that nobody has seen, beside what one would do otherwise with the same rows.

A ratio is the mean loss over repetitions divided by that of the rival that turns out best on the very test rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import suffice

from .fit_class_rivals import LOGISTIC
from .fit_drawn import drawn
from .fit_rivals import LEAST_SQUARES, NO_MIXED_MODEL, Rows, boosted
from .fit_tables import DATA, Task, embedded, halves, held_out, hospitals, natural, sparse

SHARES = (0.2, 0.5)
BOOSTED = "gradient boosting"
"""No linear model: its loss is given, but ratios are to linear rivals."""
REPETITIONS = {"least-squares": 20, "logistic": 5, "multinomial": 2}


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


def once(task: Task, share: float, seed: int) -> dict[str, float]:
    """Mean losses on the rows that are not for training, of ours and of every rival."""
    train = halves(task, share, seed)
    X, y = task.X, task.y.astype(float)
    scale = X[train].std(0)
    X = (X - X[train].mean(0)) / np.where(scale > 1e-9, scale, 1.0)
    if task.loss == "least-squares":
        y = (y - y[train].mean()) / (y[train].std() or 1.0)
    design = np.column_stack((np.ones(len(X)), X))
    rows: Rows = [
        (design[train & (task.sites == site)], y[train & (task.sites == site)]) for site in range(task.sites.max() + 1)
    ]
    losses = {"ours": _ours(task, X, y, train)}
    if task.loss == "least-squares" and task.natural:
        losses[BOOSTED] = float(((boosted(X, y, task.sites, train) - y[~train]) ** 2).mean())
    if task.loss == "multinomial":
        return losses | _scikit_learn(task, X, train)
    rivals: Mapping[str, Callable[[Rows], np.ndarray | None]] = LOGISTIC if task.loss == "logistic" else LEAST_SQUARES
    for name, make in rivals.items():
        models = make(rows)
        if models is None:
            losses[name] = np.nan
            continue
        scores = (design * models[task.sites]).sum(1)[~train]
        if task.loss == "least-squares":
            losses[name] = float(((y[~train] - scores) ** 2).mean())
        else:
            losses[name] = float(np.logaddexp(0, np.where(y[~train] > 0, -scores, scores)).mean())
    return losses


def _ours(task: Task, X: np.ndarray, y: np.ndarray, train: np.ndarray) -> float:
    def table(chosen: np.ndarray) -> dict[str, Any]:
        names = np.array([f"site {site}" for site in task.sites[chosen]], dtype=object)
        return {"client": names, **{f"x{j}": column for j, column in enumerate(X[chosen].T)}, "target": y[chosen]}

    fit = suffice.fit(table(train), loss=task.loss)
    if task.loss == "least-squares":
        return float(((fit.predict(table(~train)) - y[~train]) ** 2).mean())
    at = np.searchsorted(np.array(fit.classes, dtype=float), y[~train])
    return float(-np.log(np.maximum(fit.probabilities(table(~train))[np.arange(len(at)), at], 1e-12)).mean())


def _scikit_learn(task: Task, X: np.ndarray, train: np.ndarray) -> dict[str, float]:
    """Multinomial regression alone and pooled, each with its penalty by folds of scikit-learn."""
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

    def loss(probabilities: np.ndarray) -> float:
        return float(-np.log(probabilities[~train, task.y[~train]]).mean())

    own = np.empty((len(X), classes))
    for site in range(task.sites.max() + 1):
        own[task.sites == site] = fitted(train & (task.sites == site))[task.sites == site]
    return {"alone": loss(own), "pooled": loss(fitted(train))}


def table(quick: bool, repetitions: int | None = None) -> list[dict[str, Any]]:
    """One row per task and share of rows for training, as soon as it is there to standard error as well, and the
    geometric means. `repetitions` instead of `REPETITIONS`, or of one where `quick`."""
    rows = []
    if NO_MIXED_MODEL:
        print(f"left out, statsmodels' MixedLM: {NO_MIXED_MODEL}", file=sys.stderr)
    for task in tasks(quick):
        count = repetitions or (1 if quick else REPETITIONS[task.loss])
        for share in SHARES:
            began = time.process_time()
            drawn = [once(task, share, seed) for seed in range(count)]
            mean = {name: float(np.mean([losses[name] for losses in drawn])) for name in drawn[0]}
            mean = {name: loss for name, loss in mean.items() if np.isfinite(loss)}  # a rival that always had a model
            best = min((loss, name) for name, loss in mean.items() if name not in ("ours", BOOSTED))
            rows.append(
                {
                    "name": f"fit {task.loss} {task.name} {share:.0%} ({task.sites.max() + 1} sites; best {best[1]})",
                    "value": mean["ours"] / best[0],
                    "repetitions": count,
                    "losses": mean,
                    "natural": task.natural,
                    "held_out": task.held_out,
                    "loss": task.loss,
                    "seconds": time.process_time() - began,
                }
            )
            print(
                f"{rows[-1]['name']:90s} {rows[-1]['value']:.3f} {rows[-1]['seconds']:6.1f} s",
                file=sys.stderr,
                flush=True,
            )
    return rows + _means(rows)


def _means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    listed = [row for row in rows if not row["held_out"]]
    groups = {"natural sites": [row for row in listed if row["natural"]], "all": listed}
    for loss in dict.fromkeys(row["loss"] for row in listed):
        groups[loss] = [row for row in listed if row["loss"] == loss]
    groups["tables not used in any choice"] = [row for row in rows if row["held_out"]]
    answer = []
    for name, members in groups.items():
        values = [row["value"] for row in members]
        if values:
            answer.append({"name": f"fit, geometric mean: {name}", "value": float(np.exp(np.mean(np.log(values))))})
            answer.append({"name": f"fit, worst: {name}", "value": max(values)})
    return answer
