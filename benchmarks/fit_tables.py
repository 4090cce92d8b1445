"""Tables for `python -m benchmarks fit`: a site column of their own, or one table split by a feature, a label, at
random."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[2] / "shared" / "data"))
NATURAL = (
    "classes-language", "counties-radon", "countries-gasoline", "districts-contraception", "schools-math",
    "secondary-attainment", "states-output", "subjects-sleep",
)  # fmt: skip
HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")
MOST_ROWS, MOST_COLUMNS = 3000, 40
"""Of the LIBSVM sets: rows drawn, and the columns that vary most, so that repetitions take minutes."""


@dataclass(frozen=True)
class Task:
    """X (n, d), y (n,) numbers or classes 0, 1, ..., sites (n,); `natural` where the sites are the table's own,
    `held_out` where no mass or rate of the rule was chosen on the table: only candidates were, on other draws."""

    name: str
    X: np.ndarray
    y: np.ndarray
    sites: np.ndarray
    loss: str
    natural: bool = False
    held_out: bool = False


def natural(loss: str = "least-squares") -> Iterator[Task]:
    """The tables of data/sites; those with a target of 0 and 1 alone for the logistic loss."""
    for name in NATURAL:
        with open(DATA / "sites" / f"{name}.csv") as stream:
            header, *rows = csv.reader(stream)
        sites = np.unique([row[0] for row in rows], return_inverse=True)[1]
        values = np.array([row[1:] for row in rows], dtype=float)
        if loss == "least-squares" or set(values[:, -1]) == {0.0, 1.0}:
            assert (header[0], header[-1]) == ("site", "target")
            yield Task(name, values[:, :-1], values[:, -1], sites, loss, natural=True)


def hospitals() -> Task:
    """Heart disease, missing values by the mean of all."""
    rows, sites = [], []
    for at, name in enumerate(HOSPITALS):
        with open(DATA / "heart_disease" / f"processed.{name}.data") as stream:
            for cells in csv.reader(stream):
                if len(cells) == 14:
                    rows.append([np.nan if cell == "?" else float(cell) for cell in cells])
                    sites.append(at)
    values = np.array(rows)
    X = np.where(np.isnan(values[:, :13]), np.nanmean(values[:, :13], axis=0), values[:, :13])
    return Task("heart-hospitals", X, (values[:, 13] > 0).astype(int), np.array(sites), "logistic", natural=True)


def split(name: str, X: np.ndarray, y: np.ndarray, loss: str, count: int) -> Iterator[Task]:
    """By the column that varies most relative to its rank, by the target, and at random."""
    rng = np.random.default_rng(0)
    numbers = np.argsort(np.argsort(X[:, int(np.argmax([len(np.unique(column)) for column in X.T]))], kind="stable"))
    by_target = np.argsort(np.argsort(y + 1e-9 * rng.random(len(y))))
    for how, rank in (("feature", numbers), ("label", by_target), ("random", rng.permutation(len(y)))):
        if how == "label" and loss != "least-squares":
            # each site has mostly one class: three rows of four stay, the others are dealt at random
            rank = np.where(rng.random(len(y)) < 0.75, rank, rng.permutation(len(y)))
        yield Task(f"{name}-{how}", X, y, rank * count // len(y), loss)


def embedded(loss: str) -> Iterator[Task]:
    """Sets that scikit-learn carries."""
    from sklearn import datasets

    names = {"least-squares": ("diabetes", "breast_cancer", "wine", "digits"), "logistic": ("breast_cancer",),
             "multinomial": ("wine", "digits")}[loss]  # fmt: skip
    for name in names:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        X = X[:, X.std(0) > 0][:, : 10 if name == "breast_cancer" else None]
        kind = y.astype(float) if loss == "least-squares" else y.astype(int)
        yield from split(name, X, kind, loss, {"diabetes": 6, "breast_cancer": 8, "wine": 3, "digits": 10}[name])


def sparse() -> Iterator[Task]:
    """Mushrooms, a9a and w8a, a part of each."""
    from sklearn.datasets import load_svmlight_file

    for name in ("mushrooms", "a9a", "w8a"):
        X, y = load_svmlight_file(str(DATA / "libsvm" / name))
        chosen = np.sort(np.random.default_rng(1).permutation(len(y))[:MOST_ROWS])
        dense = X[chosen].toarray()
        columns = np.sort(np.argsort(-dense.var(0))[:MOST_COLUMNS])
        yield from split(name, dense[:, columns], (y[chosen] == y.max()).astype(int), "logistic", 10)


def halves(task: Task, share: float, seed: int) -> np.ndarray:
    """Which rows are for training: this share of every site's rows, at least one, at most all but one."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(task.y), bool)
    for site in range(task.sites.max() + 1):
        rows = rng.permutation(np.flatnonzero(task.sites == site))
        train[rows[: max(1, min(len(rows) - 1, round(share * len(rows))))]] = True
    return train


def held_out() -> Iterator[Task]:
    """Tables that no mass, grid or rate of the rule was chosen on: scikit-learn's generators and iris, and where
    statsmodels is there, firms' investments, marriages by occupation, travel by mode and voters by education."""
    from sklearn import datasets

    X, species = datasets.load_iris(return_X_y=True)
    made = [Task("iris", X[:, 1:], X[:, 0], species, "least-squares", natural=True)]
    for name, drawn in (
        ("friedman1", datasets.make_friedman1(200, noise=1.0, random_state=0)),
        ("friedman2", datasets.make_friedman2(200, noise=100.0, random_state=0)),
        ("friedman3", datasets.make_friedman3(200, noise=0.1, random_state=0)),
        ("low-rank", datasets.make_regression(240, 30, n_informative=8, effective_rank=5, noise=1.0, random_state=0)),
        ("sparse", datasets.make_sparse_uncorrelated(300, 12, random_state=0)),
        ("swiss-roll", datasets.make_swiss_roll(300, noise=0.5, random_state=0)),
        ("s-curve", datasets.make_s_curve(300, noise=0.1, random_state=0)),
    ):
        made += split(name, np.asarray(drawn[0]), np.asarray(drawn[1]), "least-squares", 6)
    if find_spec("statsmodels"):
        from statsmodels import datasets as others

        for name, target, site in (
            ("grunfeld", "invest", "firm"), ("fair", "rate_marriage", "occupation_husb"), ("modechoice", "gc", "mode"),
            ("anes96", "ClinLR", "educ"),
        ):  # fmt: skip
            data = getattr(others, name).load_pandas().data.iloc[:MOST_ROWS]
            sites = np.unique(data[site].astype(str), return_inverse=True)[1]
            X = data.drop(columns=[target, site]).to_numpy(float)
            made.append(Task(name, X, data[target].to_numpy(float), sites, "least-squares", True))
    return (replace(task, held_out=True) for task in made)
